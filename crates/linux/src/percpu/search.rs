//! Searches the chunks: first those on the list of the request's size, then those on lists of larger sizes.

use super::class::list_of_bytes;
use super::find::{fit, place};
use super::{Kernel, Rules};
use freehold_percpu::BIT_BYTES;
use freehold_percpu::placement::{BitRequest, Chunks, End, Location, NONE};
use freehold_units::{Probe, Work};

/// A chunk on a list below this in which a request did not fit moves to the list of full ones, until its free area
/// grows.
#[doc(alias = "PCPU_SLOT_FAIL_THRESHOLD")]
const DEMOTE_BELOW: u32 = 3;

/// A place in the first chunk that has one.
pub(super) fn find<R: Rules>(
    chunks: &mut Chunks<Kernel<R>>,
    want: &BitRequest,
    probe: &mut impl Probe,
) -> Option<Location> {
    let end = chunks.lists.to_depopulate();
    let mut slot = list_of_bytes(want.bits * BIT_BYTES);
    while let Some(occupied) = chunks.lists.next_occupied(slot, end) {
        let mut index = chunks.lists.first(occupied);
        while index != NONE {
            probe.count(Work::ChunkVisited, 1);
            let next = chunks.lists.next(index);
            if let Some(from) = fit(chunks.at(index), want, probe) {
                if let Some(bit) = place::<R>(chunks.at_mut(index), from, want, probe) {
                    return Some(Location { chunk: index, bit });
                }
            } else if R::DEMOTES && occupied < DEMOTE_BELOW {
                chunks.lists.move_to(index, 0, End::Head);
            }
            index = next;
        }
        slot = occupied + 1;
    }
    None
}
