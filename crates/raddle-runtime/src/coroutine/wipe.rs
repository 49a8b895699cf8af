//! Calls that leave nothing behind on a task's stack.
//!
//! Whether a loop comes round is [told](super::Fiber::digest) by its task's stack. In a build without optimisation, frames have slots that
//! are not written each time, and these hold what calls before left there. That must not be anything that depends on what
//! other OS threads do: rounds that are the same would look different in one execution and not in another.
//!
//! There is one such thing that Raddle itself comes across: [`std::thread::panicking`], and with it the locks of the standard library,
//! first look at how many panics there are in the whole process.

use std::hint::black_box;

/// How much deeper than here such calls are made, so that they do not reach what [`wipe`] may leave out.
const MARGIN_WORDS: usize = 16;

/// More than such calls need.
const WIPED_WORDS: usize = 128;

/// Makes the call; what it leaves behind on the stack is overwritten. With optimisation nothing is, as nothing is left.
#[inline(always)]
pub(crate) fn wiped<R>(call: impl FnOnce() -> R) -> R {
    if cfg!(debug_assertions) {
        let result = further_down(call);
        wipe();
        result
    } else {
        call()
    }
}

/// Whether the OS thread unwinds because of a panic, as [`std::thread::panicking`].
#[inline(always)]
pub(crate) fn panicking() -> bool {
    wiped(std::thread::panicking)
}

#[inline(never)]
fn further_down<R>(call: impl FnOnce() -> R) -> R {
    let margin = [0_u64; MARGIN_WORDS];
    black_box(&margin);
    call()
}

#[inline(never)]
fn wipe() {
    let words = [0_u64; WIPED_WORDS];
    black_box(&words);
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::ptr;
    use std::rc::Rc;
    use std::sync::{Mutex, mpsc};
    use std::{panic, thread};

    use super::*;
    use crate::coroutine::{Fiber, Lane};

    const MARK: u64 = 0x7261_6464_6c65_2121;

    #[inline(never)]
    fn leave_marks<const WORDS: usize>() {
        let marks = [MARK; WORDS];
        black_box(&marks);
    }

    /// What lies below the stack of a fiber that has made the call, the deepest first.
    fn left_by(call: fn()) -> Vec<u64> {
        let lane = Rc::new(Lane::default());
        let inner = lane.clone();
        let mut fiber = Fiber::new(64 * 1024).unwrap();
        fiber.assign(Box::new(move || {
            call();
            inner.suspend();
        }));
        fiber.resume(&lane);
        let below: Range<usize> = fiber.berth.limit()..fiber.berth.paused_at.get();
        // SAFETY: the range lies within the fiber's own stack, which is mapped, and the fiber is paused.
        let words = below.step_by(8).map(|at| unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u64>(at)) });
        let words = words.collect();
        fiber.resume(&lane);
        words
    }

    #[test]
    #[cfg(debug_assertions)]
    fn nothing_is_left() {
        let marks = |call| left_by(call).iter().filter(|word| **word == MARK).count();
        assert!(marks(leave_marks::<64>) > 0, "they can be seen");
        assert_eq!(marks(|| wiped(leave_marks::<64>)), 0);
    }

    /// How many words below its caller a call writes to; at least as many as it takes to pause.
    fn depth(call: fn()) -> usize {
        let words = left_by(call);
        words.len() - words.iter().take_while(|word| **word == 0).count()
    }

    #[test]
    #[cfg(debug_assertions)]
    fn it_is_enough_for_what_is_called() {
        let (panicked, panics) = mpsc::channel();
        let (go_on, waits) = mpsc::channel::<()>();
        struct Waits(mpsc::Sender<()>, mpsc::Receiver<()>);
        impl Drop for Waits {
            fn drop(&mut self) {
                let _ = self.0.send(());
                let _ = self.1.recv();
            }
        }
        let other = thread::spawn(move || {
            let _waits = Waits(panicked, waits);
            panic::resume_unwind(Box::new(()));
        });
        panics.recv().unwrap();
        let calls: [fn(); 2] =
            [|| assert!(!thread::panicking()), || drop(Mutex::new(0).try_lock().map(|mut value| *value += 1))];
        for call in calls {
            let words = depth(call);
            assert!(MARGIN_WORDS + words <= WIPED_WORDS, "{words}");
        }
        drop(go_on);
        assert!(other.join().is_err());
    }
}
