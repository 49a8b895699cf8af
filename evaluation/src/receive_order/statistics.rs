//! Means, and how far they can be trusted.

/// A mean with the half of its confidence interval, by Student's distribution at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The arithmetic mean.
    pub mean: f64,
    /// The interval reaches so far to either side; `None` of fewer than two values.
    pub half: Option<f64>,
}

/// Student's t for 95 %, two-sided, by degrees of freedom from 1 on.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Of more values than are in the table.
const NORMAL: f64 = 1.96;

impl Mean {
    /// Of these values, of which there must be one.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let freedom = values.len().saturating_sub(1);
        let half = (freedom > 0).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            STUDENT.get(freedom - 1).unwrap_or(&NORMAL) * (squares / freedom as f64 / n).sqrt()
        });
        Self { mean, half }
    }

    /// In words, each number as `say` says it.
    pub fn text(&self, say: impl Fn(f64) -> String) -> String {
        match self.half {
            Some(half) if half > 0.0 => format!("{} ± {}", say(self.mean), say(half)),
            _ => say(self.mean),
        }
    }
}

/// The geometric mean of positive values; `None` of none.
pub fn geometric(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.into_iter().map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_books() {
        // Mean 5, sample variance 32 / 7, t of seven degrees 2.365.
        let mean = Mean::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((mean.mean - 5.0).abs() < 1e-12);
        assert!((mean.half.expect("of eight values") - 1.7877).abs() < 1e-3, "{mean:?}");
        assert_eq!(Mean::of([3.0]), Mean { mean: 3.0, half: None });
    }

    #[test]
    fn geometric_means() {
        assert!((geometric([1.0, 4.0, 16.0]).expect("of three") - 4.0).abs() < 1e-12);
        assert_eq!(geometric([]), None);
    }
}
