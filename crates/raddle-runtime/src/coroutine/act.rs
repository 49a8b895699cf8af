//! What a paused task left to be done for it when it is chosen.
//!
//! The effect of an operation is a closure on the stack of the task that asked for it. It is called from the outside, while the
//! task is paused, so the tables of the execution are borrowed once.

use std::ptr::NonNull;

use crate::execution::Moment;

/// The effect of an operation, to be called once while the task that asked for it is paused.
#[derive(Clone, Copy)]
pub(crate) struct Act(NonNull<dyn FnMut(&mut Moment<'_>)>);

impl Act {
    /// Lends the effect out for as long as the calling task is paused.
    ///
    /// The caller must see to it that `act` is neither moved nor dropped before the task has gone on, and that
    /// nobody calls this afterwards. The callers, all in `execution.rs`, lend it from the frame in which they then pause.
    #[inline(always)]
    pub(crate) fn lend(act: &mut (dyn FnMut(&mut Moment<'_>) + '_)) -> Self {
        let act: *mut (dyn FnMut(&mut Moment<'_>) + '_) = act;
        // SAFETY: only the lifetime changes. The closure lies in a frame of the task that is about to pause; it is called
        // only through what that task asks for, which is taken away when the task goes on. A task that is abandoned keeps
        // its stack for ever.
        let act = unsafe {
            std::mem::transmute::<*mut (dyn FnMut(&mut Moment<'_>) + '_), *mut (dyn FnMut(&mut Moment<'_>) + 'static)>(
                act,
            )
        };
        Self(NonNull::new(act).expect("made from a reference"))
    }

    /// Lets the operation take effect.
    #[inline(always)]
    pub(crate) fn call(mut self, moment: &mut Moment<'_>) {
        // SAFETY: the task that lent it is paused in the frame that owns the closure, see `lend`.
        unsafe { (self.0.as_mut())(moment) }
    }
}
