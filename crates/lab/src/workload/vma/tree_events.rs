//! What was traced of the kernel's tree functions, as operations on trees: the calls of its interface, one tree to a task.
//!
//! The recording names no tree. A task without threads has one address space, so its tree is the task's; what a fork writes
//! into the child's tree is left out, and so is what a store does inside, which each engine does in its own way.

use crate::engine::vma::{Call, Op, Scene};
use crate::family::Maple;
use crate::workload::Workload;
use freehold_trace::TraceError;
use freehold_trace::mt::{Action, Event, Events};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A recording as a workload.
///
/// # Errors
/// It cannot be read.
pub fn tree_from_file(file: &Path) -> Result<Workload<Maple>, TraceError> {
    let mut events = Events::open(file)?;
    let (name, description) = (events.header().workload.clone(), events.header().description.clone());
    let (mut ops, mut at_ns) = (Vec::new(), Vec::new());
    let mut trees: HashMap<u32, u32> = HashMap::new();
    let mut skipped: BTreeMap<&'static str, u64> = BTreeMap::new();
    while let Some(event) = events.next().transpose()? {
        let call = match call(&event) {
            Ok(call) => call,
            Err(why) => {
                *skipped.entry(why).or_default() += 1;
                continue;
            }
        };
        let next = trees.len() as u32;
        let space = *trees.entry(event.tid).or_insert(next);
        if space == next {
            ops.push(Op { space, call: Call::Exec });
            at_ns.push(event.at_ns);
        }
        ops.push(Op { space, call });
        at_ns.push(event.at_ns);
    }
    Ok(Workload {
        name: format!("{name}.mt"),
        file: Some(file.display().to_string()),
        description: if description.is_empty() { name } else { description },
        scene: Scene::default(),
        setup: Vec::new(),
        objects: trees.len() as u32,
        ops,
        at_ns: Some(at_ns),
        n: None,
        skipped: skipped.into_iter().collect(),
    })
}

/// The call of the tree's interface that an event is, or why it is left out.
fn call(event: &Event) -> Result<Call, &'static str> {
    let (span, index) = (event.span, event.span.first());
    match (event.action, event.function.as_str()) {
        (Action::Write { value, .. }, "mas_store_prealloc") => {
            Ok(Call::Store { span, value: (value != 0).then_some(value) })
        }
        (Action::Read, "mtree_load") => Ok(Call::Load { index }),
        (Action::Read, "mt_find") => Ok(Call::Find { index }),
        (Action::Write { .. }, "mas_store") => {
            Err("store of a fork into the child's tree, which is not named")
        }
        (Action::Write { .. }, _) => Err("step inside of a store"),
        (Action::Restructure, _) => Err("restructuring inside of a store"),
        (Action::Read, _) => Err("look-up by a function that is not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use freehold::units::Span;

    fn event(action: Action, function: &str) -> Event {
        let span = Span::new(0x1000, 0x1fff).unwrap();
        let function = function.to_owned();
        Event { at_ns: 0, cpu: 0, tid: 1, action, function, node: 0, node_span: Span::ALL, span }
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
}
