//! The fallback of a domain whose barriers are refused after some were granted, as by a filter that a program installs
//! late.
//!
//! ```text
//!   epoch     5 | 6 | 7 F | 8 F ...                    F: the flag that guards take over with the epoch
//!   slot      0 -> 5 -> 0 -> 7 F -> F -> 8 F -> F      the first guard with F has no fence yet; every one after it has
//! ```
//!
//! Only its owner may write to a slot: the owner may pause for any time between its load of the slot and its store. So
//! the flag is in the epoch. A guard publishes the epoch with its flag. When the guard leaves, its slot holds the flag
//! alone, which is not 0, so the next guard takes the path with the fence. The fast path costs no more than before.
//!
//! # Conclusions of a scan without a barrier
//! A writer has unlinked and ended epoch E, passes a fence, and scans each slot (R9):
//!
//! | It sees | So |
//! |---|---|
//! | the flag, and a stamp or none | all later guards have fences: R4 by fences. The stamp counts as always |
//! | a stamp above E, no flag | the owner loaded a later epoch, so it has seen the unlinking, whatever it has done since |
//! | a stamp of E or before, no flag | it may read: it counts as always |
//! | neither stamp nor flag, the slot is taken | nothing: its stamp may not be visible yet. This scan reclaims no record |
//! | a free slot | its next owner sees the flag, which is set under the lock under which slots are taken |
//!
//! Once all taken slots have the flag, fences are all that is needed, for good. `slot/loom_tests.rs` checks this, with
//! a mutant for each row that could be wrong. `model/refused.pml` covers the stores of a machine that delays them.

use crate::atomic::{Ordering, fence, lock};
use crate::barrier::{Barrier, Mode};
use crate::domain::Domain;
use crate::slot::{FENCES, Slot};
use freehold_sys::{SysError, fork};

impl Domain {
    /// Makes readers fence from now on, so that nothing depends on `membarrier`. Call it before a filter that refuses
    /// `membarrier` is installed, best before threads start.
    ///
    /// If nobody has read or written yet, the domain is [fenced](Self::fenced) from its start. Otherwise each thread's
    /// guards have fences from its second guard on. If `membarrier` is refused before every thread that has read has
    /// done that, or has ended, nothing is reclaimed: [`BacklogError::NoGracePeriod`](crate::BacklogError::NoGracePeriod).
    ///
    /// Cost: constant; a lock.
    pub fn use_fences(&self) {
        if fork::get_or_init(&self.barrier, || Barrier::Fences).mode() == Mode::Membarrier {
            self.flag();
        }
    }

    /// Whether guards take the flag.
    pub(crate) fn is_flagged(&self) -> bool {
        // Relaxed: a thread that must see the flag holds the lock.
        self.epoch.load(Ordering::Relaxed) & FENCES != 0
    }

    /// Makes guards take the flag from now on, and this thread's at once.
    fn flag(&self) {
        let registration = lock(&self.registration);
        // Release: the addition continues the release sequence of `Domain::advance`.
        self.epoch.fetch_or(FENCES, Ordering::AcqRel);
        drop(registration);
        #[cfg(not(all(test, loom)))]
        if let Some(slot) = self.own_slot() {
            slot.fence();
        }
    }

    /// Step 4 if step 3 was refused: the oldest epoch in which a reader is active, or `u64::MAX`. Returns the refusal
    /// if the scan is inconclusive.
    pub(crate) fn without_barrier(&self, refusal: SysError) -> Result<u64, SysError> {
        // A lack of memory may pass: only refusals lead to the fallback.
        if !refusal.is_refusal() {
            return Err(refusal);
        }
        self.flag();
        // Pairs with the fence of a reader whose slot has the flag.
        fence(Ordering::SeqCst);
        self.oldest_fenced().ok_or(refusal)
    }

    /// The scan without a barrier. `None` if it is inconclusive.
    pub(crate) fn oldest_fenced(&self) -> Option<u64> {
        let (mut oldest, mut all_fenced) = (u64::MAX, true);
        // The owner comes before the state: a thread that has lost its slot may have left a guard there.
        for (slot, is_owned) in self.slots_and_owners() {
            // One load: the flag and the stamp must come from the same state.
            let (stamp, is_fenced) = slot.stamp_and_flag();
            if stamp != 0 {
                oldest = oldest.min(stamp);
            } else if !is_fenced && is_owned {
                return None;
            }
            all_fenced &= is_fenced || !is_owned;
        }
        if all_fenced {
            // Release: pairs with the Acquire of `Domain::heavy`.
            self.all_fenced.store(true, Ordering::Release);
        }
        Some(oldest)
    }

    /// All slots, each with whether somebody can enter it.
    pub(crate) fn slots_and_owners(&self) -> impl Iterator<Item = (&Slot, bool)> {
        let values = self.slots.iter().map(|slot| (slot, slot.is_taken()));
        #[cfg(not(all(test, loom)))]
        let values = values.chain(self.threads_and_owners());
        values
    }
}
