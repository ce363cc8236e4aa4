use super::kept::Kept;
use super::{OneTree, Placement};
use crate::Shortcuts;
use crate::index::{Entry, Map, Want};
use crate::rbtree;
use crate::two_trees::TwoTrees;
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

/// Takes from and gives to both maps at once, and compares them after every step.
struct Twins {
    tree: OneTree<u32>,
    model: TwoTrees<u32>,
    live: Vec<Span>,
}

impl Twins {
    fn new(span: Span, ours: Shortcuts, theirs: Shortcuts) -> Self {
        let (mut tree, mut model) = (OneTree::new(Align::PAGE).unwrap(), TwoTrees::new(Align::PAGE).unwrap());
        Map::<u32>::reserve(&mut tree, 1, 0).unwrap();
        Map::<u32>::reserve(&mut model, 1, 0).unwrap();
        Map::<u32>::set_shortcuts(&mut tree, ours, &mut ());
        Map::<u32>::set_shortcuts(&mut model, theirs, &mut ());
        tree.add(span, &mut ()).unwrap();
        model.add(span, &mut ()).unwrap();
        Self { tree, model, live: Vec::new() }
    }

    fn take(&mut self, high: bool, guard: u32, want: &Want) {
        let (ours, theirs) = match high {
            false => (Placement::Lowest, rbtree::Placement::Lowest),
            true => (Placement::Highest, rbtree::Placement::Highest),
        };
        self.tree.prepare(want, &mut ()).unwrap();
        self.model.prepare(want, &mut ()).unwrap();
        let found = self.tree.find(ours, want, &mut ());
        let expected = self.model.find(theirs, want, &mut ());
        assert_eq!(found.map(|(_, span)| span), expected.map(|(_, span)| span), "{want:?}");
        if let (Some((block, span)), Some((other, _))) = (found, expected) {
            let (mut ours, mut theirs) = (Tally::default(), Tally::default());
            self.tree.occupy(block, span, guard, span.first() as u32, &mut ours);
            self.model.occupy(other, span, guard, span.first() as u32, &mut theirs);
            for fit in [Work::FitFull, Work::FitLeftEdge, Work::FitRightEdge, Work::FitNoEdge] {
                assert_eq!(ours.of(fit), theirs.of(fit));
            }
            self.live.push(span);
        }
        self.compare();
    }

    fn give(&mut self, at: usize) {
        let span = self.live.swap_remove(at);
        Map::<u32>::reserve(&mut self.model, 0, 1).unwrap();
        let (mut ours, mut theirs) = (Tally::default(), Tally::default());
        let (place, entry) = self.tree.region(span.first()).unwrap();
        assert_eq!(entry.taken, span);
        assert_eq!(self.tree.vacate(place, span, &mut ours), Some(span.first() as u32));
        let (place, _) = self.model.region(span.first()).unwrap();
        assert_eq!(self.model.vacate(place, span, &mut theirs), Some(span.first() as u32));
        for merge in [Work::MergedNone, Work::MergedPrevious, Work::MergedNext, Work::MergedBoth] {
            assert_eq!(ours.of(merge), theirs.of(merge));
        }
        assert!(self.tree.add(span, &mut ()).is_err());
        self.compare();
    }

    fn compare(&self) {
        Map::<u32>::validate(&self.tree).unwrap();
        Map::<u32>::validate(&self.model).unwrap();
        assert!(Map::<u32>::blocks(&self.tree).eq(Map::<u32>::blocks(&self.model)));
        let entries = |entry: Entry<'_, u32>| (entry.span, entry.taken, *entry.value);
        assert!(self.tree.regions().map(entries).eq(self.model.regions().map(entries)));
        assert_eq!(Map::<u32>::largest_bytes(&self.tree), Map::<u32>::largest_bytes(&self.model));
        assert_eq!(Map::<u32>::block_count(&self.tree), Map::<u32>::block_count(&self.model));
        assert_eq!(Map::<u32>::region_count(&self.tree), self.live.len());
    }
}

fn shortcuts() -> impl Strategy<Value = Shortcuts> {
    any::<(bool, bool)>().prop_map(|(hot_block, lazy_fixups)| Shortcuts { hot_block, lazy_fixups })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Enough blocks for three levels, with every kind of fit, merge, split and join.
    #[test]
    fn agrees_with_the_red_black_tree(
        ours in shortcuts(),
        theirs in shortcuts(),
        steps in prop::collection::vec((any::<u8>(), any::<u16>(), 0u32..7, any::<u16>()), 200..1500),
    ) {
        let mut twins = Twins::new(pages(5, 4000), ours, theirs);
        // Single pages with holes above them, so that there are many blocks from the start.
        for at in 0..700 {
            twins.take(false, 0, &want(1, 1, pages(5 + at * 3, 1)));
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
                twins.take(kind % 2 == 0, u32::from(kind) % size as u32, &want(size, 1 << (shift * u32::from(kind % 4 == 0)), window));
            }
        }
        while !twins.live.is_empty() {
            let at = usize::from(twins.live.len() as u16) * 7919 % twins.live.len();
            twins.give(at);
        }
        prop_assert_eq!(Map::<u32>::block_count(&twins.tree), 1);
    }
}

