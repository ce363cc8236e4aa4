use super::{Engine, Link, Splay, Tree};
use crate::kva::Naive;
use freehold_units::{Align, Span, Tally, Work};

const PAGE: u64 = 4096;

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

/// A space of single free pages with a gap after each, added in this order.
fn singles(order: impl Iterator<Item = u64>) -> Splay {
    let layout: Vec<Span> = order.map(|at| pages(2 * at, 1)).collect();
    Splay::new(&layout, Align::PAGE).unwrap()
}

/// The tree in preorder: the letter of each block, and its children in brackets.
fn shape(tree: &Tree, at: Link) -> String {
    if at.is_none() {
        return "-".to_owned();
    }
    let node = &tree.nodes[at];
    let letter = char::from(b'a' + u8::try_from(node.span.first() / PAGE / 2).unwrap());
    match (node.left.is_none(), node.right.is_none()) {
        (true, true) => letter.to_string(),
        _ => format!("{letter}({} {})", shape(tree, node.left), shape(tree, node.right)),
    }
}

fn depth(tree: &Tree) -> usize {
    let (mut level, mut depth) = (vec![tree.root], 0);
    while !level.is_empty() {
        let children = level.iter().flat_map(|&at| [tree.nodes[at].left, tree.nodes[at].right]);
        level = children.filter(|child| !child.is_none()).collect();
        depth += 1;
    }
    depth
}

/// Has the free page at `at` rise: it is taken, and given back.
fn touch(space: &mut Splay, at: u64, tally: &mut Tally) {
    let page = pages(2 * at, 1);
    assert_eq!(space.alloc(PAGE, Align::PAGE, page, tally), Some(page.first()));
    assert!(space.free(page.first(), tally));
}

/// Pages and their alignment in a window, or where to free.
enum Ask {
    Take(u64, u64, Span),
    Give(u64),
}

#[test]
fn the_pictures_in_the_module_are_true() {
    // Seven blocks a to g in a balanced tree; the path to a is straight, that to c bends.
    for (end, path_then_shape) in [("a", "a(- b(- d(c f(e g))))"), ("c", "c(b(a -) d(- f(e g)))")] {
        let mut tree = singles(std::iter::empty()).tree;
        let link: Vec<Link> = (0..7).map(|at| tree.nodes.take(pages(2 * at, 1))).collect();
        for (top, left, right) in [(1, 0, 2), (5, 4, 6), (3, 1, 5)] {
            (tree.nodes[link[top]].left, tree.nodes[link[top]].right) = (link[left], link[right]);
        }
        tree.root = link[3];
        assert_eq!(shape(&tree, tree.root), "d(b(a c) f(e g))");
        let last = if end == "a" { 0 } else { 2 };
        tree.path = vec![link[3], link[1], link[last]];
        tree.rise_to(0, &mut ());
        assert_eq!(shape(&tree, tree.root), path_then_shape);
        tree.validate().unwrap();
    }
}

#[test]
fn the_four_fits_and_merges_leave_the_block_at_the_root() {
    let mut space =
        Splay::new(&[pages(2, 2), pages(6, 3), pages(14, 12), pages(30, 4)], Align::PAGE).unwrap();
    let mut step = |ask, work, root| {
        let mut tally = Tally::default();
        match ask {
            Ask::Take(size, align, window) => {
                let align = Align::new(align * PAGE).unwrap();
                space.alloc(size * PAGE, align, window, &mut tally).unwrap();
            }
            Ask::Give(page) => assert!(space.free(page * PAGE, &mut tally)),
        }
        assert_eq!((tally.of(work), space.tree.nodes[space.tree.root].span), (1, root));
        space.validate().unwrap();
    };
    step(Ask::Take(2, 1, Span::ALL), Work::FitFull, pages(6, 3));
    step(Ask::Take(1, 1, Span::ALL), Work::FitLeftEdge, pages(7, 2));
    step(Ask::Take(2, 1, pages(24, 2)), Work::FitRightEdge, pages(14, 10));
    step(Ask::Take(2, 8, Span::ALL), Work::FitNoEdge, pages(14, 2));
    step(Ask::Give(16), Work::MergedBoth, pages(14, 10));
    step(Ask::Give(24), Work::MergedPrevious, pages(14, 12));
    step(Ask::Give(2), Work::MergedNone, pages(2, 2));
    step(Ask::Give(6), Work::MergedNext, pages(6, 3));
}

