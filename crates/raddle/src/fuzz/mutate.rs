//! Texts that are almost right.

use raddle_engine::rng::Rng;

/// No text is longer.
const LONGEST_BYTES: usize = 1 << 16;

/// What parsers may stumble over.
const ODD: [&str; 33] = [
    "",
    "0",
    "-1",
    "1e999",
    "NaN",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999999",
    "x99999999",
    "x18446744073709551615",
    ".",
    "..=",
    ",",
    ":",
    ";",
    "=",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\0",
    "\n",
    "\u{feff}",
    "é",
    "🦀",
    "null",
    "_",
];

/// Changes one of the examples in a few places.
pub(super) fn mutate(rng: &mut Rng, examples: &[String]) -> String {
    let pick = |rng: &mut Rng| examples[rng.below(examples.len() as u32) as usize].clone().into_bytes();
    let mut text = pick(rng);
    for _ in 0..1 + rng.below(4) {
        let (from, to) = range(rng, text.len());
        match rng.below(9) {
            0 if !text.is_empty() => {
                let at = from.min(text.len() - 1);
                text[at] ^= 1 << rng.below(8);
            }
            1 => drop(text.drain(from..to)),
            2 => repeat(rng, &mut text, from, to),
            3 => text.truncate(from),
            4 => {
                let other = pick(rng);
                let (first, last) = range(rng, other.len());
                text.splice(from..to, other[first..last].iter().copied());
            }
            5 => text[from..to].reverse(),
            6 => change_number(rng, &mut text, from),
            _ => {
                let odd = ODD[rng.below(ODD.len() as u32) as usize];
                let to = from + rng.below(2) as usize * (to - from).min(odd.len());
                text.splice(from..to, odd.bytes());
            }
        }
        text.truncate(LONGEST_BYTES);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Some part of a text, mostly a short one.
fn range(rng: &mut Rng, len: usize) -> (usize, usize) {
    let from = rng.below(len as u32 + 1) as usize;
    let most = if rng.below(4) == 0 { len - from } else { (len - from).min(16) };
    (from, from + rng.below(most as u32 + 1) as usize)
}

/// Now and then very often: what is nested in itself gets deep, and what is long gets longer.
fn repeat(rng: &mut Rng, text: &mut Vec<u8>, from: usize, to: usize) {
    let most = if rng.below(8) == 0 { 14 } else { 4 };
    let times = 1 << rng.below(most);
    let part = text[from..to].repeat(times.min(LONGEST_BYTES / (to - from).max(1)));
    text.splice(from..from, part);
}

/// The first number from here on becomes another one.
fn change_number(rng: &mut Rng, text: &mut Vec<u8>, from: usize) {
    let Some(start) = text[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let end = text[start..].iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |at| start + at);
    let number = match rng.below(4) {
        0 => rng.below(4).to_string(),
        1 => rng.below(u32::MAX).to_string(),
        2 => u32::MAX.to_string(),
        _ => u64::MAX.to_string(),
    };
    text.splice(start..end, number.bytes());
}
