//! Letting a system run: until nothing is left to happen, or until a condition holds.

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role};

use crate::actor::system::{ExecutionIds, System, lock};
use crate::coroutine::current;
use crate::execution::{Ask, Progress, here};

static QUIET: Operation = Operation { verb: "wait until all is quiet", class: Class::Wait };
static UNTIL: Operation = Operation { verb: "wait for a condition", class: Class::Wait };

impl System {
    /// Waits until nothing is left to happen: no message waits, no handler runs, no timer is set. Then the monitors say whether what
    /// had to happen has happened.
    ///
    /// # Panics
    ///
    /// Outside an execution, if a monitor is not content; inside, if the system belongs to one that is over.
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

    /// Lets the system run until all is quiet, then stops its actors. Outside an execution their threads have ended when this
    /// returns, unless an actor calls it, so nothing is left behind; inside, messages sent from then on are dead letters.
    ///
    /// # Panics
    ///
    /// As [`run_until_quiet`](Self::run_until_quiet).
    #[track_caller]
    pub fn shutdown(&self) {
        // Of several actors that call this, one waits for the others' threads.
        let _rest = self.inner.busy.rest();
        self.run_until_quiet();
        let Some(inside) = self.inner.inside else { return self.inner.threads.stop() };
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let system = state.actors.mailboxes.iter_mut().filter(|mailbox| mailbox.system == inside.system);
            system.for_each(|mailbox| mailbox.stopped = true);
        });
    }

    /// Lets the system run until `condition` holds, which is looked at after each message; returns whether it does when it is that or
    /// quiet.
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

/// Nothing happens while the condition is looked at.
fn holds(condition: &mut impl FnMut() -> bool) -> bool {
    /// However it ends.
    struct Check;
    impl Drop for Check {
        fn drop(&mut self) {
            current::with(|execution| execution.state.borrow_mut().actors.checks_condition = false);
        }
    }
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        // It may be a handler that looks: how much was received has to be known, and how far each has come.
        if state.actors.supply.counts_on() {
            state.end_supply();
        }
        state.actors.checks_condition = true;
    });
    let _check = Check;
    condition()
}

/// Waits until a message was received; says whether all is quiet instead.
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
