use freehold_lab::verify::maple::logs::can_hold;
use freehold_trace::maple::Shape;

#[test]
fn a_shape_holds_no_more_than_its_leaves() {
    let two = Shape::Nodes { height: 2, leaves: 2, ranges: 1, alloc_ranges: 0 };
    assert!(can_hold(&two, 32) && !can_hold(&two, 33));
    assert!(can_hold(&Shape::Empty, 0) && !can_hold(&Shape::Empty, 1) && !can_hold(&Shape::Pointer, 0));
}
