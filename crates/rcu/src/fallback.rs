//! What a domain does when barriers are refused that were granted before, as by a filter that a program installs late.
//!
//! ```text
//!   epoch     5 | 6 | 7 F | 8 F ...                    F: the flag that guards take over with the epoch
//!   slot      0 -> 5 -> 0 -> 7 F -> F -> 8 F -> F      the first guard with F has no fence yet; every one after it has
//! ```
//!
//! Nobody but its owner may write to a slot: an owner is between its look at the slot and its store for as long as it likes. So the
//! flag is in the epoch. A guard publishes the epoch, flag and all; when it leaves, its slot holds the flag alone, which is not 0, so
//! that the next guard goes the way with the fence. The usual guard costs what it did.
//!
//! # What a look tells without a barrier
//! A writer has unlinked and ended epoch E, passes a fence, and looks at each slot (R9):
//!
//! | It sees | So |
//! |---|---|
//! | the flag, and a stamp or none | all later guards have fences: R4 by fences. The stamp counts as always |
//! | a stamp above E, no flag | the owner loaded a later epoch, so it has seen the unlinking, whatever it does since |
//! | a stamp of E or before, no flag | it may read: it counts as always |
//! | neither stamp nor flag, the slot is taken | nothing: its stamp may be on its way. No record comes back by this look |
//! | a free slot | who takes it sees the flag, since it is set under the lock under which slots are taken |
//!
//! Once all slots that are taken have the flag, fences are all that is needed, for good. `slot/loom_tests.rs` has this with each row
//! that could be wrong as a mutant, and `model/refused.pml` for the stores of a machine that waits.

use crate::atomic::{Ordering, fence, lock};
use crate::barrier::{Barrier, Mode};
use crate::domain::Domain;
use crate::slot::FENCES;
use freehold_sys::{SysError, fork};

impl Domain {
    /// Has readers fence from now on, so that nothing depends on `membarrier`. To be called before a filter that refuses it is
    /// installed, best before threads start.
    ///
    /// If nobody has read or written yet, the domain is [fenced](Self::fenced) from its start. Otherwise each thread's guards have fences
    /// from its second guard on. Where `membarrier` is refused before every thread that has read did that, or has ended, nothing comes
    /// back: [`BacklogError::Barrier`](crate::BacklogError::Barrier).
    ///
    /// Cost: constant; a lock.
    pub fn use_fences(&self) {
        if fork::get_or_init(&self.barrier, || Barrier::Fences).mode() == Mode::Membarrier {
            self.flag();
        }
    }

    /// Whether guards take the flag.
    pub(crate) fn is_flagged(&self) -> bool {
        // Relaxed: who must see it has the lock.
        self.epoch.load(Ordering::Relaxed) & FENCES != 0
    }

    /// Has guards take the flag from now on, and this thread's at once.
    fn flag(&self) {
        let registration = lock(&self.registration);
        // Release: the addition goes on in the release sequence of `Domain::advance`.
        self.epoch.fetch_or(FENCES, Ordering::AcqRel);
        drop(registration);
        #[cfg(not(all(test, loom)))]
        crate::thread::fence_own(self);
    }

    /// Step 4 where step 3 was refused: the oldest epoch in which somebody reads, or `u64::MAX`; or the refusal, if a look does not tell.
    pub(crate) fn without_barrier(&self, refusal: SysError) -> Result<u64, SysError> {
        // What lacks memory this time does not the next.
        if !refusal.is_refusal() {
            return Err(refusal);
        }
        self.flag();
        // Pairs with the fence of a reader whose slot has the flag.
        fence(Ordering::SeqCst);
        self.oldest_fenced().ok_or(refusal)
    }

    /// The look without a barrier; `None` if it does not tell.
    pub(crate) fn oldest_fenced(&self) -> Option<u64> {
        let (mut oldest, mut all_fenced) = (u64::MAX, true);
        for slot in self.slots.iter() {
            // Once: the flag and the stamp are of one state.
            let (stamp, is_fenced) = slot.stamp_and_flag();
            if stamp != 0 {
                oldest = oldest.min(stamp);
            } else if !is_fenced && slot.is_taken() {
                return None;
            }
            all_fenced &= is_fenced || !slot.is_taken();
        }
        if all_fenced {
            // Release: pairs with the Acquire of `Domain::heavy`.
            self.all_fenced.store(true, Ordering::Release);
        }
        Some(oldest)
    }
}
