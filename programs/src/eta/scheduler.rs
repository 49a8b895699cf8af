//! A prototype of a cluster scheduler: machines announce how much room they have, users submit jobs, the scheduler places them, and
//! jobs of higher priority evict others, which are placed anew.
//!
//! Too large to be searched: what it is for is estimates and samples. Its safety property is that no machine ever runs more than it has
//! room for. The scheduler may be built with a mistake: on an eviction it counts the room as free at once, and not when
//! the machine has said so. That goes well for as long as its messages to one machine arrive in order.

use std::collections::{BTreeMap, VecDeque};

use raddle::actor::{Actor, Address, Context, Monitor, Stage};

/// A job by its number.
pub type JobId = u32;

/// What is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// How much room it takes.
    pub size: u32,
    /// Who is evicted for whom.
    pub priority: u32,
}

/// The messages to the scheduler.
#[derive(Clone, Debug, Hash)]
pub enum ToScheduler {
    /// A machine is there, with so much room.
    Join(Address<ToMachine>, u32),
    /// A user wants a job to be run.
    Submit(Job),
    /// A machine is done with a job.
    Done(Address<ToMachine>, JobId),
    /// A machine has stopped a job before its end.
    Evicted(Address<ToMachine>, JobId),
}

/// The messages to a machine.
#[derive(Clone, Debug, Hash)]
pub enum ToMachine {
    /// Here is your scheduler.
    Start(Address<ToScheduler>),
    /// Run this.
    Run(Job),
    /// Stop that.
    Evict(JobId),
    /// A job has come to its end.
    Finish(JobId),
}

/// What machines announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// How much runs on a machine.
    pub used: u32,
    /// How much it has room for.
    pub room: u32,
}

/// No machine is overloaded.
#[derive(Clone, Debug, Default, Hash)]
pub struct NoOverload;

impl Monitor for NoOverload {
    type Event = Load;

    fn observe(&mut self, load: &Load) -> Result<(), String> {
        if load.used <= load.room {
            Ok(())
        } else {
            Err(format!("{} run where there is room for {}", load.used, load.room))
        }
    }
}

/// Runs jobs.
#[derive(Clone, Debug, Hash)]
pub struct Machine {
    room: u32,
    scheduler: Option<Address<ToScheduler>>,
    running: BTreeMap<JobId, Job>,
}

impl Machine {
    fn announce(&self, ctx: &mut Context<'_, ToMachine>) {
        ctx.announce(Load { used: self.running.values().map(|job| job.size).sum(), room: self.room });
    }

    fn tell(&self, ctx: &mut Context<'_, ToMachine>, msg: ToScheduler) {
        if let Some(scheduler) = &self.scheduler {
            ctx.send(scheduler, msg);
        }
    }
}

impl Actor for Machine {
    type Msg = ToMachine;

    fn handle(&mut self, msg: ToMachine, ctx: &mut Context<'_, ToMachine>) {
        let me = ctx.me();
        match msg {
            ToMachine::Start(scheduler) => {
                self.scheduler = Some(scheduler);
                self.tell(ctx, ToScheduler::Join(me, self.room));
            }
            ToMachine::Run(job) => {
                self.running.insert(job.id, job);
                self.announce(ctx);
                ctx.send(&me, ToMachine::Finish(job.id));
            }
            // It may have come to its end meanwhile, and then that is on its way.
            ToMachine::Evict(id) => {
                if self.running.remove(&id).is_some() {
                    self.tell(ctx, ToScheduler::Evicted(me, id));
                }
            }
            ToMachine::Finish(id) => {
                if self.running.remove(&id).is_some() {
                    self.tell(ctx, ToScheduler::Done(me, id));
                }
            }
        }
    }

    fn label(msg: &ToMachine) -> &'static str {
        match msg {
            ToMachine::Start(_) => "Start",
            ToMachine::Run(_) => "Run",
            ToMachine::Evict(_) => "Evict",
            ToMachine::Finish(_) => "Finish",
        }
    }
}

/// What the scheduler knows of a machine.
#[derive(Clone, Debug, Default, Hash)]
struct Known {
    free: u32,
    placed: BTreeMap<JobId, Job>,
    evicting: BTreeMap<JobId, Job>,
}

