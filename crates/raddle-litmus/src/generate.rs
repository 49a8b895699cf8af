//! Random programs for testing searches. They are small enough that the [oracle](crate::oracle) needs milliseconds, and use all features of
//! the language. The same seed gives the same program. Loops are bounded, so every execution ends.

use raddle_engine::rng::Rng;

use crate::syntax::{
    At, Binary, Call, Channel, Expression, Litmus, Mutex, Order, Range, Shared, Statement, Target, Thread, Unary, Verb,
};

/// The size of programs.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The largest number of threads; at least 2.
    pub threads: u32,
    /// The approximate number of steps, divided evenly among the threads.
    pub steps: u32,
}

impl Default for Size {
    fn default() -> Self {
        Self { threads: 4, steps: 12 }
    }
}

/// The program of `seed`.
#[must_use]
pub fn generate(seed: u64, size: Size) -> Litmus {
    let mut rng = Rng::new(seed);
    // A program in which all threads share everything says little about reduction, so each program has only some of the features.
    let focus = [Focus::None, Focus::None, Focus::Locks, Focus::Messages][rng.below(4) as usize];
    let features = Features {
        focus,
        array: rng.below(3) == 0,
        mutexes: [0, 0, 1, 2][rng.below(4) as usize].max(u32::from(focus == Focus::Locks)),
        channels: [0, 0, 1, 1, 2][rng.below(5) as usize].max(u32::from(focus == Focus::Messages)),
        variables: 1 + rng.below(3),
        choices: rng.below(3) == 0,
        asserts: rng.below(2) == 0,
    };
    let mut litmus = features.declare(&mut rng);
    let threads = 2 + rng.below(size.threads.max(2) - 1);
    let mut left = threads;
    while left > 0 {
        let budget = (size.steps / threads).max(1) + rng.below(2);
        let several = left >= 2 && rng.below(4) == 0;
        let range = several.then(|| Range { name: "i".to_owned(), from: 0, to: 1, at: At::default() });
        left -= 1 + u32::from(several);
        let name = format!("t{}", litmus.threads.len());
        let mut author = Author { rng: &mut rng, features, budget, locals: Vec::new(), loops: 0 };
        if several {
            author.locals.push("i".to_owned());
        }
        let body = author.body(0);
        litmus.threads.push(Thread { name, range, body, at: At::default() });
    }
    if features.asserts && rng.below(2) == 0 {
        let value = call(Verb::Load, Some(target("x0", None)), Vec::new());
        let condition = binary(Binary::NotEqual, value, number(i64::from(rng.below(3))));
        litmus.finale = Some(vec![Statement::Assert { condition, at: At::default() }]);
    }
    litmus
}

/// The kind of steps that a program has most of. If all kinds were rare, two steps of a kind would rarely conflict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Focus {
    None,
    Locks,
    Messages,
}

#[derive(Clone, Copy)]
struct Features {
    focus: Focus,
    array: bool,
    mutexes: u32,
    channels: u32,
    variables: u32,
    choices: bool,
    asserts: bool,
}

/// The length of arrays.
const LEN: u32 = 3;

impl Features {
    fn declare(self, rng: &mut Rng) -> Litmus {
        let at = At::default();
        let mut litmus = Litmus::default();
        for variable in 0..self.variables {
            let first = i64::from(rng.below(2));
            litmus.shared.push(Shared { name: format!("x{variable}"), len: None, first, at });
        }
        if self.array {
            litmus.shared.push(Shared { name: "a".to_owned(), len: Some(LEN), first: 0, at });
        }
        for mutex in 0..self.mutexes {
            litmus.mutexes.push(Mutex { name: format!("m{mutex}"), len: None, at });
        }
        for channel in 0..self.channels {
            let order = Order::ALL[rng.below(4) as usize];
            litmus.channels.push(Channel { name: format!("c{channel}"), len: None, order, at });
        }
        litmus
    }
}

fn number(value: i64) -> Expression {
    Expression::Number(value)
}

fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right), At::default())
}

fn target(name: &str, index: Option<Expression>) -> Target {
    Target { name: name.to_owned(), index, at: At::default() }
}

fn call(verb: Verb, target: Option<Target>, arguments: Vec<Expression>) -> Expression {
    Expression::Call(Box::new(Call { verb, target, arguments, at: At::default() }))
}

/// Generates one thread.
struct Author<'r> {
    rng: &'r mut Rng,
    features: Features,
    /// How many steps may still be generated; those in a loop count once per iteration.
    budget: u32,
    locals: Vec<String>,
    loops: u32,
}

