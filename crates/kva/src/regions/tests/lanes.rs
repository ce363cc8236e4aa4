//! The answers of a leaf's lanes against its entries read one by one.

use super::super::GranuleRequest;
use super::super::leaf::far::high_halves;
use super::super::leaf::{Entry, Leaf, WIDTH};
use super::wanted;
use crate::bplus::LeafNode;
use crate::regions::RegionAttrs;
use proptest::prelude::*;
use std::vec::Vec;

/// An entry: its start, one past its end, where its gap ends, and whether it is a region.
type Known = (u128, u128, u128, bool);

const TOP: u128 = 1 << 64;

fn empty(first: u128, is_far: bool) -> Leaf<()> {
    Leaf::starting_at(first as u64, is_far.then(|| high_halves().unwrap()))
}

/// Entries in order from a first granule on, as far as one leaf reaches.
fn entries(first: u128, is_far: bool, parts: &[(u64, u64, u64, bool)]) -> Vec<Known> {
    let mut known = Vec::new();
    let (mut at, leaf) = (first, empty(first, is_far));
    for &(length, gap, hole, is_region) in parts {
        let start = if is_region { at } else { at + 1 + u128::from(hole) };
        let end = start + if is_region { u128::from(length) } else { 0 };
        let next = (end + u128::from(gap)).min(TOP);
        if end > TOP || start >= TOP || !leaf.reaches(start as u64) {
            break;
        }
        known.push((start, end, next, is_region));
        at = next;
    }
    known
}

/// Room of a gap at an alignment: how much of it lies behind its first multiple.
fn usable_gap((_, end, next, _): &Known, align: u128) -> u128 {
    next.saturating_sub(end.next_multiple_of(align))
}

/// A leaf of these entries, in the slots that `order` says.
fn leaf_of(first: u128, is_far: bool, known: &[Known]) -> Leaf<()> {
    let mut leaf = empty(first, is_far);
    for &(start, end, next, is_region) in known {
        let value = is_region.then_some(());
        leaf.push(Entry { start: start as u64, end, next, terms: RegionAttrs::default(), value });
    }
    leaf
}

fn check_places(leaf: &Leaf<()>, known: &[Known], wanted: &GranuleRequest) {
    let (size, align) = (u128::from(wanted.size), u128::from(wanted.mask) + 1);
    let lowest = known.iter().enumerate().filter_map(|(slot, entry)| {
        let place = entry.1.max(wanted.first.into()).next_multiple_of(align);
        (place + size <= entry.2).then_some((place, slot))
    });
    assert_eq!(leaf.lowest(wanted), lowest.min().map(|(place, slot)| (slot, place as u64)), "{wanted:?}");
    let highest = known.iter().enumerate().filter_map(|(slot, entry)| {
        let end = entry.2.min(u128::from(wanted.last) + 1);
        let place = end.checked_sub(size)? / align * align;
        (place >= entry.1).then_some((place, slot))
    });
    let highest = highest.max().filter(|&(place, _)| place >= wanted.first.into());
    assert_eq!(leaf.highest(wanted), highest.map(|(place, slot)| (slot, place as u64)), "{wanted:?}");
}

/// An address below the base belongs to another leaf, or to none.
fn check_addresses(leaf: &Leaf<()>, known: &[Known], granule: u128) {
    let at = |slot: usize| known[slot];
    let region = known.iter().find(|entry| entry.3 && entry.0 <= granule && granule < entry.1);
    assert_eq!(leaf.region_at(granule as u64).map(|(slot, _)| at(slot)), region.copied());
    let gap = known.iter().filter(|entry| entry.1 <= granule).max_by_key(|entry| entry.1);
    assert_eq!(leaf.gap_at_or_below(granule as u64).map(at), gap.copied());
    if leaf.reaches(granule as u64) {
        let (region, before) = match leaf.is_far() {
            false => leaf.region_and_before(leaf.lane_of(granule as u64).unwrap()),
            true => leaf.far_region_and_before(granule as u64),
        };
        assert_eq!(region.map(at), known.iter().find(|entry| entry.3 && entry.0 == granule).copied());
        if let Some(region) = region {
            let ends_there = known.iter().find(|entry| entry.2 == at(region).0).copied();
            assert_eq!(before.map(at), ends_there);
        }
    }
}

fn lengths() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 1u64..9, 2 => 1u64..5000, 1 => (0u32..64).prop_map(|shift| 1 << shift)]
}

fn gaps() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(0), 12 => lengths()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn lanes_say_what_entries_do(
        first in prop_oneof![
            Just(0u128),
            (0u32..64, 0u128..99).prop_map(|(shift, more)| (1 << shift) + more),
            (1u128..5000).prop_map(|less| TOP - less),
            (25u32..28).prop_map(|shift| TOP - (1 << shift)),
        ],
        parts in prop::collection::vec((lengths(), gaps(), gaps(), prop::bool::weighted(0.8)), 1..=WIDTH),
        is_far in prop::bool::weighted(0.3),
        seed in any::<u64>(),
        asked in prop::collection::vec((lengths(), 0u32..64, any::<u8>(), any::<u8>(), 0u64..4), 1..12),
    ) {
        let mut known = entries(first, is_far, &parts);
        if known.is_empty() {
            return Ok(());
        }
        let edges: Vec<u128> = known.iter().flat_map(|entry| [entry.0, entry.1, entry.2]).collect();
        known.sort_by_key(|entry| (entry.0 as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7);
        let leaf = leaf_of(first, is_far, &known);
        for granule in edges.iter().flat_map(|&edge| [edge.saturating_sub(1), edge, edge + 1]) {
            check_addresses(&leaf, &known, granule.clamp(leaf.base.into(), TOP - 1));
        }
        let edge = |pick: u8| edges[usize::from(pick) % edges.len()];
        for &(size, align, from, until, off) in &asked {
            let (a, b) = (edge(from).saturating_sub(off.into()), edge(until) + u128::from(off));
            let (from, until) = (a.min(b).min(TOP - 1), (a.max(b) + 1).min(TOP));
            // Alignments of the lanes' kind, and any.
            for align in [0, align % 13, align] {
                for window in [(from, until), (0, TOP)] {
                    check_places(&leaf, &known, &wanted(0, size, align, window).unwrap());
                }
                let most = known.iter().map(|entry| usable_gap(entry, 1 << align)).max().unwrap();
                let mask = (1u64 << align) - 1;
                prop_assert_eq!(u128::from(leaf.largest_usable_gap(mask)), most.min(u64::MAX.into()));
            }
        }
    }
}
