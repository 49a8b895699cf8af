//! An operation that was split.

use raddle::actor::{Actor, Address, Context};

use super::{Operation, Run};

/// The messages to a step.
#[derive(Clone, Copy, Debug)]
pub enum ToStep {
    /// Have the parts carried out.
    Split,
    /// What came of one.
    Result(u64),
}

/// Adds up the results of its parts.
#[derive(Debug)]
pub struct Step {
    parts: Vec<Operation>,
    dispatcher: Address<Run>,
    /// Where the sum goes.
    parent: Option<Address<ToStep>>,
    results: usize,
    sum: u64,
}

impl Step {
    /// One whose parts are still to be dispatched.
    #[must_use]
    pub fn new(parts: Vec<Operation>, dispatcher: Address<Run>, parent: Option<Address<ToStep>>) -> Self {
        Self { parts, dispatcher, parent, results: 0, sum: 0 }
    }

    /// What all parts come to, once all are there.
    #[must_use]
    pub fn sum(&self) -> Option<u64> {
        (self.results == self.parts.len()).then_some(self.sum)
    }
}

impl Actor for Step {
    type Msg = ToStep;

    fn handle(&mut self, msg: ToStep, ctx: &mut Context<'_, ToStep>) {
        match msg {
            ToStep::Split => {
                let step = ctx.me();
                for &operation in &self.parts {
                    ctx.send(&self.dispatcher, Run { operation, step: step.clone() });
                }
            }
            ToStep::Result(result) => {
                self.results += 1;
                self.sum += result;
                if let (Some(sum), Some(parent)) = (self.sum(), &self.parent) {
                    ctx.send(parent, ToStep::Result(sum));
                    ctx.stop();
                }
            }
        }
    }

    fn label(msg: &ToStep) -> &'static str {
        match msg {
            ToStep::Split => "Split",
            ToStep::Result(_) => "Result",
        }
    }
}
