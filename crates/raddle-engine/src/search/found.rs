//! The failure that a search reports, and what can be written down of it.

use serde::{Deserialize, Serialize};

use crate::facts::Fact;
use crate::outcome::Failure;
use crate::piece::Piece;
use crate::replay::Script;
use crate::system::Choice;

/// A failure, and how to get it again.
#[derive(Clone, Debug)]
pub struct Found {
    /// What went wrong.
    pub failure: Failure,
    /// The decisions that lead to it, to be [replayed](crate::replay::replay).
    pub script: Script,
    /// After how many executions, itself included.
    pub after: u64,
    /// What the strategy has to say of it.
    pub remark: Option<Fact>,
    /// Its number, where executions have one.
    pub number: Option<u64>,
    /// The [stage](Piece::stage) that it was found in.
    pub stage: u32,
    /// A probe found it, whose place is nowhere in the order of the search.
    pub probe: bool,
}

/// What can be written down of a [`Found`]: how to come to it, and all that was known of it but the failure itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Known {
    seed: u64,
    choices: Vec<Choice>,
    after: u64,
    remark: Option<Fact>,
    number: Option<u64>,
    stage: u32,
    probe: bool,
}

impl Known {
    pub fn script(&self) -> Script {
        Script::Choices { seed: self.seed, choices: self.choices.clone() }
    }

    pub fn again(self, failure: Failure) -> Found {
        let script = self.script();
        let Self { after, remark, number, stage, probe, .. } = self;
        Found { failure, script, after, remark, number, stage, probe }
    }

    pub fn is_sound(&self) -> bool {
        self.after <= Piece::MOST_RUN
    }
}

impl Found {
    pub(crate) fn known(&self) -> Option<Known> {
        let Self { script, after, number, stage, probe, .. } = self;
        let Script::Choices { seed, choices } = script.clone() else { return None };
        let (after, number, stage, probe) = (*after, *number, *stage, *probe);
        Some(Known { seed, choices, after, remark: self.remark.clone(), number, stage, probe })
    }

    pub(crate) fn choices(&self) -> &[Choice] {
        match &self.script {
            Script::Choices { choices, .. } => choices,
            Script::Names(_) | Script::Hints(_) => &[],
        }
    }
}
