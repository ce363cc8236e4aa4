//! FNV-1a: over 64-bit words the hash of the recorded digests, over bytes that of files.

use crate::{TraceError, open};
use std::path::Path;

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
        self.bytes(&word.to_le_bytes());
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// The hash of a file's content, decompressed, in hexadecimal.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_file(file: &Path) -> Result<String, TraceError> {
        let failed = |reason| TraceError::Open { file: file.to_owned(), reason };
        let (mut reader, mut hash) = (open(file).map_err(failed)?, Self::default());
        loop {
            let bytes = reader.fill_buf().map_err(failed)?;
            if bytes.is_empty() {
                return Ok(format!("{:016x}", hash.value()));
            }
            hash.bytes(bytes);
            let count = bytes.len();
            reader.consume(count);
        }
    }

    /// The hash of what was added.
    pub fn value(self) -> u64 {
        self.0
    }
}
