//! FNV-1a over 64-bit words, the hash of the recorded digests.

/// A running FNV-1a 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a word as 8 little-endian bytes.
    pub fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// The hash of what was added.
    pub fn value(self) -> u64 {
        self.0
    }
}
