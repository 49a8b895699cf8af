//! How the number of goals has grown, and how many new ones are expected.

/// How many goals had been achieved after how many executions.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    points: Vec<(u64, u64)>,
}

/// The largest number of points. When there are twice as many, every second one is dropped.
const MOST_POINTS: usize = 256;

impl Growth {
    /// Adds a point.
    pub fn note(&mut self, executions: u64, goals: u64) {
        if self.points.last().is_some_and(|last| last.1 == goals) {
            return;
        }
        self.points.push((executions, goals));
        if self.points.len() == 2 * MOST_POINTS {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }

    /// Executions and goals, at some of the executions that have achieved new ones.
    #[must_use]
    pub fn points(&self) -> &[(u64, u64)] {
        &self.points
    }
}

/// The expected number of new goals in so many more executions like those so far.
///
/// After Good and Turing: the number of goals that were seen once shows how many were not seen. Chao's estimate of the number of unseen
/// goals (in the form for executions that each achieve many), and how many of these are expected in the further executions.
#[must_use]
pub fn forecast(executions: u64, seen_once: u64, seen_twice: u64, further: u64) -> f64 {
    if executions == 0 || seen_once == 0 {
        return 0.0;
    }
    let (n, once, twice) = (executions as f64, seen_once as f64, seen_twice as f64);
    let left = match seen_twice {
        0 => (n - 1.0) / n * once * (once - 1.0) / 2.0,
        _ => (n - 1.0) / n * once * once / (2.0 * twice),
    };
    if left <= 0.0 {
        return 0.0;
    }
    let chance = once / (n * left + once);
    left * (1.0 - (1.0 - chance).powf(further as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_forecast_is_close_to_the_result() {
        // Goals with very different probabilities. Compares the forecast after a hundred executions with the result of the next ones.
        let mut rng = Rng::new(1);
        let likely: Vec<f64> = (1..=400).map(|n| 0.5 / f64::from(n)).collect();
        let (mut forecasts, mut came) = (0.0, 0.0);
        for _ in 0..50 {
            let mut seen = vec![0_u64; likely.len()];
            let mut run = |seen: &mut Vec<u64>, times: u64| {
                for _ in 0..times {
                    likely.iter().zip(seen.iter_mut()).for_each(|(p, n)| *n += u64::from(rng.fraction() < *p));
                }
                seen.iter().filter(|n| **n > 0).count() as f64
            };
            let before = run(&mut seen, 100);
            let times = |k| seen.iter().filter(|n| **n == k).count() as u64;
            forecasts += forecast(100, times(1), times(2), 100);
            came += run(&mut seen, 100) - before;
        }
        assert!((0.8..1.25).contains(&(forecasts / came)), "forecast {forecasts}, came {came}");
    }

    #[test]
    fn no_new_goals_are_expected_if_all_were_seen_often() {
        assert!(forecast(1_000, 0, 0, 1_000) < f64::EPSILON);
        assert!(forecast(1, 5, 0, 10) < f64::EPSILON);
        assert!(forecast(0, 0, 0, 10) < f64::EPSILON);
    }

    #[test]
    fn growth_keeps_some_points() {
        let mut growth = Growth::default();
        (1..10_000).for_each(|n| growth.note(n, n / 2));
        assert!((MOST_POINTS..2 * MOST_POINTS).contains(&growth.points().len()));
        assert!(growth.points().is_sorted());
    }
}
