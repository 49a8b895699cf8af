//! The output of the program under test, for the one execution that is shown.

use std::borrow::Cow;

/// Longer output is cut at the front: the end is more useful than the beginning.
const MOST_BYTES: usize = 64 << 10;

/// Prints the output of `which` execution between two marks; nothing if there was no output.
#[expect(clippy::print_stdout, reason = "it is the program's own output, which the harness captures")]
pub(crate) fn show(which: &str, printed: &str) {
    if let Some(text) = between_marks(which, printed) {
        println!("{text}");
    }
}

fn between_marks(which: &str, printed: &str) -> Option<String> {
    if printed.trim().is_empty() {
        return None;
    }
    let printed = printed.trim_end_matches('\n').trim_start_matches('\n');
    Some(format!("--- output of {which} ---\n{}\n--- end of output ---", shortened(printed)))
}

/// The last lines of an output that is too long.
fn shortened(printed: &str) -> Cow<'_, str> {
    let Some(surplus) = printed.len().checked_sub(MOST_BYTES).filter(|surplus| *surplus > 0) else {
        return printed.into();
    };
    let from = (surplus..printed.len()).find(|at| printed.is_char_boundary(*at)).unwrap_or(printed.len());
    let tail = &printed[from..];
    let tail = tail.find('\n').map_or(tail, |end| &tail[end + 1..]);
    format!("… {} bytes left out\n{tail}", printed.len() - tail.len()).into()
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, between_marks};

    #[test]
    fn marks_are_printed_only_around_something() {
        assert_eq!(between_marks("one execution", "\n"), None);
        let shown = between_marks("one execution", "a\nb\n").unwrap();
        assert_eq!(shown, "--- output of one execution ---\na\nb\n--- end of output ---");
    }

    #[test]
    fn the_end_of_a_long_output_is_shown() {
        let shown = between_marks("one execution", &"é and a few words\n".repeat(10_000)).unwrap();
        assert!(shown.len() < MOST_BYTES + 200, "{}", shown.len());
        assert!(shown.contains(" bytes left out\né and a few words\n"), "{}", &shown[..200]);
    }
}
