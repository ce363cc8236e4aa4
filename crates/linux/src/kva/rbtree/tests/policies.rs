//! The tree under each policy against the plain one: the same answers, the same blocks, the same shape.

use super::*;
use crate::kva::rbtree::{HotAndLazy, HotBlock, LazyFixups, Plain, Policy};
use proptest::prelude::*;

/// Both trees, and what was taken from them.
struct Pair<P> {
    plain: RbTree<Plain>,
    other: RbTree<P>,
    taken: Vec<Span>,
}

impl<P: Policy> Pair<P> {
    fn new() -> Self {
        let mut pair = Self { plain: empty(), other: empty(), taken: Vec::new() };
        for span in [pages(100, 300), pages(3, 50)] {
            pair.plain.reserve(1).unwrap();
            pair.other.reserve(1).unwrap();
            assert_eq!(pair.plain.release_span(span, &mut ()), Ok(Merge::None));
            assert_eq!(pair.other.release_span(span, &mut ()), Ok(Merge::None));
        }
        pair
    }

    fn take(&mut self, placement: Placement, request: &CheckedRequest) {
        for other in [Placement::Lowest, Placement::Highest, Placement::Linux] {
            let plain = self.plain.find_block(other, request, &mut ()).map(|(_, at)| at);
            let answer = self.other.find_block(other, request, &mut ()).map(|(_, at)| at);
            assert_eq!(plain, answer, "{other:?} {request:?}");
        }
        let fits = (
            search_and_carve(&mut self.plain, placement, request),
            search_and_carve(&mut self.other, placement, request),
        );
        assert_eq!(fits.0, fits.1);
        self.taken.extend(fits.0.map(|(_, span)| span));
        self.compare();
    }

    fn give(&mut self, at: usize) {
        let span = self.taken.swap_remove(at);
        self.plain.reserve(1).unwrap();
        self.other.reserve(1).unwrap();
        let merge = self.plain.release_span(span, &mut ());
        assert!(merge.is_ok());
        assert_eq!(merge, self.other.release_span(span, &mut ()));
        let again = self.plain.release_span(span, &mut ());
        assert!(again.is_err());
        assert_eq!(again, self.other.release_span(span, &mut ()));
        self.compare();
    }

    /// The visible state of a tree: its nodes with their maxima, as if no fix-up were pending.
    fn compare(&self) {
        self.other.check_nodes().unwrap();
        assert!(self.plain.preorder().eq(self.other.preorder()));
        assert_eq!(self.plain.largest_bytes(), self.other.largest_bytes());
    }
}

fn search_and_carve<P: Policy>(
    tree: &mut RbTree<P>,
    placement: Placement,
    request: &CheckedRequest,
) -> Option<(Fit, Span)> {
    tree.reserve(1).unwrap();
    let (block, span) = tree.find_block(placement, request, &mut ())?;
    Some((tree.carve_node(block, span, &mut ()), span))
}

type Steps = Vec<(u8, u8, u32, u64)>;

fn plays<P: Policy>(steps: &Steps) {
    let mut pair = Pair::<P>::new();
    for &(kind, pick, shift, place) in steps {
        let window = match kind % 4 {
            0 => pages(place, 1 + u64::from(pick)),
            _ => Span::ALL,
        };
        let placement = match kind / 4 % 8 {
            0 => Placement::Highest,
            1 => Placement::Linux,
            _ => Placement::Lowest,
        };
        if kind / 32 % 8 < 3 && !pair.taken.is_empty() {
            // The last one often: it lies beside the hot block.
            let last = pair.taken.len() - 1;
            pair.give(if pick % 2 == 0 { last } else { usize::from(pick) % pair.taken.len() });
        } else {
            let align = 1 << (shift * u32::from(kind % 3 == 0));
            pair.take(placement, &request(1 + u64::from(pick % 9), align, window));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn change_no_answer_and_no_shape(
        policy in 0..4,
        steps in prop::collection::vec((any::<u8>(), any::<u8>(), 0u32..5, 0u64..400), 1..150),
    ) {
        match policy {
            0 => plays::<HotBlock>(&steps),
            1 => plays::<LazyFixups>(&steps),
            2 => plays::<HotAndLazy>(&steps),
            _ => plays::<Plain>(&steps),
        }
    }
}

#[test]
fn a_request_like_the_last_one_takes_one_step() {
    let mut tree = talk::<HotBlock>();
    let mut steps = |size| {
        let mut tally = Tally::default();
        let wanted = request(size, 1, Span::ALL);
        let (block, span) = tree.find_block(Placement::Lowest, &wanted, &mut tally).unwrap();
        tree.carve_node(block, span, &mut ());
        (span.first() / PAGE, tally.of(Work::NodeVisited))
    };
    assert_eq!(steps(4), (14, 3));
    assert_eq!(steps(5), (18, 1));
    // Three pages are left of the hot block, and three were there below all the time.
    assert_eq!(steps(3), (6, 2));
}

#[test]
fn cuts_of_one_block_climb_the_tree_once() {
    let mut tree = talk::<LazyFixups>();
    tree.reserve(3).unwrap();
    let mut tally = Tally::default();
    let largest = pages(14, 12);
    for page in 14..20 {
        let (block, span) = tree.floor(page * PAGE).unwrap();
        assert_eq!(span.last(), largest.last());
        tree.carve_node(block, pages(page, 1), &mut tally);
        assert_eq!(tree.largest_bytes(), (25 - page).max(11) * PAGE);
    }
    assert_eq!(tally.of(Work::MaxRecomputed), 0);
    tree.release_span(pages(19, 1), &mut tally).unwrap();
    assert_eq!(tally.of(Work::MaxRecomputed), 0);
    // Another block changes: first the node, its parent and the root are fixed.
    tree.release_span(pages(51, 2), &mut tally).unwrap();
    assert_eq!(tally.of(Work::MaxRecomputed), 3 + 2);
    tree.check_nodes().unwrap();
}
