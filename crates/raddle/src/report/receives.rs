//! The coverage of the orders in which messages are received, as a part of the report.

use raddle_engine::coverage::{Achieved, Coverage, Criterion, Example, Why};

use super::verdict::number;

/// Examples of each kind of pair that was not covered.
const EXAMPLES: usize = 3;

/// The number of receivers that are listed one by one, those with the most open pairs first.
const RECEIVERS: usize = 5;

/// The number of pairs that were seen in both orders, and the number of all pairs. A pair that was seen in one order only has one goal.
fn both_of_all(achieved: &Achieved) -> (u64, u64) {
    (achieved.pairs, achieved.goals - achieved.pairs)
}

/// A part of the verdict; `None` if there were no pairs.
pub(super) fn in_short(coverage: &Coverage) -> Option<String> {
    let uncovered = coverage.uncovered(Criterion::Pairs, 0);
    let possible = uncovered.pairs - uncovered.ordered;
    (possible > 0).then(|| format!("receive pairs {} of {} covered", number(uncovered.covered), number(possible)))
}

/// The lines of the report. A forecast is shown for samplers only.
pub(super) fn lines(coverage: &Coverage, sampled: bool) -> Vec<String> {
    let all = coverage.achieved(Criterion::Pairs);
    if all.goals == 0 {
        return Vec::new();
    }
    let receivers = coverage.by_receiver(Criterion::Pairs).count();
    let mut lines = vec![format!(
        "receives: {} by {}, in {}",
        number(coverage.receives() as u64),
        counted(receivers as u64, "receiver"),
        counted(coverage.executions(), "execution")
    )];
    if coverage.left_out() > 0 {
        lines.push(format!(
            "  {} were not looked at, since one execution had too many of them",
            counted(coverage.left_out(), "receive")
        ));
    }
    for criterion in Criterion::ALL {
        let achieved = coverage.achieved(criterion);
        if achieved.goals > 0 {
            lines.push(line_of(criterion, &achieved, sampled));
        }
    }
    lines.extend(by_receiver(coverage));
    lines.extend(uncovered(coverage));
    lines
}

fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1 { "" } else { "s" })
}

fn line_of(criterion: Criterion, achieved: &Achieved, sampled: bool) -> String {
    let (both, seen) = both_of_all(achieved);
    let expected = achieved.expected.round();
    let more = if sampled && expected >= 1.0 {
        format!("; about {} more goals in the next 1,000", number(expected as u64))
    } else {
        String::new()
    };
    format!(
        "  {} ({}): {} goals, {} of {} pairs both ways{more}",
        criterion.words(),
        criterion.name(),
        number(achieved.goals),
        number(both),
        number(seen)
    )
}

fn by_receiver(coverage: &Coverage) -> Vec<String> {
    let mut receivers: Vec<_> = coverage.by_receiver(Criterion::Pairs).filter(|(_, _, it)| it.goals > 0).collect();
    if receivers.len() < 2 {
        return Vec::new();
    }
    let open = |achieved: &Achieved| both_of_all(achieved).1 - both_of_all(achieved).0;
    receivers.sort_by_key(|(_, _, achieved)| std::cmp::Reverse(open(achieved)));
    let told = receivers.iter().take(RECEIVERS).map(|(label, _, achieved)| {
        let (both, seen) = both_of_all(achieved);
        format!("{label} {} of {}", number(both), number(seen))
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let rest = receivers.len().saturating_sub(RECEIVERS);
    let rest = if rest > 0 { format!(", and {} others", number(rest as u64)) } else { String::new() };
    vec![format!("  pairs by receiver: {told}{rest}")]
}

fn uncovered(coverage: &Coverage) -> Vec<String> {
    let uncovered = coverage.uncovered(Criterion::Pairs, 8 * EXAMPLES);
    let mut lines = Vec::new();
    let kinds = [(uncovered.open, "was not reached", false), (uncovered.ordered, "cannot be", true)];
    for (count, what, ordered) in kinds {
        if count == 0 {
            continue;
        }
        // That messages of one sender are received in order is obvious, so it is not shown.
        let plain = |example: &&Example| matches!(example.chain[..], [(_, Why::Order)]);
        let own = uncovered.examples.iter().filter(|example| example.chain.is_empty() != ordered && !plain(example));
        let told: Vec<_> = own.take(EXAMPLES).map(|example| format!("    {}", say(example))).collect();
        let such = if told.is_empty() { "" } else { ", such as" };
        lines.push(format!("  the other order {what}: {}{such}", counted(count, "pair")));
        lines.extend(told);
    }
    lines
}

fn say(Example { receiver, goal: (first, second), chain }: &Example) -> String {
    let goal = format!("{receiver} receives {first} before {second}");
    if chain.is_empty() {
        return goal;
    }
    let then = |(event, why): &(String, Why)| match why {
        Why::Cause => format!(" → {event}"),
        Why::Order => format!(" → (sent later) {event}"),
    };
    let steps: Vec<_> = chain.iter().map(then).collect();
    let way = match &steps[..] {
        [first, second, between @ .., last] if between.len() > 1 => {
            format!("{first}{second} → … ({} more){last}", between.len())
        }
        all => all.concat(),
    };
    format!("{goal}; but {second}{way}")
}
