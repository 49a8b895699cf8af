//! A table of clocks. A clock says of each task how many of its steps are known.

/// One clock for each task or object, as rows of equal width.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    numbers: Vec<u32>,
    width: usize,
}

impl Clocks {
    /// Forgets all clocks.
    pub fn clear(&mut self) {
        self.numbers.clear();
    }

    /// How many tasks a clock has room for.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The clock at a place of a table that is indexed by task. It has room for this task.
    #[inline]
    pub fn at(&mut self, place: usize) -> &mut [u32] {
        self.at_with(place, place + 1)
    }

    /// The clock at a place, with room for at least so many tasks.
    #[inline]
    pub fn at_with(&mut self, place: usize, tasks: usize) -> &mut [u32] {
        if tasks > self.width {
            self.widen(tasks);
        }
        let end = (place + 1) * self.width;
        if self.numbers.len() < end {
            self.numbers.resize(end, 0);
        }
        &mut self.numbers[end - self.width..end]
    }

    /// The clock at a place that was accessed before.
    #[inline]
    pub fn row(&self, place: usize) -> &[u32] {
        &self.numbers[place * self.width..(place + 1) * self.width]
    }

    /// Whatever is known at `from` is known at `to`.
    pub fn join_rows(&mut self, to: usize, from: usize) {
        self.at(to.max(from));
        let (to, from) = (to * self.width, from * self.width);
        for task in 0..self.width {
            self.numbers[to + task] = self.numbers[to + task].max(self.numbers[from + task]);
        }
    }

    /// Makes the clock at a place the same as another one.
    pub fn replace(&mut self, place: usize, clock: &[u32]) {
        let mine = self.at_with(place, clock.len().max(place + 1));
        mine.fill(0);
        mine[..clock.len()].copy_from_slice(clock);
    }

    #[cold]
    fn widen(&mut self, tasks: usize) {
        let width = tasks.next_power_of_two().max(4);
        let rows = self.numbers.len().checked_div(self.width).unwrap_or(0);
        let mut numbers = vec![0; rows * width];
        for row in 0..rows {
            numbers[row * width..row * width + self.width].copy_from_slice(self.row(row));
        }
        (self.numbers, self.width) = (numbers, width);
    }
}

/// Whatever the second clock knows, the first knows too. The first has room for all that is known.
#[inline]
pub(super) fn join(clock: &mut [u32], other: &[u32]) {
    debug_assert!(other.iter().skip(clock.len()).all(|&known| known == 0), "raddle bug: a clock without room");
    clock.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}