#[test]
fn a_free_span_given_back_again_is_refused() {
    let mut tree = singles(0..5).tree;
    assert_eq!(tree.release(pages(4, 1), &mut ()), Err(pages(4, 1)));
    assert_eq!(tree.release(pages(3, 2), &mut ()), Err(pages(4, 1)));
    tree.validate().unwrap();
    assert!(Splay::new(&[pages(0, 4), pages(3, 4)], Align::PAGE).is_err());
}

#[test]
fn a_chain_is_walked_once_and_halved() {
    const LEN: usize = 1 << 17;
    // Each block goes above the one before: a chain, with the first at its end.
    let mut space = singles(0..LEN as u64);
    assert_eq!(depth(&space.tree), LEN);
    let mut tally = Tally::default();
    touch(&mut space, 0, &mut tally);
    assert!(tally.of(Work::NodeVisited) >= LEN as u64);
    assert!(depth(&space.tree) <= LEN / 2 + 3, "{}", depth(&space.tree));
    space.validate().unwrap();
    // And so on: what follows is cheap.
    let mut tally = Tally::default();
    (1..=100).for_each(|at| touch(&mut space, at * 7, &mut tally));
    assert!(tally.steps() < 2 * LEN as u64, "{}", tally.steps());
}

#[test]
fn all_blocks_in_order_cost_a_few_rotations_each() {
    const LEN: u64 = 1 << 12;
    // Any order to start from: blocks strewn by a multiplication.
    let mut space = singles((0..LEN).map(|at| at * 2001 % LEN));
    let mut tally = Tally::default();
    (0..LEN).for_each(|at| touch(&mut space, at, &mut tally));
    assert!(tally.of(Work::Rotated) < 6 * LEN, "{}", tally.of(Work::Rotated));
}

#[test]
fn an_aligned_request_passes_over_what_is_large_enough_but_badly_placed() {
    let mut space = Splay::new(&[pages(1, 7), pages(9, 6), pages(17, 3), pages(24, 4)], Align::PAGE).unwrap();
    let align = Align::new(8 * PAGE).unwrap();
    let mut tally = Tally::default();
    // Seven, six and three pages hold four aligned ones nowhere.
    assert_eq!(space.alloc(4 * PAGE, align, Span::ALL, &mut tally), Some(24 * PAGE));
    assert_eq!(space.alloc(4 * PAGE, align, Span::ALL, &mut tally), None);
    space.validate().unwrap();
}

#[test]
fn a_long_way_down_is_paid_for_though_the_neighbour_is_above_it() {
    const LEN: u64 = 1 << 14;
    // A chain of single pages, and before them a block of three with the chain to its right.
    let mut space = singles(2..LEN);
    let tree = &mut space.tree;
    let block = tree.nodes.take(pages(0, 3));
    tree.nodes[block].right = tree.root;
    tree.root = block;
    space.lowest = 0;
    space.validate().unwrap();
    // Each free looks for its place down the chain, and merges with the block on top.
    let mut tally = Tally::default();
    (0..64).for_each(|_| touch(&mut space, 1, &mut tally));
    assert_eq!(tally.of(Work::MergedPrevious), 64);
    assert!(tally.steps() < 8 * LEN, "{}", tally.steps());
}

#[test]
fn it_answers_as_brute_force_does() {
    let layout = [pages(1, 100), pages(110, 60)];
    let (mut space, mut naive) =
        (Splay::new(&layout, Align::PAGE).unwrap(), Naive::new(&layout, Align::PAGE).unwrap());
    let mut live = Vec::new();
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..20_000 {
        if live.len() > 30 || (!live.is_empty() && draw(3) == 0) {
            let first = live.swap_remove(draw(live.len() as u64) as usize);
            assert!(space.free(first, &mut ()) && naive.free(first, &mut ()));
        } else {
            let (size, align) = ((1 + draw(6)) * PAGE, Align::new(PAGE << draw(4)).unwrap());
            let window = if draw(2) == 0 { Span::ALL } else { pages(draw(150), 1 + draw(40)) };
            let start = space.alloc(size, align, window, &mut ());
            assert_eq!(start, naive.alloc(size, align, window, &mut ()));
            live.extend(start);
        }
        space.validate().unwrap();
    }
    assert!(!space.free(PAGE / 2, &mut ()));
}