impl Author<'_> {
    fn spend(&mut self, steps: u32) {
        self.budget = self.budget.saturating_sub(steps);
    }

    fn body(&mut self, depth: u32) -> Vec<Statement> {
        let mut body = Vec::new();
        let most = if depth == 0 { u32::MAX } else { 1 + self.rng.below(2) };
        while self.budget > 0 && (body.len() as u32) < most {
            self.statements(depth, &mut body);
        }
        body
    }

    fn statements(&mut self, depth: u32, body: &mut Vec<Statement>) {
        let kind = match (self.features.focus, self.rng.below(16)) {
            (Focus::Locks, 8..) => 4,
            (Focus::Messages, 8..) => 7,
            (_, drawn) => drawn,
        };
        match kind {
            0..3 if depth < 2 => {
                self.spend(1);
                let condition = self.condition();
                let then = self.body(depth + 1);
                let otherwise = if self.rng.below(3) == 0 { self.body(depth + 1) } else { Vec::new() };
                body.push(Statement::If { condition, then, otherwise });
            }
            3 if depth < 2 && self.budget >= 2 => self.bounded_loop(depth, body),
            4..7 if self.features.mutexes > 0 && self.budget >= 2 => self.critical(depth, body),
            7..10 if self.features.channels > 0 => self.message(body),
            10 if self.features.asserts => {
                let left = self.value();
                let condition = binary(Binary::NotEqual, left, number(i64::from(self.rng.below(4))));
                body.push(Statement::Assert { condition, at: At::default() });
            }
            11 if self.features.choices => {
                let value = call(Verb::Choose, None, vec![number(2)]);
                self.assign(value, body);
            }
            12..14 => {
                self.spend(1);
                let value = self.step_with_value();
                self.assign(value, body);
            }
            _ => {
                self.spend(1);
                let (target, value) = (self.variable(), self.value());
                body.push(Statement::Evaluate(if self.rng.below(3) == 0 {
                    call(Verb::Add, Some(target), vec![value])
                } else {
                    call(Verb::Store, Some(target), vec![value])
                }));
            }
        }
    }

    fn assign(&mut self, value: Expression, body: &mut Vec<Statement>) {
        let name = format!("v{}", self.rng.below(2));
        if !self.locals.contains(&name) {
            self.locals.push(name.clone());
        }
        body.push(Statement::Assign { name, value, at: At::default() });
    }

    /// A loop with at most two iterations, which may end early depending on other threads.
    fn bounded_loop(&mut self, depth: u32, body: &mut Vec<Statement>) {
        let counter = format!("k{}", self.loops);
        self.loops += 1;
        let read = |name: &str| Expression::Local(name.to_owned(), At::default());
        body.push(Statement::Assign { name: counter.clone(), value: number(0), at: At::default() });
        let mut condition = binary(Binary::Less, read(&counter), number(2));
        self.spend(1);
        if self.rng.below(2) == 0 {
            let more = self.condition();
            condition = binary(Binary::And, condition, more);
        }
        let before = self.budget;
        self.budget = before.div_ceil(2);
        let half = self.budget;
        let mut inner = self.body(depth + 1);
        let spent = half - self.budget;
        self.budget = before.saturating_sub(2 * spent);
        let next = binary(Binary::Plus, read(&counter), number(1));
        inner.push(Statement::Assign { name: counter, value: next, at: At::default() });
        body.push(Statement::While { condition, body: inner });
    }

    /// A critical section. Sometimes the unlock is missing, or the lock is a `trylock`.
    fn critical(&mut self, depth: u32, body: &mut Vec<Statement>) {
        self.spend(2);
        let name = format!("m{}", self.rng.below(self.features.mutexes));
        let on_mutex = |verb| call(verb, Some(target(&name, None)), Vec::new());
        let mut inside = if depth < 2 { self.body(depth + 1) } else { Vec::new() };
        if self.rng.below(12) > 0 {
            inside.push(Statement::Evaluate(on_mutex(Verb::Unlock)));
        }
        if self.rng.below(3) == 0 {
            body.push(Statement::If { condition: on_mutex(Verb::TryLock), then: inside, otherwise: Vec::new() });
        } else {
            body.push(Statement::Evaluate(on_mutex(Verb::Lock)));
            body.extend(inside);
        }
    }

    fn message(&mut self, body: &mut Vec<Statement>) {
        self.spend(1);
        let channel = target(&format!("c{}", self.rng.below(self.features.channels)), None);
        // More messages are sent than received; otherwise most executions would be deadlocks.
        if self.rng.below(5) < 3 {
            let value = self.value();
            body.push(Statement::Evaluate(call(Verb::Send, Some(channel), vec![value])));
        } else {
            self.assign(call(Verb::Recv, Some(channel), Vec::new()), body);
        }
    }

    /// A shared variable, or an element of the array, whose index may depend on a local variable.
    fn variable(&mut self) -> Target {
        if self.features.array && self.rng.below(2) == 0 {
            let mut index = number(i64::from(self.rng.below(LEN)));
            if !self.locals.is_empty() && self.rng.below(2) == 0 {
                let value = self.value();
                let doubled = binary(Binary::Plus, binary(Binary::Remainder, value, number(3)), number(3));
                index = binary(Binary::Remainder, doubled, number(i64::from(LEN)));
            }
            return target("a", Some(index));
        }
        target(&format!("x{}", self.rng.below(self.features.variables)), None)
    }

    fn step_with_value(&mut self) -> Expression {
        let target = self.variable();
        match self.rng.below(5) {
            0 => {
                let (old, new) = (self.value(), self.value());
                call(Verb::Cas, Some(target), vec![old, new])
            }
            1 => {
                let more = self.value();
                call(Verb::Add, Some(target), vec![more])
            }
            _ => call(Verb::Load, Some(target), Vec::new()),
        }
    }

    fn condition(&mut self) -> Expression {
        let step = self.step_with_value();
        match self.rng.below(4) {
            0 => step,
            1 => Expression::Unary(Unary::Not, Box::new(step)),
            2 => binary(Binary::Greater, step, number(i64::from(self.rng.below(2)))),
            _ => binary(Binary::Equal, step, number(i64::from(self.rng.below(3)))),
        }
    }

    /// A small value that needs no step.
    fn value(&mut self) -> Expression {
        let constant = number(i64::from(self.rng.below(3)));
        if self.locals.is_empty() || self.rng.below(2) == 0 {
            return constant;
        }
        let which = self.rng.below(self.locals.len() as u32) as usize;
        let local = Expression::Local(self.locals[which].clone(), At::default());
        match self.rng.below(4) {
            0 => binary(Binary::Plus, local, constant),
            1 => Expression::Unary(Unary::Negate, Box::new(local)),
            _ => local,
        }
    }
}
