//! A cache of the hashes of message labels: few static strings, found by their address.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::actor::digest::{digest, mix};

/// Hashes of labels. Shared by all executions of a model; a copy of the model begins with nothing.
pub(crate) struct Labels([LabelEntry; PLACES]);

/// The address of a label, mixed with its hash, and the hash. An entry that is read while another thread writes it does not match any label.
#[derive(Default)]
struct LabelEntry([AtomicU64; 2]);

/// More than a program of actors has.
const PLACES: usize = 64;

impl Labels {
    /// A hash of the label of a message and its variant.
    #[inline]
    pub(crate) fn type_of_message<M>(&self, message: &M, label: &'static str) -> u64 {
        mix(self.digest(label), digest(&std::mem::discriminant(message)))
    }

    /// The hash of a label.
    #[inline]
    pub(crate) fn digest(&self, label: &'static str) -> u64 {
        let start = label.as_ptr().addr();
        let key = start as u64 ^ (label.len() as u64) << 48;
        let LabelEntry([mixed, hash]) = &self.0[(start ^ start >> 6 ^ label.len() << 2) % PLACES];
        let known = hash.load(Relaxed);
        if mixed.load(Relaxed) == sealed(key, known) {
            return known;
        }
        let known = digest(label);
        mixed.store(sealed(key, known), Relaxed);
        hash.store(known, Relaxed);
        known
    }
}

impl Default for Labels {
    fn default() -> Self {
        Self(std::array::from_fn(|_| LabelEntry::default()))
    }
}

impl Clone for Labels {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Hardly ever 0, which is the value of empty entries.
#[inline]
fn sealed(key: u64, hash: u64) -> u64 {
    !(key ^ hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_returns_the_hash_of_each_label() {
        // More labels than entries, so that several share an entry.
        let text: &'static str =
            "a label of a message, as long as it takes to have more of them than there are places to keep them in";
        let labels = Labels::default();
        for _ in 0..3 {
            for end in 1..=text.len() {
                for part in [&text[..end], &text[end..]] {
                    assert_eq!(labels.digest(part), digest(part), "{part}");
                }
            }
        }
    }
}
