//! Traced tree functions.

use freehold::units::Span;
use freehold_trace::Stamp;
use freehold_trace::mt::{Action, Event};
use freehold_trace::vma::{Call, tree_call as call};

fn event(action: Action, function: &str) -> Event {
    let span = Span::new(0x1000, 0x1fff).unwrap();
    let function = function.to_owned();
    let stamp = Stamp { at_ns: 0, cpu: 0, tid: 1 };
    Event { stamp, action, function, node: 0, node_span: Span::ALL, span }
}

#[test]
fn calls_of_the_interface_are_operations_and_steps_inside_are_not() {
    let write = |value| Action::Write { pivot: 0, value };
    let span = Span::new(0x1000, 0x1fff).unwrap();
    let stored = call(&event(write(7), "mas_store_prealloc"));
    assert_eq!(stored, Ok(Call::Store { span, value: Some(7) }));
    assert_eq!(call(&event(write(0), "mas_store_prealloc")), Ok(Call::Store { span, value: None }));
    assert_eq!(call(&event(Action::Read, "mtree_load")), Ok(Call::Load { index: 0x1000 }));
    assert_eq!(call(&event(Action::Read, "mt_find")), Ok(Call::Find { index: 0x1000 }));
    for left_out in [
        event(write(7), "mas_store"),
        event(write(7), "mas_wr_node_store"),
        event(Action::Restructure, "mas_split"),
        event(Action::Read, "mas_walk"),
    ] {
        assert!(call(&left_out).is_err(), "{left_out:?}");
    }
}
