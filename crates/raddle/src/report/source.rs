//! Guesses the name of a value from the line of the source that makes it.
//!
//! If the guess fails, the value has a less specific name, so nothing here is an error.

use std::collections::HashMap;
use std::fs;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// The source files that were read.
pub(crate) struct Sources {
    roots: Vec<PathBuf>,
    files: HashMap<&'static str, Option<Vec<String>>>,
}

/// The compiler may have run in a directory above the crate's: the workspace's. Deeper nesting is not expected.
const MOST_ROOTS: usize = 6;

/// The number of lines above the line in question that are read, for expressions that start further up.
const LINES_ABOVE: usize = 3;

impl Sources {
    /// The source files of the crate in `crate_dir`, or of the current directory.
    pub(crate) fn new(crate_dir: Option<&str>) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let above = |dir: &Path| dir.ancestors().take(MOST_ROOTS).map(Path::to_owned).collect::<Vec<_>>();
        let mut roots = crate_dir.map(|dir| above(Path::new(dir))).unwrap_or_default();
        roots.extend(above(&here));
        Self { roots, files: HashMap::new() }
    }

    /// The name of the variable, static or field that stores the value made at `site`.
    pub(crate) fn name_at(&mut self, site: &'static Location<'static>) -> Option<String> {
        let roots = &self.roots;
        let lines = self.files.entry(site.file()).or_insert_with(|| read(roots, site.file())).as_ref()?;
        let at = site.line() as usize - 1;
        let mut before: String = lines.get(at)?.chars().take(site.column() as usize - 1).collect();
        for above in 1..=LINES_ABOVE {
            if let Some(name) = name_before(&before) {
                return Some(name);
            }
            let line = lines.get(at.checked_sub(above)?)?.trim_end();
            if line.ends_with([';', '{', '}']) || line.is_empty() {
                return None;
            }
            before.insert_str(0, line);
        }
        None
    }
}

fn read(roots: &[PathBuf], file: &str) -> Option<Vec<String>> {
    let text = roots.iter().find_map(|root| fs::read_to_string(root.join(file)).ok())?;
    Some(text.lines().map(str::to_owned).collect())
}

/// The name that an expression after `before` gets: of `let name =`, `static NAME: … =`, `name: …` or `place.name =`.
fn name_before(before: &str) -> Option<String> {
    let letters: Vec<char> = before.chars().collect();
    let mut in_closure = false;
    for at in (0..letters.len()).rev() {
        let near = |distance: isize| at.checked_add_signed(distance).and_then(|i| letters.get(i)).copied();
        match letters[at] {
            '|' => in_closure = true,
            ';' | '{' | '}' => return None,
            '=' if matches!(near(-1), Some('=' | '!' | '<' | '>')) || matches!(near(1), Some('=' | '>')) => {
                return None;
            }
            '=' => {
                let target: String = letters[..at].iter().collect();
                let value: String = letters[at + 1..].iter().collect();
                return name_of_target(target.trim_end_matches(['+', '-', '*', '|', '&']), &value);
            }
            ':' if near(-1) == Some(':') || near(1) == Some(':') || in_closure => {}
            ':' => return last_word(&letters[..at].iter().collect::<String>()),
            _ => {}
        }
    }
    None
}

/// The name before a `=`. In a tuple, the name at the same position as the value.
fn name_of_target(target: &str, value: &str) -> Option<String> {
    let declared = ["let ", "static ", "const "].iter().find_map(|word| target.rsplit_once(word).map(|(_, rest)| rest));
    let Some(pattern) = declared else {
        return last_word(target);
    };
    let pattern = pattern.trim();
    if let Some(tuple) = pattern.strip_prefix('(') {
        let names = tuple.split(')').next()?;
        return first_word(names.split(',').nth(place_in_tuple(value))?);
    }
    first_word(pattern)
}

/// The number of values before the end of `value`, which is an incomplete tuple.
fn place_in_tuple(value: &str) -> usize {
    let mut depth = 0;
    let mut commas = 0;
    for letter in value.chars() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 1 => commas += 1,
            _ => {}
        }
    }
    commas
}

fn first_word(text: &str) -> Option<String> {
    let text = text.trim_start();
    let text = ["mut ", "ref "].iter().fold(text, |text, word| text.strip_prefix(word).unwrap_or(text));
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    word(&text[..end])
}

fn last_word(text: &str) -> Option<String> {
    let text = text.trim_end();
    let start =
        text.rfind(|c: char| !is_word(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    word(&text[start..])
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word(text: &str) -> Option<String> {
    let named = text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text != "_";
    named.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::name_before;

    #[test]
    fn names_are_found_where_values_go() {
        let cases = [
            ("let a = ", "a"),
            ("    let mut hits = Arc::new(", "hits"),
            ("let x: Arc<Mutex<u32>> = Arc::new(", "x"),
            ("static COUNTER: AtomicUsize = ", "COUNTER"),
            ("pub static ref_count: AtomicUsize = ", "ref_count"),
            ("Account { id, balance: ", "balance"),
            ("    balance: Arc::new(", "balance"),
            ("self.lock = ", "lock"),
            ("let (a, b) = (Mutex::new(0), ", "b"),
            ("let (a, mut b) = (", "a"),
            ("let (a, b) = (Arc::new(f(1, 2)), Arc::new(", "b"),
            ("let forks: Vec<_> = (0..3)    .map(|_| Arc::new(", "forks"),
            ("let forks: Vec<_> = (0..3).map(|n: usize| ", "forks"),
            ("let both = [Mutex::new(0), ", "both"),
        ];
        for (before, name) in cases {
            assert_eq!(name_before(before).as_deref(), Some(name), "{before}");
        }
        for before in ["", "f(", "x => ", "if a == ", "return ", "let _ = ", "let y = 2; f("] {
            assert_eq!(name_before(before), None, "{before}");
        }
    }
}
