//! A slab with a deliberate defect, which tests must find.

use super::Slab;
use crate::pooled::word::Word;
use std::cell::Cell;

std::thread_local! {
    /// Whether this thread retires slabs whatever their word is by then, instead of the one that it has seen.
    pub(in crate::pooled) static RETIRES_ANY_WORD: Cell<bool> = const { Cell::new(false) };
}

/// The word that a slab is retired from, which was seen to be all free.
pub(super) fn word_to_retire(slab: &Slab, seen: Word) -> Word {
    if RETIRES_ANY_WORD.get() { slab.word() } else { seen }
}
