use freehold::units::Span;
use freehold_lab::verify::placed::{Placed, follow};
use freehold_rivals::maple::ListRanges;
use freehold_trace::kva::EventKind;

#[test]
fn a_place_is_told_by_what_the_kernel_had_there() {
    let span = |first: u64, last: u64| Span::new(first << 12, (last << 12) - 1).unwrap();
    let mut kernel = ListRanges::new();
    let mut placed = Placed::default();
    follow(&mut kernel, EventKind::Alloc, span(0, 4));
    follow(&mut kernel, EventKind::Alloc, span(4, 8));
    follow(&mut kernel, EventKind::Alloc, span(8, 1000));
    placed.note(span(1000, 1001), span(1000, 1001), &kernel);
    placed.note(span(1000, 1001), span(2, 3), &kernel);
    follow(&mut kernel, EventKind::Free, span(0, 4));
    placed.note(span(1000, 1001), span(2, 3), &kernel);
    placed.note(span(1000, 1001), span(3, 5), &kernel);
    follow(&mut kernel, EventKind::Free, span(8, 1000));
    follow(&mut kernel, EventKind::Purge, span(0, 1000));
    placed.note(span(1000, 1001), span(2, 3), &kernel);
    placed.note(span(1000, 1001), span(8, 9), &kernel);
    assert_eq!(placed, Placed { allocations: 6, same: 1, had: [2, 1, 1, 1], refused: 0 });
}
