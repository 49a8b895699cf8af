//! Numbers as bytes, seven bits per byte. Deferred paths are stored like this, because most of their numbers are small.

/// Appends a number.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads the number at position `read` and moves `read` behind it. `None` if no complete number is there.
pub(super) fn get(bytes: &[u8], read: &mut usize) -> Option<usize> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(*read)?;
        *read += 1;
        number |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [0, 1, 127, 128, 300, 1 << 20, usize::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| put(&mut bytes, *number));
        assert_eq!(bytes.len(), 1 + 1 + 1 + 2 + 2 + 3 + 10);
        let mut read = 0;
        assert_eq!(numbers.map(|_| get(&bytes, &mut read).unwrap()), numbers);
        assert_eq!(get(&bytes, &mut read), None);
        assert_eq!(get(&[0x80; 20], &mut 0), None);
    }
}
