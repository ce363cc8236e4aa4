use super::Sizes;
use super::keys::usable_gap_of;
use freehold_units::{Span, Tally, Work};
use proptest::prelude::*;
use std::vec::Vec;

fn block(first: u64, size: u64) -> Span {
    Span::from_size(first, size).unwrap()
}

/// The expected result of a walk, by a scan of every block.
fn expected(blocks: &[Span], size: u64, mask: u64) -> Vec<Span> {
    let mut found: Vec<Span> =
        blocks.iter().copied().filter(|&block| usable_gap_of(block, mask) >= size).collect();
    found.sort_by_key(|block| (block.size_bytes(), block.first()));
    found
}

fn walked(sizes: &Sizes, size: u64, mask: u64) -> Vec<Span> {
    let mut walk = sizes.ascending(size, mask, &mut ());
    core::iter::from_fn(|| walk.next(&mut ())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Blocks that come and are cut; walks for alignments that have bounds of their own and for others.
    #[test]
    fn walks_find_every_block_with_a_place(
        steps in prop::collection::vec((any::<bool>(), 0u64..4000, 1u64..60, 0u32..7), 1..800),
    ) {
        let mut sizes = Sizes::of(core::iter::empty(), 0).unwrap();
        let mut blocks: Vec<Span> = Vec::new();
        for (at, (comes, place, size, order)) in steps.into_iter().enumerate() {
            sizes.reserve(1).unwrap();
            let whole = block(64 * place, size);
            match blocks.iter().position(|known| known.overlaps(whole)) {
                None if comes => {
                    sizes.join(whole, whole);
                    blocks.push(whole);
                }
                Some(at) => {
                    let whole = blocks.swap_remove(at);
                    let taken = block(whole.first() + whole.size_saturating() / 2, 1);
                    sizes.cut(whole, taken);
                    blocks.extend(whole.below(taken).into_iter().chain(whole.above(taken)));
                }
                None => {}
            }
            let mask = (1 << order) - 1;
            if at % 3 == 0 {
                sizes.learn(mask);
            }
            if at % 16 == 0 {
                sizes.validate(blocks.iter().copied()).unwrap();
            }
            prop_assert_eq!(walked(&sizes, size, mask), expected(&blocks, size, mask));
        }
        sizes.validate(blocks.iter().copied()).unwrap();
    }
}

#[test]
fn the_whole_space_is_a_block() {
    let sizes = Sizes::of([Span::ALL].into_iter(), 1).unwrap();
    assert_eq!(walked(&sizes, u64::MAX, 0), [Span::ALL]);
    assert_eq!(walked(&sizes, 1 << 63, (1 << 63) - 1), [Span::ALL]);
    sizes.validate([Span::ALL].into_iter()).unwrap();
}

/// Of 100,000 blocks that are large enough but misaligned, none is visited twice.
#[test]
fn misaligned_blocks_are_passed_by_their_bounds() {
    let misaligned = (0..100_000).map(|at| block(64 * at + 1, 20));
    let aligned = block(6_400_000, 40);
    let mut sizes = Sizes::of(misaligned.chain([aligned]), 1).unwrap();
    sizes.learn(63);
    let work = || {
        let mut tally = Tally::default();
        assert_eq!(sizes.ascending(20, 63, &mut tally).next(&mut tally), Some(aligned));
        tally.of(Work::NodeVisited)
    };
    let (first, second) = (work(), work());
    assert!(first > 1000 && second < 10, "{first} {second}");
}
