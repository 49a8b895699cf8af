//! Minimizes a program that shows a problem, by removing parts.

use crate::syntax::{Litmus, Statement};

/// Removes parts of `litmus` as long as `shows` says that the rest still shows the problem.
pub fn minimize(litmus: &Litmus, mut shows: impl FnMut(&Litmus) -> bool) -> Litmus {
    let mut best = litmus.clone();
    while let Some(less) = variants(&best).into_iter().find(&mut shows) {
        best = less;
    }
    best
}

/// The program with one part removed. The largest parts come first.
fn variants(litmus: &Litmus) -> Vec<Litmus> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Litmus)| {
        let mut less = litmus.clone();
        change(&mut less);
        all.push(less);
    };
    for thread in 0..litmus.threads.len() {
        with(&|less| drop(less.threads.remove(thread)));
    }
    for (thread, whole) in litmus.threads.iter().enumerate() {
        if whole.range.as_ref().is_some_and(|range| range.from < range.to) {
            with(&|less| {
                let range = less.threads[thread].range.as_mut().expect("it has one");
                range.to -= 1;
            });
        }
        for body in shorter(&whole.body) {
            with(&|less| less.threads[thread].body.clone_from(&body));
        }
    }
    if litmus.finale.is_some() {
        with(&|less| less.finale = None);
    }
    for at in 0..litmus.shared.len() {
        with(&|less| drop(less.shared.remove(at)));
    }
    for at in 0..litmus.mutexes.len() {
        with(&|less| drop(less.mutexes.remove(at)));
    }
    for at in 0..litmus.channels.len() {
        with(&|less| drop(less.channels.remove(at)));
    }
    all
}

/// The statements with one removed, or with one replaced by its body.
fn shorter(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for (at, statement) in body.iter().enumerate() {
        let mut with = |instead: &[Statement]| all.push([&body[..at], instead, &body[at + 1..]].concat());
        with(&[]);
        match statement {
            Statement::If { condition, then, otherwise } => {
                with(then);
                with(otherwise);
                for then in shorter(then) {
                    with(&[Statement::If { condition: condition.clone(), then, otherwise: otherwise.clone() }]);
                }
                for otherwise in shorter(otherwise) {
                    with(&[Statement::If { condition: condition.clone(), then: then.clone(), otherwise }]);
                }
            }
            Statement::While { condition, body } => {
                with(body);
                for body in shorter(body) {
                    with(&[Statement::While { condition: condition.clone(), body }]);
                }
            }
            Statement::Assign { .. } | Statement::Evaluate(_) | Statement::Assert { .. } => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shows_it_is_left() {
        let text = "shared x = 0, y = 0; mutex m;
            thread a(i in 1..=3) { lock(m); if load(x) { store(y, 1); store(y, 2); } unlock(m); }
            thread b { k = 0; while k < 2 { k = k + 1; add(y, 1); } } final { assert load(y) == 0; }";
        let litmus = Litmus::parse(text).unwrap();
        let shows = |less: &Litmus| less.to_string().contains("store(y, 2)") && crate::Program::new(less, "").is_ok();
        let left = minimize(&litmus, shows).to_string();
        let words: Vec<_> = left.split_whitespace().collect();
        assert_eq!(words.join(" "), "shared y = 0; thread a(i in 1..=1) { store(y, 2); }");
    }
}
