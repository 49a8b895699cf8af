//! A hash that is the same in every build: FNV-1a with 64 bits.

/// The hash of the numbers that were added, in their order.
pub(super) struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub(super) fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash of a text.
    pub(super) fn of(text: &str) -> u64 {
        let mut hash = Self::default();
        text.bytes().for_each(|byte| hash.add(u64::from(byte)));
        hash.get()
    }

    pub(super) fn get(&self) -> u64 {
        self.0
    }
}
