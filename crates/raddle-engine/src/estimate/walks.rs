//! The mean over random walks, and how far off it may be.

use crate::estimate::Estimate;

/// What random walks stand for: each for so many orders, and their mean for the number there is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walks {
    walks: u64,
    mean: f64,
    /// Sum of squared differences from the mean.
    squares: f64,
    /// Sum of cubed differences from the mean.
    cubes: f64,
}

impl Walks {
    /// Takes in a walk that stands for `orders`: the product of the alternatives along it if each was equally likely, and in
    /// general one over the probability of the walk.
    pub fn add(&mut self, orders: f64) {
        self.merge(&Self { walks: 1, mean: orders, squares: 0.0, cubes: 0.0 });
    }

    /// Takes in the walks of another.
    pub fn merge(&mut self, other: &Self) {
        if other.walks == 0 {
            return;
        }
        let (mine, theirs) = (self.walks as f64, other.walks as f64);
        let all = mine + theirs;
        let apart = other.mean - self.mean;
        self.cubes += other.cubes
            + apart.powi(3) * mine * theirs * (mine - theirs) / (all * all)
            + 3.0 * apart * (mine * other.squares - theirs * self.squares) / all;
        self.squares += other.squares + apart * apart * mine * theirs / all;
        self.mean += apart * theirs / all;
        self.walks += other.walks;
    }

    /// How many walks there were.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.walks
    }

    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.walks == 0
    }

    /// What the walks tell; `None` before the second.
    ///
    /// The error is two standard errors. Where few walks carry much of the weight there are more of that kind that were not
    /// met, and two standard errors would promise too much: it is widened by the skewness of the mean.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        if self.walks < 2 || !self.mean.is_finite() || !self.squares.is_finite() {
            return None;
        }
        let walks = self.walks as f64;
        let deviation = (self.squares / (walks - 1.0)).sqrt();
        let skewness = if deviation > 0.0 { (self.cubes / walks / deviation.powi(3)).max(0.0) } else { 0.0 };
        let widened = if skewness.is_finite() { 1.0 + skewness / walks.sqrt() } else { 1.0 };
        let error = 2.0 * widened * deviation / walks.sqrt() / self.mean;
        Some(Estimate { orders: self.mean, error: Some(error) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moments_are_those_of_the_definition() {
        let orders = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let mut walks = Walks::default();
        orders.iter().for_each(|&it| walks.add(it));
        let mean = orders.iter().sum::<f64>() / 8.0;
        let power = |n| orders.iter().map(|it| (it - mean).powi(n)).sum::<f64>();
        assert!((walks.mean - mean).abs() < 1e-12 && (walks.squares - power(2)).abs() < 1e-9);
        assert!((walks.cubes - power(3)).abs() < 1e-9, "{} for {}", walks.cubes, power(3));
    }

    #[test]
    fn walks_of_several_workers_are_as_good_as_those_of_one() {
        let [mut whole, mut first, mut second] = [Walks::default(); 3];
        for (place, orders) in [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0].into_iter().enumerate() {
            whole.add(orders);
            if place < 3 { first.add(orders) } else { second.add(orders) }
        }
        first.merge(&second);
        first.merge(&Walks::default());
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * a.abs().max(1.0);
        assert!(first.walks == whole.walks && near(first.mean, whole.mean));
        assert!(near(first.squares, whole.squares) && near(first.cubes, whole.cubes), "{first:?} for {whole:?}");
    }

    #[test]
    fn a_few_heavy_walks_make_the_error_larger() {
        let error = |heavy: f64, light: f64| {
            let mut walks = Walks::default();
            (0..100).for_each(|at| walks.add(if at % 50 == 0 { heavy } else { light }));
            walks.estimate().and_then(|it| it.error).expect("two walks are enough")
        };
        // The same spread, to one side and to the other.
        assert!(error(101.0, 51.0) > 1.3 * error(1.0, 51.0), "{} {}", error(101.0, 51.0), error(1.0, 51.0));
    }
}
