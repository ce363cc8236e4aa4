//! Searches the chunks: those on the list of the request's size first, then those on lists of more room.

use super::find::{fit, place};
use super::slots::slot_of_bytes;
use super::{Kernel, Rules};
use crate::chunk::NONE;
use crate::chunks::Chunks;
use crate::geometry::BIT_BYTES;
use crate::placement::Location;
use crate::request::CheckedRequest;
use crate::slots::End;
use freehold_units::{Probe, Work};

/// A chunk on a list below this in which a request did not fit moves to the list of full ones, until its room grows.
#[doc(alias = "PCPU_SLOT_FAIL_THRESHOLD")]
const DEMOTE_BELOW: u32 = 3;

/// A place in the first chunk that has one.
pub(super) fn find<R: Rules>(
    chunks: &mut Chunks<Kernel<R>>,
    want: &CheckedRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let end = chunks.slots.to_depopulate();
    let mut slot = slot_of_bytes(want.bits * BIT_BYTES);
    while let Some(occupied) = chunks.slots.next_occupied(slot, end) {
        let mut index = chunks.slots.first(occupied);
        while index != NONE {
            probe.count(Work::ChunkVisited, 1);
            let next = chunks.slots.next(index);
            if let Some(from) = fit(chunks.at(index), want, probe) {
                if let Some(bit) = place::<R>(chunks.at_mut(index), from, want, probe) {
                    return Some(Location { chunk: index, bit });
                }
            } else if R::DEMOTES && occupied < DEMOTE_BELOW {
                chunks.slots.move_to(index, 0, End::Head);
            }
            index = next;
        }
        slot = occupied + 1;
    }
    None
}