/// Places jobs.
#[derive(Clone, Debug, Default, Hash)]
pub struct Scheduler {
    /// The mistake: room is free as soon as an eviction was asked for.
    hasty: bool,
    machines: BTreeMap<Address<ToMachine>, Known>,
    waiting: VecDeque<Job>,
    /// Jobs that ran to their end.
    pub done: u32,
}

impl Scheduler {
    /// Places what waits, the most important first, for as long as there is room or somebody to evict.
    fn place(&mut self, ctx: &mut Context<'_, ToScheduler>) {
        self.waiting.make_contiguous().sort_by_key(|job| (u32::MAX - job.priority, job.id));
        let mut later = VecDeque::new();
        while let Some(job) = self.waiting.pop_front() {
            let roomy = self.machines.iter_mut().find(|(_, machine)| machine.free >= job.size);
            match roomy {
                Some((address, machine)) => {
                    machine.free -= job.size;
                    machine.placed.insert(job.id, job);
                    ctx.send(address, ToMachine::Run(job));
                }
                None => {
                    self.evict_for(job, ctx);
                    later.push_back(job);
                }
            }
        }
        self.waiting = later;
    }

    /// Asks a machine to stop something less important that takes as much room.
    fn evict_for(&mut self, job: Job, ctx: &mut Context<'_, ToScheduler>) {
        let hasty = self.hasty;
        let less = |other: &Job| other.priority < job.priority && other.size >= job.size;
        for (address, machine) in &mut self.machines {
            let Some(victim) = machine.placed.values().copied().find(less) else { continue };
            if machine.evicting.contains_key(&victim.id) || !machine.evicting.is_empty() {
                continue;
            }
            machine.evicting.insert(victim.id, victim);
            ctx.send(address, ToMachine::Evict(victim.id));
            if hasty {
                machine.free += victim.size;
            }
            return;
        }
    }

    /// A machine runs a job no more.
    fn release(&mut self, machine: &Address<ToMachine>, id: JobId) -> Option<Job> {
        let known = self.machines.get_mut(machine)?;
        let job = known.placed.remove(&id)?;
        let counted = known.evicting.remove(&id).is_some() && self.hasty;
        if !counted {
            known.free += job.size;
        }
        Some(job)
    }
}

impl Actor for Scheduler {
    type Msg = ToScheduler;

    fn handle(&mut self, msg: ToScheduler, ctx: &mut Context<'_, ToScheduler>) {
        match msg {
            ToScheduler::Join(machine, room) => {
                self.machines.insert(machine, Known { free: room, ..Known::default() });
                ctx.becomes("with machines");
            }
            ToScheduler::Submit(job) => self.waiting.push_back(job),
            ToScheduler::Done(machine, id) => self.done += u32::from(self.release(&machine, id).is_some()),
            ToScheduler::Evicted(machine, id) => {
                let job = self.release(&machine, id);
                self.waiting.extend(job);
            }
        }
        self.place(ctx);
    }

    fn label(msg: &ToScheduler) -> &'static str {
        match msg {
            ToScheduler::Join(..) => "Join",
            ToScheduler::Submit(_) => "Submit",
            ToScheduler::Done(..) => "Done",
            ToScheduler::Evicted(..) => "Evicted",
        }
    }
}

/// A user, who submits one job after another.
#[derive(Clone, Debug, Hash)]
pub struct User {
    scheduler: Address<ToScheduler>,
    jobs: VecDeque<Job>,
}

impl Actor for User {
    type Msg = ();

    fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
        if let Some(job) = self.jobs.pop_front() {
            ctx.send(&self.scheduler, ToScheduler::Submit(job));
            let me = ctx.me();
            ctx.send(&me, ());
        }
    }
}

/// So many machines with room for 2 and users with `jobs` jobs each; `hasty` for the mistake. Returns where the scheduler is.
pub fn set_up(stage: &mut impl Stage, machines: u32, users: u32, jobs: u32, hasty: bool) -> Address<ToScheduler> {
    let scheduler = stage.spawn(Scheduler { hasty, ..Scheduler::default() });
    for _ in 0..machines {
        let machine = stage.spawn(Machine { room: 2, scheduler: None, running: BTreeMap::new() });
        stage.send(&machine, ToMachine::Start(scheduler.clone()));
    }
    for user in 0..users {
        let job = |number| Job { id: user * jobs + number, size: 1 + number % 2, priority: user };
        let user = stage.spawn(User { scheduler: scheduler.clone(), jobs: (0..jobs).map(job).collect() });
        stage.send(&user, ());
    }
    scheduler
}
