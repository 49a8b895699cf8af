//! Cutting a fiber off where the process would end: at a stack overflow, and at an abort because a destructor panicked while a panic was
//! unwinding the task. Both become failures of that task.
//!
//! The handler of a memory fault checks whether the address is in the guard pages below the stack of the fiber that runs on this OS thread.
//! If the fault comes from the program's own code, the handler lets the fiber return as if its function had ended. Nothing on its stack is
//! dropped. If the fault comes from a shared library, which may hold a lock of the allocator, the handler makes that one page usable, and
//! the library goes on. Sooner or later the program's own code needs the next page. The handler of an abort checks whether the panic hook has
//! announced it, and then cuts the fiber off as well. Any other signal ends the process. So the handler [reports](crate::crash) what led to
//! it and then calls the handler that was installed before.
//!
//! On other systems than Linux with x86-64 or AArch64 the process ends as it would without Raddle.

use std::io;

/// The size of a page, which stack sizes are rounded to.
pub(super) const PAGE_BYTES: usize = 4096;

/// The size of the reserve below a stack. Shared libraries may use it when the stack overflows inside them.
pub(super) const RESERVE_BYTES: usize = 16 * PAGE_BYTES;

/// Makes the reserve inaccessible, for a stack whose lowest usable address is `limit`.
pub(super) fn close_reserve(limit: usize) -> io::Result<()> {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    linux::protect(limit - RESERVE_BYTES, RESERVE_BYTES, libc::PROT_NONE)?;
    let _ = limit;
    Ok(())
}

