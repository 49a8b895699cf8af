//! One random walk: the alternatives at each point with their weights, and what the walk stands for.

use std::mem;

use raddle_engine::ids::TaskId;
use raddle_engine::order::by_slot::BySlot;
use raddle_engine::order::events::{Events, Label};
use raddle_engine::rng::Rng;
use raddle_engine::system::Choice;
use raddle_engine::trace::Effect;

use super::{Policy, Weights};

/// An alternative at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub task: TaskId,
    pub label: Label,
    pub weights: Weights,
}

/// The points of the walk so far.
#[derive(Debug, Default)]
pub(super) struct Walk {
    points: Vec<Weighed>,
    /// The alternatives of all points, in order, and then those offered for the next point.
    alternatives: Vec<Alternative>,
    latest_events: LatestEvents,
}

#[derive(Clone, Copy, Debug)]
struct Weighed {
    /// Where its alternatives begin.
    begin: usize,
    /// Where they end.
    end: usize,
    /// The sum of their weights.
    all: Weights,
    /// The weights of the one that was taken.
    taken: Weights,
}

impl Walk {
    pub fn clear(&mut self) {
        self.points.clear();
        self.alternatives.clear();
    }

    /// Adds an alternative of the next point.
    pub fn offer(&mut self, alternative: Alternative) {
        self.alternatives.push(alternative);
    }

    /// Takes one of the alternatives that were offered.
    pub fn take(&mut self, policy: Policy, rng: &mut Rng) -> Choice {
        let begin = self.points.last().map_or(0, |point| point.end);
        let offered = &self.alternatives[begin..];
        let all = offered.iter().fold([0.0; 2], |sum, alternative| plus(sum, alternative.weights));
        let weight = |at: usize| offered[at].weights[policy as usize];
        let mut left = rng.fraction() * all[policy as usize];
        let mut at = 0;
        while at + 1 < offered.len() && left >= weight(at) {
            left -= weight(at);
            at += 1;
        }
        self.points.push(Weighed { begin, end: self.alternatives.len(), all, taken: offered[at].weights });
        Choice(u32::try_from(at).expect("raddle bug: more than 2^32 alternatives"))
    }

    /// How many executions the walk stands for: one over its probability.
    pub fn orders(&self) -> f64 {
        let logarithms = self.points.iter().map(|point| logarithm(point.taken, point.all));
        (-mean(logarithms.fold([0.0; 2], plus))).exp()
    }

    /// How many traces the walk stands for; `events` are its own.
    pub fn traces(&mut self, events: &Events) -> f64 {
        let within = self.within(events);
        let (mut walk, mut share) = ([0.0; 2], [0.0; 2]);
        for (point, within) in self.points.iter().zip(within) {
            walk = plus(walk, logarithm(point.taken, point.all));
            share = plus(share, logarithm(point.taken, within));
        }
        (mean(share) - mean(walk)).exp()
    }

    /// For each point: the weight of the alternatives that could have been taken there within the same trace.
    fn within(&mut self, events: &Events) -> Vec<Weights> {
        self.latest_events.clear();
        let mut within = vec![[0.0; 2]; self.points.len()];
        // An execution that was cut short may have more decisions than events.
        for event in 0..events.len().min(self.points.len()) {
            let (task, label) = (events.get(event).task, events.get(event).label);
            let first = self.latest_events.first_point(events, event);
            for (point, within) in (first..).zip(&mut within[first..=event]) {
                *within = plus(*within, self.weights(point, task, label));
            }
        }
        for (within, point) in within.iter_mut().zip(&self.points) {
            // The alternative that was taken is always one of them.
            *within = [within[0].max(point.taken[0]), within[1].max(point.taken[1])];
        }
        within
    }

    /// The weights of an alternative; 0 if there was no such one.
    fn weights(&self, point: usize, task: TaskId, label: Label) -> Weights {
        let Weighed { begin, end, .. } = self.points[point];
        let is_it = |it: &&Alternative| it.task == task && it.label == label;
        self.alternatives[begin..end].iter().find(is_it).map_or([0.0; 2], |it| it.weights)
    }
}

fn plus(a: Weights, b: Weights) -> Weights {
    [a[0] + b[0], a[1] + b[1]]
}

/// The logarithms of `some / all`.
fn logarithm(some: Weights, all: Weights) -> Weights {
    [(some[0] / all[0]).ln(), (some[1] / all[1]).ln()]
}

/// The logarithm of the mean of two numbers that are given by their logarithms.
fn mean(logarithms: Weights) -> f64 {
    let larger = logarithms[0].max(logarithms[1]);
    let smaller = logarithms[0].min(logarithms[1]);
    larger + ((1.0 + (smaller - larger).exp()) / 2.0).ln()
}

/// The latest events that a later one can depend on.
#[derive(Debug, Default)]
struct LatestEvents {
    /// By task: its latest event, plus one.
    tasks: Vec<usize>,
    /// By object: the latest event that touched it and the latest that changed it, plus one.
    objects: BySlot<(usize, usize)>,
}

impl LatestEvents {
    fn clear(&mut self) {
        self.tasks.clear();
        self.objects.clear();
    }

    /// Adds the next event. Returns the first point at which it could have come: just after the latest event it depends on.
    fn first_point(&mut self, events: &Events, event: usize) -> usize {
        let task = events.get(event).task.index();
        if self.tasks.len() <= task {
            self.tasks.resize(task + 1, 0);
        }
        let mut first = mem::replace(&mut self.tasks[task], event + 1);
        for touch in events.touches(event) {
            let (touched, changed) = self.objects.at(touch.slot());
            first = first.max(if touch.effect == Effect::Change { *touched } else { *changed });
            *touched = event + 1;
            if touch.effect == Effect::Change {
                *changed = event + 1;
            }
        }
        first
    }
}
