//! Counting the cache lines that an operation touches.

use freehold::units::{Probe, Tally, Work};

/// Bytes of a cache line.
const LINE: usize = 64;

/// The work of an operation, and the lines that it touched, each once.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// The work.
    pub tally: Tally,
    lines: Vec<usize>,
}

impl Touched {
    /// Different cache lines; 0 for engines that do not tell.
    pub fn lines(&mut self) -> u64 {
        self.lines.sort_unstable();
        self.lines.dedup();
        self.lines.len() as u64
    }
}

impl Probe for Touched {
    fn count(&mut self, work: Work, amount: u64) {
        self.tally.count(work, amount);
    }

    fn counts_lines(&self) -> bool {
        true
    }

    fn touch<T: ?Sized>(&mut self, memory: &T) {
        let bytes = size_of_val(memory);
        let first = std::ptr::from_ref(memory).cast::<u8>().addr();
        if bytes > 0 {
            self.lines.extend(first / LINE..=(first + bytes - 1) / LINE);
        }
    }
}
