//! Words for the facts that a strategy reports.

use raddle_engine::facts::Fact;
use raddle_engine::thousands::thousands;

/// The fact as part of a sentence.
pub(crate) fn words(fact: &Fact) -> String {
    match fact {
        Fact::MissedAtMost { orderings, steps, probability } => format!(
            "a bug that needs {orderings} ordering{} in {} steps was missed with a chance of at most {:.1} %",
            plural(*orderings),
            thousands((*steps).into()),
            100.0 * probability
        ),
        Fact::EvenOrders { objects } => {
            let which = match objects {
                1 => "the one shared object".to_owned(),
                _ => format!("one of {objects} shared objects"),
            };
            format!("in each, all orders of what was done to {which} were about equally likely")
        }
        Fact::Drawn { chances, beyond_search, points } => drawn(chances, *beyond_search, *points),
        Fact::Skipped(0) => "no alternative was skipped".to_owned(),
        Fact::Skipped(1) => "1 alternative skipped, because its ordering had been seen".to_owned(),
        Fact::Skipped(number) => {
            format!("{} alternatives skipped, because their ordering had been seen", thousands(*number))
        }
        Fact::Orderings { known, new, pace } => {
            let what = if *known == 1 { "ordering" } else { "orderings" };
            let pace = pace
                .map(|(first, latest)| format!(" ({first} in the first hundred executions, {latest} in the latest)"));
            let [known, new] = [*known, *new].map(thousands);
            format!("{known} {what} of statements known, {new} of them learned now{}", pace.unwrap_or_default())
        }
        Fact::NoCalls => "`context` has found no calls, since the test was built without debug information: \
                          `debug = \"line-tables-only\"` in its profile is enough"
            .to_owned(),
        Fact::Followed { generated: 1, missed: None, .. } => "the 1 generated schedule was followed".to_owned(),
        Fact::Followed { generated, missed: None, .. } => {
            format!("all {} generated schedules were followed", thousands(*generated))
        }
        Fact::Followed { generated, followed, missed: Some(missed) } => format!(
            "{} of {} generated schedules were followed; in the first that was not, {missed} was not received",
            thousands(*followed),
            thousands(*generated)
        ),
        Fact::FoundWith(number, unit) => format!("found with {number} {unit}{}", plural(*number)),
        Fact::ReceivedBefore { first, second, directly } => {
            let next = if *directly { "just " } else { "" };
            format!("by a schedule in which {first} is received {next}before {second}")
        }
        Fact::InRestOfPruned => "in the rest of an execution that was pruned".to_owned(),
        Fact::Other(words) => words.clone(),
        other => format!("{other:?}"),
    }
}

fn plural(number: u32) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn drawn(chances: &[(u32, f64)], beyond_search: bool, points: u32) -> String {
    let one = |&(delays, chance): &(u32, f64)| {
        let chance = rounded_down(chance);
        match (beyond_search, delays) {
            (false, 1) => format!("an execution with 1 delay had probability ≥ {chance} to be drawn"),
            (false, _) => format!("with {delays} delays ≥ {chance}"),
            (true, 0) => format!("what comes next where the search left off had probability ≥ {chance} to be drawn"),
            (true, 1) => format!("an execution with 1 delay more ≥ {chance}"),
            (true, _) => format!("with {delays} ≥ {chance}"),
        }
    };
    let all = chances.iter().map(one).collect::<Vec<_>>().join(", ");
    let points = if points == 1 { "1 point".to_owned() } else { format!("{} points", thousands(points.into())) };
    format!("{all}, if none has more than {points} to choose at")
}

/// Two significant digits, or up to four nines. Never rounded up: no probability is 1.
fn rounded_down(chance: f64) -> String {
    let (small, most) = if chance < 0.9 { (chance, 12.0) } else { (1.0 - chance, 4.0) };
    let digits = (1.0 - small.log10().floor()).clamp(2.0, most);
    let scale = 10_f64.powf(digits);
    let shown = (chance * scale).floor().min(scale - 1.0) / scale;
    format!("{shown:.*}", digits as usize)
}

#[cfg(test)]
mod tests {
    use raddle_engine::strategy::Unit;

    use super::*;

    #[test]
    fn chances_by_delays() {
        let chances = vec![(1, 0.999_99), (2, 0.804)];
        let told = words(&Fact::Drawn { chances, beyond_search: false, points: 5 });
        let wanted = "an execution with 1 delay had probability ≥ 0.9999 to be drawn, with 2 delays ≥ 0.80, if none has more \
                      than 5 points to choose at";
        assert_eq!(told, wanted);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(words(&Fact::FoundWith(1, Unit::Delay)), "found with 1 delay");
        assert_eq!(words(&Fact::FoundWith(0, Unit::Preemption)), "found with 0 preemptions");
    }

    #[test]
    fn nothing_is_rounded_up() {
        let shown = [0.999, 0.8999, 0.123_9, 0.000_129_9, 0.95].map(rounded_down);
        assert_eq!(shown, ["0.9990", "0.89", "0.12", "0.00012", "0.950"]);
        assert_eq!([1.0, 1.0 - 1e-16].map(rounded_down), ["0.9999", "0.9999"]);
    }
}
