use super::{BTree, Placement};
use crate::index::{Blocks, Want};
use crate::rbtree::{self, RbTree};
use crate::{Fit, FreeIndex, Merge};
use freehold_units::{Align, Span, Tally, Work};
use proptest::prelude::*;
use std::vec::Vec;

const PAGE: u64 = 4096;

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

fn want(size: u64, align: u64, window: Span) -> Want {
    Want { size_bytes: size * PAGE, align: Align::new(align * PAGE).unwrap(), window }
}

/// Takes from and gives to both indexes at once, and compares them after every step.
struct Twins {
    tree: BTree,
    model: RbTree,
    live: Vec<Span>,
}

impl Twins {
    fn new(span: Span) -> Self {
        let (mut tree, mut model) = (BTree::new(Align::PAGE).unwrap(), RbTree::new(Align::PAGE).unwrap());
        tree.reserve(1).unwrap();
        model.reserve(1).unwrap();
        tree.release(tree.way_to(span.first()), span, &mut ()).unwrap();
        model.release(model.way_to(span.first()), span, &mut ()).unwrap();
        Self { tree, model, live: Vec::new() }
    }

    fn take(&mut self, high: bool, want: &Want) {
        self.tree.reserve(1).unwrap();
        self.model.reserve(1).unwrap();
        let (ours, theirs) = match high {
            false => (Placement::Lowest, rbtree::Placement::Lowest),
            true => (Placement::Highest, rbtree::Placement::Highest),
        };
        self.tree.prepare(want, &mut ()).unwrap();
        let found = self.tree.find(ours, want, &mut ());
        let expected = self.model.find(theirs, want, &mut ());
        assert_eq!(found.map(|(_, span)| span), expected.map(|(_, span)| span), "{want:?}");
        if let (Some((block, span)), Some((other, _))) = (found, expected) {
            let fit: Fit = self.tree.carve(block, span, &mut ());
            assert_eq!(fit, self.model.carve(other, span, &mut ()));
            self.live.push(span);
        }
        self.compare();
    }

    fn give(&mut self, at: usize) {
        let span = self.live.swap_remove(at);
        self.tree.reserve(1).unwrap();
        self.model.reserve(1).unwrap();
        let merge: Result<Merge, Span> = self.tree.release(self.tree.way_to(span.first()), span, &mut ());
        assert_eq!(merge, self.model.release(self.model.way_to(span.first()), span, &mut ()));
        assert!(self.tree.release(self.tree.way_to(span.first()), span, &mut ()).is_err());
        self.compare();
    }

    fn compare(&self) {
        self.tree.validate().unwrap();
        assert!(self.tree.iter().eq(self.model.iter()));
        assert_eq!(self.tree.largest_bytes(), self.model.largest_bytes());
        assert_eq!(self.tree.len(), self.model.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Enough blocks for three levels, with every kind of fit, merge, split and join.
    #[test]
    fn agrees_with_the_red_black_tree(steps in prop::collection::vec((any::<u8>(), any::<u16>(), 0u32..7, any::<u16>()), 200..1500)) {
        let mut twins = Twins::new(pages(5, 4000));
        // Single pages with holes above them, so that there are many blocks from the start.
        for at in 0..700 {
            twins.take(false, &want(1, 1, pages(5 + at * 3, 1)));
        }
        for (kind, pick, shift, place) in steps {
            let size = 1 + u64::from(pick % 7);
            let window = match kind % 3 {
                0 => Span::ALL,
                1 => pages(u64::from(place % 4000), 1 + u64::from(pick % 700)),
                _ => pages(u64::from(place % 2000), 2000),
            };
            if kind % 5 < 2 && !twins.live.is_empty() {
                let at = usize::from(place) % twins.live.len();
                twins.give(at);
            } else {
                twins.take(kind % 2 == 0, &want(size, 1 << (shift * u32::from(kind % 4 == 0)), window));
            }
        }
        while !twins.live.is_empty() {
            let at = usize::from(twins.live.len() as u16) * 7919 % twins.live.len();
            twins.give(at);
        }
        prop_assert_eq!(twins.tree.len(), 1);
    }
}

#[test]
fn an_aligned_request_enters_no_child_in_vain() {
    let mut tree = BTree::new(Align::PAGE).unwrap();
    // A hundred thousand blocks of 8 pages that hold no multiple of 2 MiB, and one that does, at the end.
    for at in 0..100_000u64 {
        tree.reserve(1).unwrap();
        tree.release(tree.way_to(pages(at * 512 + 1, 8).first()), pages(at * 512 + 1, 8), &mut ()).unwrap();
    }
    tree.reserve(1).unwrap();
    tree.release(tree.way_to(pages(100_000 * 512, 8).first()), pages(100_000 * 512, 8), &mut ()).unwrap();
    let mut tally = Tally::default();
    let aligned = want(4, 512, Span::ALL);
    tree.prepare(&aligned, &mut ()).unwrap();
    let (_, span) = tree.find(Placement::Lowest, &aligned, &mut tally).unwrap();
    assert_eq!(span, pages(100_000 * 512, 4));
    assert!(tally.of(Work::NodeVisited) <= 5, "{tally:?}");
    // Above the last class the walk leaps from multiple to multiple.
    let above = want(4, 1 << 15, pages(1, 1 << 40));
    let mut tally = Tally::default();
    assert!(tree.find(Placement::Lowest, &above, &mut tally).is_none());
    assert!(tally.of(Work::NodeVisited) <= 5, "{tally:?}");
}
