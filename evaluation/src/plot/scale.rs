//! Where values lie along an axis, and which of them are written there.

use crate::grid::grouped;

/// How values are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Equal factors lie equally far apart. Values must be positive.
    Log,
    /// Equal differences do.
    Linear,
}

/// One of the two axes.
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    kind: Kind,
    from: f64,
    to: f64,
}

impl Axis {
    /// From one value to another.
    pub fn new(label: &str, kind: Kind, from: f64, to: f64) -> Self {
        assert!(from < to && (kind == Kind::Linear || from > 0.0), "raddle bug: an axis from {from} to {to}");
        Self { label: label.to_owned(), kind, from, to }
    }

    /// The place of `value`, where the axis begins at `start` and ends at `end`.
    pub fn place(&self, value: f64, start: f64, end: f64) -> f64 {
        let part = match self.kind {
            Kind::Linear => (value - self.from) / (self.to - self.from),
            Kind::Log => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        start + part * (end - start)
    }

    /// The values that are written, and how.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let values = match self.kind {
            Kind::Linear => self.multiples(self.step()),
            // Where few powers of ten fit, two and five times one help.
            Kind::Log if (self.to / self.from).log10() < 2.5 => self.powers(&[1.0, 2.0, 5.0]),
            Kind::Log => self.powers(&[1.0]),
        };
        values.into_iter().map(|value| (value, written(value))).collect()
    }

    /// The values between those that are written.
    pub fn fine(&self) -> Vec<f64> {
        match self.kind {
            Kind::Linear => Vec::new(),
            Kind::Log => self.powers(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        }
    }

    /// A round step that makes four to ten of the whole.
    fn step(&self) -> f64 {
        let rough = (self.to - self.from) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough * 0.9).unwrap_or(rough)
    }

    fn multiples(&self, step: f64) -> Vec<f64> {
        let (first, last) = ((self.from / step - 1e-9).ceil() as i64, (self.to / step + 1e-9).floor() as i64);
        (first..=last).map(|nth| nth as f64 * step).collect()
    }

    fn powers(&self, times: &[f64]) -> Vec<f64> {
        let (first, last) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let all = (first..=last).flat_map(|power| times.iter().map(move |times| times * 10f64.powi(power)));
        all.filter(|value| (self.from * 0.999..=self.to * 1.001).contains(value)).collect()
    }
}

fn written(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{} million", value / 1e6),
        _ if value >= 1e3 => grouped(value.round() as u64),
        // As many digits as the value needs, without the noise of binary fractions.
        _ => format!("{}", (value * 1e9).round() / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::new("", Kind::Linear, 0.0, 100.0)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&Axis::new("", Kind::Linear, 0.0, 0.34)), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(&Axis::new("", Kind::Log, 0.001, 10.0)), ["0.001", "0.01", "0.1", "1", "10"]);
        assert_eq!(labels(&Axis::new("", Kind::Log, 0.5, 4.0)), ["0.5", "1", "2"]);
        let large = labels(&Axis::new("", Kind::Log, 1.0, 3e6));
        assert_eq!(large, ["1", "10", "100", "1,000", "10,000", "100,000", "1 million"]);
    }

    #[test]
    fn places_are_between_the_ends() {
        let axis = Axis::new("", Kind::Log, 1.0, 10_000.0);
        assert!((axis.place(100.0, 10.0, 30.0) - 20.0).abs() < 1e-9);
        let axis = Axis::new("", Kind::Linear, 0.0, 4.0);
        assert!((axis.place(1.0, 100.0, 0.0) - 75.0).abs() < 1e-9);
    }
}
