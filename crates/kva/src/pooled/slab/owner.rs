//! Who may put a slab into a list or retire it.

use super::Slab;
#[cfg(all(test, shuttle))]
use super::mutant;
use crate::atomic::Ordering;
use crate::pooled::word::Word;

impl Slab {
    /// Makes the caller the owner of a slab that has free slots and no owner. `false` if the slab is not one.
    pub(in super::super) fn try_acquire(&self) -> bool {
        let mut word = self.word();
        while word.is_live() && !word.is_owned() && word.free() != 0 {
            match self.exchange(word, word.owned(true)) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Releases ownership. Returns `false`, and the caller stays owner, if the slab has at least `list_at` free slots.
    pub(in super::super) fn release(&self, list_at: u32) -> bool {
        let list_at = self.layout().list_at(list_at);
        let mut word = self.word();
        while word.free().count_ones() < list_at {
            match self.exchange(word, word.owned(false)) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Retires the slab if all slots are free and none is resident. The caller owns it and holds the core's lock.
    pub(in super::super) fn retire(&self) -> bool {
        let word = self.word();
        debug_assert!(word.is_live() && word.is_owned(), "S4: who retires a slab owns it");
        let generation = word.generation();
        if word.free() != self.layout().all() || self.resident() != 0 {
            return false;
        }
        #[cfg(all(test, shuttle))]
        let word = mutant::word_to_retire(self, word);
        if self.exchange(word, Word::retired(generation + 1)).is_err() {
            return false;
        }
        if self.resident() == 0 {
            return true;
        }
        // A slot was held and freed between the two loads of `resident`. No thread has changed the record since the
        // exchange, and every free that was refused meanwhile was one of a free slot.
        self.word.store(Word::live(generation, word.free()).0, Ordering::Release);
        false
    }
}
