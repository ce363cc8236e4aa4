//! The hash in which logs and streams summarise many answers, or a whole tree.

/// A hash over a sequence of words; its order counts.
///
/// ```
/// use freehold_trace::maple::Digest;
/// let mut digest = Digest::default();
/// assert_eq!(digest.value(), 0xcbf29ce484222325);
/// digest.push(1);
/// assert_ne!(digest.value(), 0xcbf29ce484222325);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    hash: u64,
}

impl Default for Digest {
    fn default() -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325 }
    }
}

impl Digest {
    /// Adds a word.
    #[inline]
    pub fn push(&mut self, word: u64) {
        let hash = (self.hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.hash = hash ^ (hash >> 32);
    }

    /// The hash of the words so far.
    #[must_use]
    pub fn value(self) -> u64 {
        self.hash
    }
}
