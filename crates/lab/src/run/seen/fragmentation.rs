//! How scattered the free space of an address range is.

use crate::engine::Session;
use crate::family::Checker;
use freehold::units::Span;

/// How scattered the free space is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fragmentation {
    /// Live objects.
    pub live: u64,
    /// Free blocks.
    pub free_blocks: u64,
    /// Bytes of the largest.
    pub largest_free_bytes: u128,
    /// Bytes free.
    pub free_bytes: u128,
    /// Bytes from the start of the space to the largest free block: what the engine has spread over. (What
    /// lies behind that block was put there by a fixed address or a window.)
    pub span_bytes: u128,
    /// Bytes in use within that span.
    pub used_bytes: u128,
}

impl Fragmentation {
    /// The largest free block's part of all free bytes.
    pub fn largest_ratio(&self) -> f64 {
        self.largest_free_bytes as f64 / self.free_bytes.max(1) as f64
    }

    /// How much longer the used span is than what it holds; 1 is without holes.
    pub fn span_ratio(&self) -> f64 {
        self.span_bytes.max(1) as f64 / self.used_bytes.max(1) as f64
    }

    /// Now; `space_first` is the space's first address.
    pub(crate) fn of(session: &dyn Session, checker: &Checker, space_first: u64) -> Self {
        let mut state = Self { live: checker.live(), ..Self::default() };
        let mut largest: Option<Span> = None;
        session.free_blocks(&mut |block: Span| {
            state.free_blocks += 1;
            state.free_bytes += block.size_bytes();
            if largest.is_none_or(|largest| block.size_bytes() > largest.size_bytes()) {
                largest = Some(block);
            }
        });
        let end = largest.map_or(u64::MAX, Span::first);
        state.largest_free_bytes = largest.map_or(0, Span::size_bytes);
        state.span_bytes = u128::from(end.saturating_sub(space_first));
        state.used_bytes = checker.used_below(end);
        state
    }
}