#[test]
fn an_aligned_request_enters_no_child_in_vain() {
    let mut tree = OneTree::<()>::new(Align::PAGE).unwrap();
    // A hundred thousand blocks of 8 pages that hold no multiple of 2 MiB, and one that does, at the end.
    for at in 0..=100_000u64 {
        tree.reserve(1, 0).unwrap();
        tree.add(pages(at * 512 + u64::from(at < 100_000), 8), &mut ()).unwrap();
    }
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

#[test]
fn a_class_is_kept_while_it_is_asked_for() {
    let mut tree = OneTree::<()>::new(Align::PAGE).unwrap();
    for at in 0..=1000u64 {
        tree.reserve(1, 0).unwrap();
        tree.add(pages(at * 512 + u64::from(at < 1000), 8), &mut ()).unwrap();
    }
    let (plain, aligned) = (want(1, 1, Span::ALL), want(4, 512, Span::ALL));
    let class = tree.tree.sums.kept.class_of(aligned.align);
    let requests = 8 * tree.tree.len();
    let ask = |tree: &mut OneTree<()>, want: &Want| tree.prepare(want, &mut ()).unwrap();
    ask(&mut tree, &aligned);
    for at in 0..requests {
        ask(&mut tree, if at % 1000 == 0 { &aligned } else { &plain });
        assert!(tree.tree.sums.kept.keeps(class));
    }
    for _ in 0..requests {
        ask(&mut tree, &plain);
    }
    assert!(tree.tree.sums.kept.only_sizes());
    // What is not kept is found all the same, and after one more request without a visit in vain.
    let (_, span) = tree.find(Placement::Lowest, &aligned, &mut ()).unwrap();
    assert_eq!(span, pages(1000 * 512, 4));
    ask(&mut tree, &aligned);
    tree.check_all().unwrap();
    let mut tally = Tally::default();
    let (_, again) = tree.find(Placement::Lowest, &aligned, &mut tally).unwrap();
    assert_eq!(again, span);
    assert!(tally.of(Work::NodeVisited) <= 3, "{tally:?}");
}

#[test]
fn a_rounded_size_tells_nothing_of_smaller_blocks() {
    let mut tree = OneTree::<()>::new(Align::ONE).unwrap();
    let block = |first: u64, more: u64| Span::from_size(first, (1 << 40) + more).unwrap();
    let (low, high) = (block(0, 8), block(1 << 50, 100));
    for span in [low, high] {
        tree.reserve(1, 0).unwrap();
        tree.add(span, &mut ()).unwrap();
    }
    let mut take = |more: u64| {
        let want = Want { size_bytes: (1 << 40) + more, align: Align::ONE, window: Span::ALL };
        tree.prepare(&want, &mut ()).unwrap();
        let (found, span) = tree.find(Placement::Lowest, &want, &mut ()).unwrap();
        tree.occupy(found, span, 0, (), &mut ());
        let (place, entry) = tree.region(span.first()).unwrap();
        let taken = entry.taken;
        tree.vacate(place, taken, &mut ()).unwrap();
        span.first()
    };
    // All three sizes are the same in the short form.
    assert_eq!(take(50), high.first());
    assert_eq!(take(1), low.first());
    assert_eq!(take(99), high.first());
}

#[test]
fn short_sizes_keep_their_order() {
    for granule in [Align::ONE, Align::PAGE] {
        let kept = Kept::new(granule);
        let granules = |count: u128| u64::try_from(count * u128::from(granule.bytes()) - 1).unwrap();
        let most = 64 - granule.bytes().trailing_zeros();
        let mut before = 0;
        for bits in 0..most {
            for step in [0, 1, 2, 1 << bits >> 1, (1 << bits) - 1] {
                let count = (1u128 << bits) + step;
                let short = kept.short(granules(count));
                assert!(short >= before, "{count} granules");
                let exact = kept.long(short);
                assert_eq!(exact.is_some(), count <= 1 << 26);
                assert!(exact.is_none_or(|reach| reach == granules(count)), "{count} granules");
                assert!(short < 1 << 31);
                before = if step == 0 { before.max(short) } else { before };
            }
        }
        assert!(kept.short(u64::MAX) >= before);
    }
}
