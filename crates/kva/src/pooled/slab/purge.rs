//! A purge: it holds free resident slots while their pages are given back.

use super::Slab;
use crate::atomic::Ordering;

impl Slab {
    /// Claims the highest free resident slots for a purge, until they total `budget_bytes`. The caller holds the
    /// purge's lock, so one purge at a time claims. `None` if no slot qualifies, or an unfinished purge holds slots of
    /// the slab.
    pub(in super::super) fn claim_resident(&self, budget_bytes: u64) -> Option<u32> {
        let mut word = self.word();
        while word.is_live() && !word.is_purging() {
            let mut claimed = word.free() & self.resident();
            let most = budget_bytes.div_ceil(self.layout().slot_bytes);
            while u64::from(claimed.count_ones()) > most {
                claimed &= claimed - 1;
            }
            if claimed == 0 {
                return None;
            }
            // Stored before the exchange, whose Release makes it visible to every thread that sees the new word.
            // Release: pairs with `claimed`.
            self.claimed.store(claimed, Ordering::Release);
            match self.exchange(word, word.with_free(word.free() & !claimed).purging(true)) {
                Ok(()) => return Some(claimed),
                Err(now) => word = now,
            }
        }
        None
    }

    /// Ends a purge that `claim_resident` began: its slots are free again, and decommitted if `purged`. Returns whether
    /// the caller now owns the slab: a decommitted extent, or a slab without an owner that has at least `list_at` free
    /// slots.
    pub(in super::super) fn end_purge(&self, purged: bool, list_at: u32) -> bool {
        let claimed = self.claimed();
        if purged {
            self.decommitted(claimed);
        }
        let (is_extent, list_at) = (self.layout().class.is_none(), self.layout().list_at(list_at));
        let mut word = self.word();
        loop {
            debug_assert!(word.is_purging() && word.free() & claimed == 0, "S2: the purge holds its slots");
            let free = word.free() | claimed;
            let owned = !is_extent && !word.is_owned() && free.count_ones() >= list_at;
            match self.exchange(word, word.with_free(free).purging(false).owned(owned || word.is_owned())) {
                Ok(()) => return owned || is_extent && purged,
                Err(now) => word = now,
            }
        }
    }
}
