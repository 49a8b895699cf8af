//! Interrupts: after Ctrl-C (SIGINT) or SIGTERM, a search stops after the current execution, saves its rest if it may be resumed, and
//! prints the verdict so far. Then the process ends by the signal, as it would have without Raddle.
//!
//! Signals belong to the process, so this state is global. If no search runs, signals have their usual effect; the second signal always
//! has. Several searches may run: the last one that has printed its verdict ends the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Listens for signals until it is dropped. If a signal came, dropping it ends the process.
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    #[cfg(unix)]
    listener: unix::Listener,
}

impl Watch {
    /// `None` on systems without such signals.
    #[cfg(unix)]
    pub(crate) fn new() -> Option<Self> {
        let stop = Arc::default();
        Some(Self { listener: unix::Listener::new(&stop)?, stop })
    }

    #[cfg(not(unix))]
    pub(crate) fn new() -> Option<Self> {
        None
    }

    /// Becomes true when a signal comes.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Whether a signal came.
    #[cfg(unix)]
    pub(crate) fn told_to_end(&self) -> bool {
        self.listener.told_to_end().is_some()
    }

    #[cfg(not(unix))]
    pub(crate) fn told_to_end(&self) -> bool {
        false
    }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::{Arc, Mutex, OnceLock, PoisonError};
    use std::thread;

    use raddle_runtime::crash::told_to_end;
    use signal_hook::SigId;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

    /// The state of the process.
    struct Process {
        nobody_listens: Arc<AtomicBool>,
        /// By signal: it came while a search was running.
        came: [Arc<AtomicBool>; 2],
        listeners: Mutex<usize>,
    }

    impl Process {
        /// `None` if the handlers could not be installed.
        fn get() -> Option<&'static Self> {
            static PROCESS: OnceLock<Option<Process>> = OnceLock::new();
            PROCESS.get_or_init(|| Self::new().ok()).as_ref()
        }

        fn new() -> io::Result<Self> {
            let nobody_listens = Arc::new(AtomicBool::new(true));
            let came = [Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false))];
            for signal in SIGNALS {
                // In this order, so that the first signal does not count as the second.
                flag::register_conditional_default(signal, nobody_listens.clone())?;
                for before in &came {
                    flag::register_conditional_default(signal, before.clone())?;
                }
            }
            for (signal, came) in SIGNALS.into_iter().zip(&came) {
                flag::register(signal, came.clone())?;
                flag::register(signal, told_to_end().clone())?;
            }
            Ok(Self { nobody_listens, came, listeners: Mutex::new(0) })
        }

        /// The signal that came.
        fn came(&self) -> Option<i32> {
            SIGNALS.into_iter().zip(&self.came).find(|(_, came)| came.load(SeqCst)).map(|(signal, _)| signal)
        }
    }

    pub(super) struct Listener {
        process: &'static Process,
        hooks: Vec<SigId>,
    }

    impl Listener {
        pub fn new(stop: &Arc<AtomicBool>) -> Option<Self> {
            let process = Process::get()?;
            let mut listeners = process.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            let hooks = SIGNALS.iter().filter_map(|&signal| flag::register(signal, stop.clone()).ok()).collect();
            *listeners += 1;
            process.nobody_listens.store(false, SeqCst);
            // A search that starts while others save their files must not run any more.
            stop.fetch_or(process.came().is_some(), SeqCst);
            Some(Self { process, hooks })
        }

        pub fn told_to_end(&self) -> Option<i32> {
            self.process.came()
        }
    }

    impl Drop for Listener {
        fn drop(&mut self) {
            for &hook in &self.hooks {
                low_level::unregister(hook);
            }
            let mut listeners = self.process.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            *listeners -= 1;
            let last = *listeners == 0;
            self.process.nobody_listens.store(last, SeqCst);
            drop(listeners);
            if let Some(signal) = self.told_to_end() {
                if last {
                    let _ = low_level::emulate_default_handler(signal);
                }
                // The last search ends the process. Until then, this thread waits.
                loop {
                    thread::park();
                }
            }
        }
    }
}
