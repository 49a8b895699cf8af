//! What is left to run, as data. A piece is a list of steps; running it gives one execution, and the pieces that follow from that.
//!
//! Nothing else is stored about the search, so pieces can be run in any order and by any worker. On a worker's stack, the pieces of one
//! execution share its steps. On disk, each piece is written out.

use std::sync::Arc;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::events::{Did, Label};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::format::Format;

/// One decision of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub task: TaskId,
    pub label: Label,
    pub mark: Mark,
    /// Which alternative of its point it was; `None` for what is not decided: looks, and steps that have failed before.
    pub choice: Option<u32>,
    /// The tasks that could go on at its point.
    pub enabled: TaskSet,
    /// Objects with smaller numbers are the same in all executions that begin with the entries before this one.
    pub known_objects: u32,
}

/// Why a step was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The policy chose it.
    Free,
    /// It is in a schedule, because the head of the schedule needs it.
    Member,
    /// It is in a schedule because the head was found to depend on it only after the head had been put before another step.
    LateMember,
    /// A value that a step of a schedule asked for, and that the piece did not give.
    LateValue,
    /// A look at something that cannot change any more. It followed from the entry before it, and nothing can come between.
    Look,
    /// The policy chose it in an earlier execution, which failed with it. It is not run again, but counts as done.
    Failed(Arc<Did>),
    /// The last step of a schedule.
    Head(Arc<Head>),
}

impl Mark {
    /// True if the policy chose it.
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Free | Self::Failed(_))
    }

    pub fn failed(&self) -> Option<&Did> {
        match self {
            Self::Failed(did) => Some(did),
            _ => None,
        }
    }

    pub fn head(&self) -> Option<&Arc<Head>> {
        match self {
            Self::Head(head) => Some(head),
            _ => None,
        }
    }
}

/// What the last step of a schedule knows about why it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The task whose step the schedule was put before; `None` if the head is another alternative of the same task.
    pub undone: Option<TaskId>,
    /// The objects by which other executions find out what comes before the head, and whether they change them.
    pub foreseen: SmallVec<[(ObjectId, bool); 2]>,
}

/// A set of tasks, exact for the first 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TaskSet(u64);

impl TaskSet {
    const LATER_TASKS: u32 = 63;

    pub fn insert(&mut self, task: TaskId) {
        self.0 |= 1 << task.number().min(Self::LATER_TASKS);
    }

    /// `None` if it is not known.
    pub fn contains(self, task: TaskId) -> Option<bool> {
        let bit = self.0 >> task.number().min(Self::LATER_TASKS) & 1 == 1;
        (task.number() < Self::LATER_TASKS || !bit).then_some(bit)
    }
}

/// A step of a schedule that was not run yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub task: TaskId,
    /// `None` for the first way in which the task can go on.
    pub label: Option<Label>,
    pub mark: Mark,
}

/// A piece on a worker's stack.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// The execution that the piece comes from.
    pub base: Arc<[Entry]>,
    /// How many of its entries the piece begins with.
    pub from_base: usize,
    pub schedule: Vec<Planned>,
    /// How many reversals it is away from the first execution.
    pub reversals: u32,
}

impl Pending {
    /// The whole search.
    pub fn whole() -> Self {
        Self { base: Arc::new([]), from_base: 0, schedule: Vec::new(), reversals: 0 }
    }
}

/// Pieces as they are written down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Written {
    pieces: Vec<WrittenPiece>,
    /// A piece was dropped because of a bound.
    pub hit_bound: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct WrittenPiece {
    taken: Vec<WrittenEntry>,
    schedule: Vec<(TaskId, Option<Label>, WrittenMark)>,
    reversals: u32,
}

/// Task, label, mark, choice, enabled tasks, known objects.
type WrittenEntry = (TaskId, Label, WrittenMark, Option<u32>, TaskSet, u32);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum WrittenMark {
    Free,
    Member,
    LateMember,
    LateValue,
    Look,
    Failed(Did),
    Head(Head),
}

impl From<&Mark> for WrittenMark {
    fn from(mark: &Mark) -> Self {
        match mark {
            Mark::Free => Self::Free,
            Mark::Member => Self::Member,
            Mark::LateMember => Self::LateMember,
            Mark::LateValue => Self::LateValue,
            Mark::Look => Self::Look,
            Mark::Failed(did) => Self::Failed((**did).clone()),
            Mark::Head(head) => Self::Head((**head).clone()),
        }
    }
}

impl From<WrittenMark> for Mark {
    fn from(mark: WrittenMark) -> Self {
        match mark {
            WrittenMark::Free => Self::Free,
            WrittenMark::Member => Self::Member,
            WrittenMark::LateMember => Self::LateMember,
            WrittenMark::LateValue => Self::LateValue,
            WrittenMark::Look => Self::Look,
            WrittenMark::Failed(did) => Self::Failed(Arc::new(did)),
            WrittenMark::Head(head) => Self::Head(Arc::new(head)),
        }
    }
}

impl Format for Written {
    const NAME: &'static str = "reversals 1";

    fn is_sound(&self) -> bool {
        let planned = |piece: &WrittenPiece| {
            piece
                .schedule
                .iter()
                .all(|step| !matches!(step.2, WrittenMark::Free | WrittenMark::Look | WrittenMark::Failed(_)))
        };
        self.pieces.iter().all(planned)
    }
}

impl Written {
    pub fn write<'a>(pieces: impl Iterator<Item = &'a Pending>, hit_bound: bool) -> Self {
        let entry = |e: &Entry| (e.task, e.label, WrittenMark::from(&e.mark), e.choice, e.enabled, e.known_objects);
        let piece = |pending: &Pending| WrittenPiece {
            taken: pending.base[..pending.from_base].iter().map(entry).collect(),
            schedule: pending.schedule.iter().map(|step| (step.task, step.label, (&step.mark).into())).collect(),
            reversals: pending.reversals,
        };
        Self { pieces: pieces.map(piece).collect(), hit_bound }
    }

    pub fn read(self) -> impl Iterator<Item = Pending> {
        let entry = |(task, label, mark, choice, enabled, known_objects): WrittenEntry| Entry {
            task,
            label,
            mark: mark.into(),
            choice,
            enabled,
            known_objects,
        };
        let planned =
            |(task, label, mark): (TaskId, Option<Label>, WrittenMark)| Planned { task, label, mark: mark.into() };
        self.pieces.into_iter().map(move |piece| Pending {
            from_base: piece.taken.len(),
            base: piece.taken.into_iter().map(entry).collect(),
            schedule: piece.schedule.into_iter().map(planned).collect(),
            reversals: piece.reversals,
        })
    }
}
