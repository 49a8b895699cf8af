//! Repeated rows, such as those of a task that spins, are shown once.

use super::paint::Tone;
use super::story::Row;
use super::verdict::number;

/// The longest block of rows that is searched for.
const LONGEST_BLOCK: usize = 8;

/// Shows each repeated block of rows once, with its number of repetitions. A block may have rows of several tasks.
pub(super) fn fold(rows: Vec<Row>) -> Vec<Row> {
    let mut folded: Vec<Row> = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let (length, times) = repeated(&rows[at..]);
        let block = &rows[at..at + length];
        folded.extend(block.iter().cloned());
        let last = folded.last_mut().expect("a block has a row");
        if times > 1 && length == 1 {
            last.text.push_str(&format!(", {} times", number(times)));
        } else if times > 1 {
            let text = format!("… these {length} rows {} times", number(times));
            let row = Row { task: last.task, text, site: String::new(), tone: Tone::Quiet };
            folded.push(row);
        }
        at += length * times as usize;
    }
    folded
}

/// The block at the start of `rows` that saves the most rows: its length, and its number of repetitions.
fn repeated(rows: &[Row]) -> (usize, u64) {
    let mut best = (1, 1, 0);
    for length in 1..=LONGEST_BLOCK.min(rows.len() / 2) {
        let same = |a: &Row, b: &Row| (a.task, &a.text, &a.site) == (b.task, &b.text, &b.site);
        let alike = rows.iter().zip(&rows[length..]).take_while(|(a, b)| same(a, b)).count();
        let times = alike / length + 1;
        // The row with the number takes the place of one row, so the block must save more than that.
        let saved = (length * (times - 1)).saturating_sub(2 * usize::from(length > 1));
        if times > 1 && saved > best.2 {
            best = (length, times, saved);
        }
    }
    (best.0, best.1 as u64)
}

#[cfg(test)]
mod tests {
    use raddle_engine::ids::TaskId;

    use super::*;

    fn folded(texts: &str) -> String {
        let row =
            |text: &str| Row { task: TaskId::MAIN, text: text.to_owned(), site: String::new(), tone: Tone::Plain };
        let rows = fold(texts.split(' ').map(row).collect());
        rows.into_iter().map(|row| row.text).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn repeated_rows_are_shown_once() {
        assert_eq!(folded("a a a b"), "a, 3 times; b");
        assert_eq!(folded("x a b a b a b c"), "x; a; b; … these 2 rows 3 times; c");
        assert_eq!(folded("a b a b c"), "a; b; a; b; c", "nothing would be saved");
        assert_eq!(folded("a b c"), "a; b; c");
        assert_eq!(folded("a a b a a b a a b"), "a; a; b; … these 3 rows 3 times");
    }
}
