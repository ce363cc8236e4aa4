//! Comparing many sizes at once: loops of fixed length without a branch, which compilers turn into vector
//! instructions.

/// Sizes that are compared together.
pub(super) const LANES: usize = 32;

/// Which lanes hold `short` or more, the first in the lowest bit. Short sizes are below 2^31, so that they compare as
/// signed numbers, for which there are instructions everywhere.
#[inline]
fn hits(lanes: &[u32; LANES], short: u32) -> u32 {
    let mut hits = 0;
    for (lane, &room) in lanes.iter().enumerate() {
        hits |= if room as i32 >= short as i32 { 1 << lane } else { 0 };
    }
    hits
}

/// The first of the `rooms` from `from` on with `short` or more.
#[inline]
pub(super) fn first_with(rooms: &[u32], from: usize, short: u32) -> Option<usize> {
    let (all, _) = rooms.as_chunks::<LANES>();
    let mut skipped = from % LANES;
    for (at, lanes) in all.iter().enumerate().skip(from / LANES) {
        let hits = hits(lanes, short) & (u32::MAX << skipped);
        if hits != 0 {
            return Some(at * LANES + hits.trailing_zeros() as usize);
        }
        skipped = 0;
    }
    None
}

/// The rooms that a search for the first compares at once with the one at `at`.
pub(super) fn read_for(rooms: &[u32], at: usize) -> &[u32] {
    &rooms[at / LANES * LANES..][..LANES]
}

/// The last of the first `until` `rooms` with `short` or more.
#[inline]
pub(super) fn last_with(rooms: &[u32], until: usize, short: u32) -> Option<usize> {
    let (all, _) = rooms.as_chunks::<LANES>();
    let before = until.checked_sub(1)?;
    let mut spared = LANES - 1 - before % LANES;
    for (at, lanes) in all.iter().enumerate().take(before / LANES + 1).rev() {
        let hits = hits(lanes, short) & (u32::MAX >> spared);
        if hits != 0 {
            return Some(at * LANES + hits.ilog2() as usize);
        }
        spared = 0;
    }
    None
}

/// The largest of the rooms.
#[inline]
pub(super) fn most<const N: usize>(rooms: &[u32; N]) -> u32 {
    let mut most = 0;
    for &room in rooms {
        most = if room as i32 > most { room as i32 } else { most };
    }
    most as u32
}
