//! How a strategy writes data that only it reads: the name and version of the format, then the value.

use raddle_engine::piece::{Checkpoint, Piece};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that is written to bytes. A new version of a format has a new name.
pub(crate) trait Format: Serialize + DeserializeOwned {
    /// The name of the format, with its version.
    const NAME: &'static str;

    /// True if the parts of a decoded value fit together. The bytes may come from a damaged or edited file.
    fn is_sound(&self) -> bool;
}

/// Writes the value as a piece of a search.
pub(crate) fn part<T: Format>(stage: u32, value: &T) -> Piece {
    Piece::Part { stage, bytes: write(value) }
}

/// Reads the value from a piece. `None` if the piece is of another kind or format, or is damaged.
pub(crate) fn read_part<T: Format>(piece: &Piece) -> Option<T> {
    match piece {
        Piece::Part { bytes, .. } => read(bytes),
        Piece::Whole | Piece::Numbers { .. } => None,
    }
}

/// Writes the value as a checkpoint.
pub(crate) fn checkpoint<T: Format>(value: &T) -> Checkpoint {
    Checkpoint { bytes: write(value) }
}

/// Reads the value from a checkpoint. `None` if the checkpoint has another format, or is damaged.
pub(crate) fn read_checkpoint<T: Format>(checkpoint: &Checkpoint) -> Option<T> {
    read(&checkpoint.bytes)
}

fn write<T: Format>(value: &T) -> Vec<u8> {
    let mut bytes = T::NAME.as_bytes().to_vec();
    bytes.push(b'\n');
    postcard::to_extend(value, bytes).expect("raddle bug: a value that cannot be written")
}

fn read<T: Format>(bytes: &[u8]) -> Option<T> {
    let written = bytes.strip_prefix(T::NAME.as_bytes())?.strip_prefix(b"\n")?;
    let (value, rest): (T, _) = postcard::take_from_bytes(written).ok()?;
    (rest.is_empty() && value.is_sound()).then_some(value)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Range(u32, u32);

    impl Format for Range {
        const NAME: &'static str = "range 1";

        fn is_sound(&self) -> bool {
            self.0 <= self.1
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Other(u32, u32);

    impl Format for Other {
        const NAME: &'static str = "range 2";

        fn is_sound(&self) -> bool {
            true
        }
    }

    #[test]
    fn only_what_was_written_can_be_read() {
        let piece = part(3, &Range(1, 300));
        assert_eq!((piece.stage(), read_part(&piece)), (3, Some(Range(1, 300))));
        assert_eq!(read_part::<Other>(&piece), None, "another version");
        assert_eq!(read_part::<Range>(&part(0, &Range(2, 1))), None, "parts that do not fit");
        assert_eq!(read_part::<Range>(&Piece::Whole), None);
        let Piece::Part { bytes, .. } = piece else { panic!("{piece:?}") };
        for end in 0..bytes.len() {
            assert_eq!(read::<Range>(&bytes[..end]), None, "cut after {end} bytes");
        }
        assert_eq!(read::<Range>(&[&bytes[..], &[0]].concat()), None, "more than was written");
    }
}
