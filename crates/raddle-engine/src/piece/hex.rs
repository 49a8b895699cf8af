//! Bytes in a file, as two hexadecimal digits each: a list of numbers would take twice as much.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(in crate::piece) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    let digit = |half: u8| char::from_digit(half.into(), 16).expect("half a byte is one digit");
    to.serialize_str(&bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>())
}

pub(in crate::piece) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    let byte = |pair: &[u8]| {
        let [high, low] = pair else { return None };
        let digit = |letter: u8| char::from(letter).to_digit(16);
        u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
    };
    text.as_bytes()
        .chunks(2)
        .map(byte)
        .collect::<Option<_>>()
        .ok_or_else(|| D::Error::custom("no bytes in hexadecimal"))
}
