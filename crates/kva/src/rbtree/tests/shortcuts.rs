//! The tree with shortcuts beside one without: the same answers, the same blocks, the same shape.

use super::*;
use crate::Shortcuts;
use proptest::prelude::*;

/// Both trees, and what was taken from them.
struct Pair {
    plain: RbTree,
    short: RbTree,
    taken: Vec<Span>,
}

impl Pair {
    fn new(shortcuts: Shortcuts) -> Self {
        let mut trees = [(); 2].map(|()| RbTree::new(Align::PAGE).unwrap());
        trees[1].set_shortcuts(shortcuts, &mut ());
        for tree in &mut trees {
            tree.reserve(2).unwrap();
            tree.add(pages(100, 300), &mut ()).unwrap();
            tree.add(pages(3, 50), &mut ()).unwrap();
        }
        let [plain, short] = trees;
        Self { plain, short, taken: Vec::new() }
    }

    fn take(&mut self, placement: Placement, request: &CheckedRequest) {
        for other in [Placement::Lowest, Placement::Highest, Placement::Linux] {
            let answers =
                [&self.plain, &self.short].map(|tree| tree.search(other, request, &mut ()).map(|(_, at)| at));
            assert_eq!(answers[0], answers[1], "{other:?} {request:?}");
        }
        let mut fits = Vec::new();
        for tree in [&mut self.plain, &mut self.short] {
            tree.reserve(1).unwrap();
            if let Some((block, span)) = tree.search(placement, request, &mut ()) {
                fits.push((tree.carve(block, span, &mut ()), span));
            }
        }
        assert!(fits.windows(2).all(|two| two[0] == two[1]), "{fits:?}");
        self.taken.extend(fits.first().map(|&(_, span)| span));
        self.compare();
    }

    fn give(&mut self, at: usize) {
        let span = self.taken.swap_remove(at);
        let merges = [&mut self.plain, &mut self.short].map(|tree| {
            tree.reserve(1).unwrap();
            tree.release(span, &mut ())
        });
        assert!(merges[0].is_ok());
        assert_eq!(merges[0], merges[1]);
        let again = [&mut self.plain, &mut self.short].map(|tree| tree.release(span, &mut ()));
        assert!(again[0].is_err());
        assert_eq!(again[0], again[1]);
        self.compare();
    }

    /// What can be seen of a tree: its nodes with their maxima, as they would be if nothing were put off.
    fn compare(&self) {
        self.short.validate().unwrap();
        assert!(self.plain.preorder().eq(self.short.preorder()));
        assert_eq!(self.plain.largest_bytes(), self.short.largest_bytes());
    }
}

fn all() -> impl Strategy<Value = Shortcuts> {
    any::<(bool, bool)>().prop_map(|(hot_block, lazy_fixups)| Shortcuts { hot_block, lazy_fixups })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn change_no_answer_and_no_shape(
        shortcuts in all(),
        later in all(),
        steps in prop::collection::vec((any::<u8>(), any::<u8>(), 0u32..5, 0u64..400), 1..150),
    ) {
        let mut pair = Pair::new(shortcuts);
        for (at, &(kind, pick, shift, place)) in steps.iter().enumerate() {
            if at == steps.len() / 2 {
                pair.short.set_shortcuts(later, &mut ());
                pair.compare();
            }
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
}

#[test]
fn a_request_like_the_last_one_takes_one_step() {
    let mut tree = talk();
    tree.set_shortcuts(Shortcuts { hot_block: true, ..Shortcuts::NONE }, &mut ());
    let mut steps = |size| {
        let mut tally = Tally::default();
        let (block, span) = tree.search(Placement::Lowest, &request(size, 1, Span::ALL), &mut tally).unwrap();
        tree.carve(block, span, &mut ());
        (span.first() / PAGE, tally.of(Work::NodeVisited))
    };
    assert_eq!(steps(4), (14, 3));
    assert_eq!(steps(5), (18, 1));
    // Three pages are left of the hot block, and three were there below all the time.
    assert_eq!(steps(3), (6, 2));
}

#[test]
fn cuts_of_one_block_climb_the_tree_once() {
    let mut tree = talk();
    tree.set_shortcuts(Shortcuts { lazy_fixups: true, ..Shortcuts::NONE }, &mut ());
    tree.reserve(3).unwrap();
    let mut tally = Tally::default();
    let largest = pages(14, 12);
    for page in 14..20 {
        let (block, span) = tree.floor(page * PAGE).unwrap();
        assert_eq!(span.last(), largest.last());
        tree.carve(block, pages(page, 1), &mut tally);
        assert_eq!(tree.largest_bytes(), (25 - page).max(11) * PAGE);
    }
    assert_eq!(tally.of(Work::MaxRecomputed), 0);
    tree.release(pages(19, 1), &mut tally).unwrap();
    assert_eq!(tally.of(Work::MaxRecomputed), 0);
    // Another block changes: first the node, its parent and the root are put right.
    tree.release(pages(51, 2), &mut tally).unwrap();
    assert_eq!(tally.of(Work::MaxRecomputed), 3 + 2);
    tree.validate().unwrap();
}
