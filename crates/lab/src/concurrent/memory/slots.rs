//! `reset`: slots that are taken, made dirty here and there, and made zero again.

use super::engines::{KEPT, VMALLOC, ours};
use super::held::PAGE;
use super::rounds::{Took, Turn, in_rounds};
use super::{Bench, SUITE};
use crate::concurrent::{Who, apart};
use freehold::vmalloc::{Slot, SlotLayout, Slots};
use freehold_harness::memory::Pages;
use freehold_sys::SysError;
use std::ops::Range;

/// Slots that are held at once.
pub const SLOTS: usize = 64;
/// Bytes of a slot.
pub const SLOT_BYTES: usize = 1 << 20;
/// Pages of each that are dirty.
const DIRTY: usize = 8;

/// Resets a part of a mapping.
type Reset = fn(&mut Pages, Range<usize>) -> Result<(), SysError>;
/// Who has slots: ours; a mapping whose slots are given back to the system, and one of which the system is asked which pages
/// have memory.
pub const ENTRIES: [(Who, Option<Reset>); 3] = [
    (Who::default(VMALLOC), None),
    (Who::other("dontneed"), Some(Pages::discard)),
    (Who::other("scan-each"), Some(Pages::clear)),
];

/// What is done: whether the same pages are dirty each time, and whether a turn is one reset only.
pub const OPS: [(&str, bool, bool); 3] =
    [("in a row", true, false), ("between others", true, true), ("other pages each time", false, false)];

/// The pages of a slot that are dirty, of three sets one after the other, or always of the first.
fn dirty(time: usize, same: bool) -> [usize; DIRTY] {
    let set = if same { 0 } else { time % 3 };
    std::array::from_fn(|at| (at * 31 + set * 7) % (SLOT_BYTES / PAGE) * PAGE)
}

/// A round of slots: takes all, lets each be used, and gives all back.
pub type Round<'a> = dyn FnMut(&mut dyn FnMut(&mut [u8])) -> anyhow::Result<()> + 'a;

/// Rounds of ours.
fn pooled<'a>(pool: &'a Slots<'a>) -> Box<Round<'a>> {
    let mut held: Vec<Slot<'a>> = Vec::with_capacity(SLOTS);
    Box::new(move |each| {
        for _ in 0..SLOTS {
            held.push(pool.get()?);
        }
        held.iter_mut().for_each(|slot| each(slot));
        held.clear();
        Ok(())
    })
}

/// Rounds of a mapping.
fn plain(reset: Reset) -> anyhow::Result<Box<Round<'static>>> {
    let mut pages = Pages::new(SLOTS * SLOT_BYTES)?;
    Ok(Box::new(move |each| {
        pages.chunks_exact_mut(SLOT_BYTES).for_each(each);
        (0..SLOTS).try_for_each(|slot| reset(&mut pages, slot * SLOT_BYTES..(slot + 1) * SLOT_BYTES))?;
        Ok(())
    }))
}

/// Whether all slots are apart and zero each time, whatever was written.
pub fn check(round: &mut Round<'_>) -> anyhow::Result<()> {
    let zeros = vec![0; SLOT_BYTES];
    for time in 0..4 {
        let (mut spans, mut zero) = (Vec::new(), true);
        round(&mut |slot| {
            zero &= *slot == zeros[..];
            spans.push((slot.as_ptr().addr() as u64, SLOT_BYTES as u64));
            dirty(time, false).into_iter().for_each(|at| slot[at] = 1);
            slot[SLOT_BYTES - 1] = 1;
        })?;
        anyhow::ensure!(zero && spans.len() == SLOTS, "a slot is not zero");
        apart(spans.into_iter())?;
    }
    Ok(())
}

pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let vm = ours(KEPT)?;
    for (op, same, once) in OPS {
        // Looking at all pages leaves marks in page tables, so what is timed is not what was checked.
        for timed in [false, true] {
            let pool = vm.slots(&SlotLayout::new(SLOT_BYTES).count(SLOTS as u64))?;
            let mut turns = Vec::new();
            for (who, reset) in bench.wanted(ENTRIES) {
                let mut round = match reset {
                    None => pooled(&pool),
                    Some(reset) => plain(reset)?,
                };
                if !timed {
                    check(round.as_mut()).map_err(|wrong| wrong.context(who.label()))?;
                    continue;
                }
                let (key, mut time) = (who.key(SUITE, "reset", op), 0);
                let run = move |count: usize| {
                    // This thread goes on where it was, with its caches.
                    Took::here(|| {
                        (0..count).try_for_each(|_| {
                            time += 1;
                            let pages = dirty(time, same);
                            round(&mut |slot| pages.into_iter().for_each(|at| slot[at] = 1))
                        })
                    })
                };
                turns.push(Turn { key, threads: 1, each: SLOTS, run: Box::new(run) });
            }
            in_rounds(bench, &format!("reset: {op}"), once, bench.amount.rounds, turns)?;
        }
    }
    Ok(())
}