/// Installs the handlers, once per process.
pub(crate) fn install() {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    linux::install();
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux {
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::OnceLock;

    use crate::coroutine::current;
    use crate::crash::{self, Reason};

    /// The signals by which a program crashes.
    const SIGNALS: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP];

    struct Installed {
        /// The earlier handler of each signal.
        before: [libc::sigaction; SIGNALS.len()],
        /// The address range of the program's own code.
        text: (usize, usize),
    }

    static INSTALLED: OnceLock<Installed> = OnceLock::new();

    pub(super) fn install() {
        INSTALLED.get_or_init(|| Installed { before: SIGNALS.map(replace), text: program_text() });
    }

    fn replace(signal: c_int) -> libc::sigaction {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: plain calls into libc with valid pointers; an all-zero `sigaction` is a valid one.
        unsafe {
            let mut ours = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            ours.sa_sigaction = handle as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(signal, &raw const ours, before.as_mut_ptr());
            before.assume_init()
        }
    }

    /// The executable mapping that contains this function.
    fn program_text() -> (usize, usize) {
        let here = program_text as *const () as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let range = |line: &str| {
            let (from, rest) = line.split_once('-')?;
            let (to, _) = rest.split_once(' ')?;
            Some((usize::from_str_radix(from, 16).ok()?, usize::from_str_radix(to, 16).ok()?))
        };
        maps.lines().filter_map(range).find(|&(from, to)| (from..to).contains(&here)).unwrap_or((0, usize::MAX))
    }

    extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: the kernel calls this with a valid `siginfo_t` and `ucontext_t`. Only memory of the running execution is
        // read, by plain loads; nothing is allocated or locked.
        unsafe {
            let context = &mut *context.cast::<libc::ucontext_t>();
            let fault = if was_sent(&*info) { 0 } else { (*info).si_addr().addr() };
            let cuts_off = match signal {
                libc::SIGABRT if announced() => true,
                libc::SIGSEGV | libc::SIGBUS if !in_guard(fault) => false,
                libc::SIGSEGV | libc::SIGBUS if in_program_text(context) => true,
                libc::SIGSEGV | libc::SIGBUS if open_page(fault) => return,
                _ => false,
            };
            if cuts_off && cut_off(context) {
                return;
            }
            let overflow = matches!(signal, libc::SIGSEGV | libc::SIGBUS) && is_below_stack(fault, context);
            crash::tell(match signal {
                _ if overflow => Reason::StackOverflow,
                _ => Reason::Signal(signal, (!was_sent(&*info)).then_some(fault)),
            });
            pass_on(signal, info, ptr::from_mut(context).cast());
        }
    }

    /// Whether the signal was sent by `raise` or `kill`. Otherwise an instruction has caused it.
    fn was_sent(info: &libc::siginfo_t) -> bool {
        info.si_code <= 0
    }

    /// Whether `fault` is just below the stack in use: the stack has overflowed.
    fn is_below_stack(fault: usize, context: &libc::ucontext_t) -> bool {
        let (_, stack) = counters(context);
        (stack.saturating_sub(MOST_PROBED_BYTES)..stack.saturating_add(super::PAGE_BYTES)).contains(&fault)
    }

    /// How far below the stack pointer a function may access memory before it moves the pointer.
    const MOST_PROBED_BYTES: usize = 16 * super::PAGE_BYTES;

    /// Whether the panic hook has announced that the running task is about to abort the process.
    fn announced() -> bool {
        current::with(|execution| execution.aborting.get()).unwrap_or(false)
    }

    /// Whether `fault` is in the guard pages of the running fiber. The compiler probes large frames page by page, so no frame reaches past
    /// the guard pages.
    fn in_guard(fault: usize) -> bool {
        let trap = current::with(|execution| execution.fiber.trap()).flatten();
        trap.is_some_and(|(_, limit)| (limit - super::RESERVE_BYTES - super::PAGE_BYTES..limit).contains(&fault))
    }

    /// Makes the page of the reserve usable that contains `fault`. Returns whether that worked.
    fn open_page(fault: usize) -> bool {
        let trap = current::with(|execution| execution.fiber.trap()).flatten();
        let in_reserve = trap.is_some_and(|(_, limit)| fault >= limit - super::RESERVE_BYTES);
        let page = fault & !(super::PAGE_BYTES - 1);
        in_reserve && protect(page, super::PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE).is_ok()
    }

    pub(super) fn protect(from: usize, bytes: usize, how: c_int) -> std::io::Result<()> {
        // SAFETY: called only with pages of a fiber's own stack, either before the fiber uses them, or to make them usable.
        match unsafe { libc::mprotect(ptr::with_exposed_provenance_mut(from), bytes, how) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// Whether the fault came from the program's own code.
    fn in_program_text(context: &libc::ucontext_t) -> bool {
        let (pc, _) = counters(context);
        INSTALLED.get().is_some_and(|installed| (installed.text.0..installed.text.1).contains(&pc))
    }

    /// Lets the running fiber return. Returns false if no fiber runs.
    ///
    /// # Safety
    ///
    /// `context` must be that of a signal that was raised by what this OS thread does.
    unsafe fn cut_off(context: &mut libc::ucontext_t) -> bool {
        let Some((trap, _)) = current::with(|execution| execution.fiber.trap()).flatten() else {
            return false;
        };
        if !trap.stack_ptr_in_bounds(counters(context).1) {
            return false;
        }
        // SAFETY: the stack pointer is in the fiber's stack, and the registers are set as `setup_trap_handler` returns them. The fiber was
        // either in the user's own code, or in an operation of Raddle that had borrowed a `RefCell` of the execution. In the second case the
        // runtime finds it borrowed and stops using the worker.
        let registers = unsafe { trap.setup_trap_handler(|| ()) };
        set_registers(context, &registers);
        true
    }

    #[cfg(target_arch = "x86_64")]
    fn counters(context: &libc::ucontext_t) -> (usize, usize) {
        let registers = &context.uc_mcontext.gregs;
        (registers[libc::REG_RIP as usize] as usize, registers[libc::REG_RSP as usize] as usize)
    }

    #[cfg(target_arch = "x86_64")]
    fn set_registers(context: &mut libc::ucontext_t, to: &corosensei::trap::TrapHandlerRegs) {
        let registers = &mut context.uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = to.rip as i64;
        registers[libc::REG_RSP as usize] = to.rsp as i64;
        registers[libc::REG_RBP as usize] = to.rbp as i64;
        registers[libc::REG_RDI as usize] = to.rdi as i64;
        registers[libc::REG_RSI as usize] = to.rsi as i64;
    }

    #[cfg(target_arch = "aarch64")]
    fn counters(context: &libc::ucontext_t) -> (usize, usize) {
        (context.uc_mcontext.pc as usize, context.uc_mcontext.sp as usize)
    }

    #[cfg(target_arch = "aarch64")]
    fn set_registers(context: &mut libc::ucontext_t, to: &corosensei::trap::TrapHandlerRegs) {
        let machine = &mut context.uc_mcontext;
        machine.pc = to.pc;
        machine.sp = to.sp;
        machine.regs[0] = to.x0;
        machine.regs[1] = to.x1;
        machine.regs[29] = to.x29;
        machine.regs[30] = to.lr;
    }

    /// Calls the handler that was installed before ours, or lets the process end.
    ///
    /// # Safety
    ///
    /// The arguments must be those of the signal being handled.
    unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        crate::output::show_from_here_on();
        let which = SIGNALS.iter().position(|known| *known == signal);
        let before = INSTALLED.get().zip(which).map(|(installed, at)| &installed.before[at]);
        match before {
            Some(action) if action.sa_sigaction > libc::SIG_IGN => {
                // SAFETY: the action was installed for this signal, so its handler takes these arguments.
                unsafe {
                    if action.sa_flags & libc::SA_SIGINFO != 0 {
                        let call: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                            std::mem::transmute(action.sa_sigaction);
                        call(signal, info, context);
                    } else {
                        let call: extern "C" fn(c_int) = std::mem::transmute(action.sa_sigaction);
                        call(signal);
                    }
                }
            }
            // SAFETY: a plain call into libc.
            _ => unsafe { _ = libc::signal(signal, libc::SIG_DFL) },
        }
        // A faulting instruction runs again and ends the process, unless the handler has mended the cause. A signal that was sent comes
        // only once, so it is raised again if the action is the default one now. The handler of `std` makes it so.
        // SAFETY: `info` is that of the signal being handled, and `raise` is a plain call into libc.
        unsafe {
            if was_sent(&*info) && has_default_action(signal) {
                libc::raise(signal);
            }
        }
    }

    /// A function of its own, so that the handlers that run before it have more of the small stack that signals are handled on.
    #[inline(never)]
    fn has_default_action(signal: c_int) -> bool {
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a plain call into libc with a valid pointer; an all-zero `sigaction` is a valid one.
        unsafe {
            libc::sigaction(signal, ptr::null(), now.as_mut_ptr());
            now.assume_init().sa_sigaction == libc::SIG_DFL
        }
    }
}
