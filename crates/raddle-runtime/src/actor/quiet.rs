//! Waiting for a system of actors: until nothing is left to do, or until a condition holds.

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role};

use crate::actor::system::{ExecutionIds, System, lock};
use crate::coroutine::current;
use crate::execution::{Ask, Progress, here};

static QUIET: Operation = Operation { verb: "wait until all is quiet", class: Class::Wait };
static UNTIL: Operation = Operation { verb: "wait for a condition", class: Class::Wait };

impl System {
    /// Waits until nothing is left to do: no message waits, no handler runs, no timer is set. Then [`at_quiet`](crate::actor::Monitor::at_quiet)
    /// of each monitor checks whether everything has happened that had to.
    ///
    /// # Panics
    ///
    /// Outside an execution, if a monitor reports an error. Inside, if the system belongs to an execution that is over.
    #[track_caller]
    pub fn run_until_quiet(&self) {
        let site = here();
        match self.inner.inside {
            Some(inside) => {
                inside.demand_here();
                current::with(|execution| {
                    execution.state.borrow_mut().actors.somebody_waits_for_quiet = true;
                    let never: fn(u64, u64) -> bool = |_, _| false;
                    let ask = Ask::new(&QUIET, inside.activity, Effect::Change, site);
                    let ask =
                        Ask { role: Role::Takes, ready: Some(never), quiet: true, ordered: Ordered::ACQUIRE, ..ask };
                    execution.step(ask, |moment| {
                        moment.progress(Progress::Changed);
                        if moment.state.tells() {
                            moment.state.tell_instead("all is quiet".to_owned());
                        }
                    });
                });
            }
            None => self.inner.busy.wait_until_quiet(),
        }
        let late = lock(&self.inner.watchers)
            .iter()
            .find_map(|watcher| Some((watcher.monitor.name(), watcher.monitor.at_quiet().err()?)));
        if let Some((monitor, message)) = late {
            self.violated(monitor, message);
        }
    }

    /// Waits until all is quiet, then stops all actors. Outside an execution, their threads have ended when this returns, except the thread of
    /// an actor that calls it. Inside, messages that are sent later are dead letters.
    ///
    /// # Panics
    ///
    /// As [`run_until_quiet`](Self::run_until_quiet).
    #[track_caller]
    pub fn shutdown(&self) {
        // If several actors call this, one of them waits for the threads of the others.
        let _rest = self.inner.busy.rest();
        self.run_until_quiet();
        let Some(inside) = self.inner.inside else { return self.inner.threads.stop() };
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let system = state.actors.mailboxes.iter_mut().filter(|mailbox| mailbox.system == inside.system);
            system.for_each(|mailbox| mailbox.stopped = true);
        });
    }

    /// Waits until `condition` holds or all is quiet, and returns whether it holds. The condition is checked after each message.
    ///
    /// A reduced search runs independent steps in one order only, so it may miss a state in which the condition holds.
    ///
    /// # Panics
    ///
    /// If the system belongs to an execution that is over.
    #[track_caller]
    pub fn run_until(&self, mut condition: impl FnMut() -> bool) -> bool {
        let site = here();
        let Some(inside) = self.inner.inside else { return self.inner.busy.wait_until(condition) };
        inside.demand_here();
        loop {
            if holds(&mut condition) {
                return true;
            }
            if wait_for_a_message(inside, site) {
                return holds(&mut condition);
            }
        }
    }
}

/// Checks the condition. No other task runs meanwhile.
fn holds(condition: &mut impl FnMut() -> bool) -> bool {
    /// Ends the check, also if the condition panics.
    struct Check;
    impl Drop for Check {
        fn drop(&mut self) {
            current::with(|execution| execution.state.borrow_mut().actors.checks_condition = false);
        }
    }
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        // The condition may be checked by a handler of an untraced run. That run ends here, so that it is known what each actor has received.
        if state.actors.supply.counts_on() {
            state.end_supply();
        }
        state.actors.checks_condition = true;
    });
    let _check = Check;
    condition()
}

/// Waits until a message was received. Returns true if all is quiet instead.
fn wait_for_a_message(inside: ExecutionIds, site: raddle_engine::trace::Site) -> bool {
    let quiet = current::with(|execution| {
        let key = {
            let mut state = execution.state.borrow_mut();
            state.actors.somebody_waits_for_quiet = true;
            state.objects[inside.activity.index()].word
        };
        let changed: fn(u64, u64) -> bool = |word, key| word != key;
        let ask = Ask::new(&UNTIL, inside.activity, Effect::Read, site);
        let ask = Ask { role: Role::Takes, ready: Some(changed), key, quiet: true, unseen: true, ..ask };
        execution.step(ask, |moment| {
            moment.progress(Progress::Changed);
            if moment.state.tells() {
                moment.state.tell_instead("look whether the condition holds".to_owned());
            }
            *moment.word() == key
        })
    });
    quiet == Some(true)
}
