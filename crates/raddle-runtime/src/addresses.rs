//! Tells words that are addresses from other words, so that two executions of a program can be compared.
//!
//! A value in an atomic may be a pointer, perhaps a tagged one. The allocator returns other addresses in each execution, and a correct program
//! does the same with them. But a clock value, a random number or a count must not be taken for an address. So a word counts as an address
//! only if this process has memory at that address, or had it a short time ago.

use std::cell::RefCell;

/// The allocator may return freed memory to the system. So a word this close to mapped memory counts as an address.
const NEAR: u64 = 64 << 20;

/// Pointers use so many bits. Some programs store a tag in the bits above.
const POINTER_BITS: u32 = 48;

/// Where this process has memory, as it was when it was last read.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    /// The first and last address of each mapping, extended by [`NEAR`].
    mapped: RefCell<Vec<(u64, u64)>>,
}

impl Addresses {
    /// Whether both words are addresses with the same tag, so that they may mean the same in two executions.
    pub(crate) fn are_both(&self, first: u64, second: u64) -> bool {
        first >> POINTER_BITS == second >> POINTER_BITS && self.is_mapped(first) && self.is_mapped(second)
    }

    fn is_mapped(&self, word: u64) -> bool {
        let address = word & ((1 << POINTER_BITS) - 1);
        let lies_in = |parts: &[(u64, u64)]| parts.iter().any(|(first, last)| (*first..=*last).contains(&address));
        if lies_in(&self.mapped.borrow()) {
            return true;
        }
        self.mapped.replace(mapped());
        lies_in(&self.mapped.borrow())
    }
}

/// Whether one of these addresses is in the memory for `static`s of the program. False if the system has no list of mappings.
pub(crate) fn any_is_static(mut addresses: impl Iterator<Item = u64>) -> bool {
    let exe = std::env::current_exe().ok().and_then(|exe| exe.to_str().map(str::to_owned));
    let (Some(exe), Ok(maps)) = (exe, std::fs::read_to_string("/proc/self/maps")) else { return false };
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let range = words.next().and_then(|range| range.split_once('-'));
        let range =
            range.and_then(|(from, to)| Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?)));
        let Some((from, to)) = range else { continue };
        // Memory that is initialised with zeroes has no file, and follows a mapping that has one.
        let own = line.ends_with(&exe) || words.nth(4).is_none() && parts.last().is_some_and(|last| last.1 == from);
        if own {
            parts.push((from, to));
        }
    }
    addresses.any(|address| parts.iter().any(|(from, to)| (*from..*to).contains(&address)))
}

/// The memory that is mapped now. If the system has no list of mappings, every large word may be an address.
fn mapped() -> Vec<(u64, u64)> {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else {
        return vec![(1 << 32, u64::MAX)];
    };
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let part = |line: &str| {
        let (first, end) = line.split_whitespace().next()?.split_once('-')?;
        // Smaller words always count as numbers.
        Some((hex(first)?.saturating_sub(NEAR).max(1 << 20), hex(end)?.saturating_add(NEAR)))
    };
    maps.lines().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statics_are_distinguished_from_the_heap() {
        static ZERO: std::sync::Mutex<u64> = std::sync::Mutex::new(0);
        static SEVEN: std::sync::Mutex<u64> = std::sync::Mutex::new(7);
        let heap = Box::new(std::sync::Mutex::new(7_u64));
        let at = |value: &std::sync::Mutex<u64>| std::iter::once(std::ptr::from_ref(value).addr() as u64);
        assert!(any_is_static(at(&ZERO)) && any_is_static(at(&SEVEN)));
        assert!(!any_is_static(at(&heap)));
    }

    #[test]
    fn pointers_are_distinguished_from_numbers() {
        let addresses = Addresses::default();
        let (one, other) = (Box::new(1), Box::new(2));
        let of = |place: &i32| std::ptr::from_ref(place).addr() as u64;
        let on_the_stack = std::ptr::from_ref(&addresses).addr() as u64;
        assert!(addresses.are_both(of(&one), of(&other)));
        assert!(addresses.are_both(of(&one), of(&other) | 1), "a tag in the low bits");
        assert!(addresses.are_both(of(&one) | 7 << 48, of(&other) | 7 << 48), "a tag in the high bits");
        assert!(!addresses.are_both(of(&one) | 7 << 48, of(&other) | 8 << 48), "two tags");
        assert!(addresses.are_both(of(&one), on_the_stack));
        for number in [0, 1, 1_000, 65_536, 1_000_000, 1_731_800_000_123, 1_731_800_000_123_456_789] {
            assert!(!addresses.are_both(of(&one), number), "{number}");
            assert!(!addresses.are_both(number, number + 1), "{number}");
        }
    }
}
