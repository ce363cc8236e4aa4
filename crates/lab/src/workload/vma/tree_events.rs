//! What was traced of the kernel's tree functions, as operations on trees: the calls of its interface, one tree to a task.
//!
//! The recording names no tree. A task without threads has one address space, so its tree is the task's; what a fork writes
//! into the child's tree is left out, and so is what a store does inside, which each engine does in its own way.

use super::Read;
use crate::engine::vma::{Call, Kinds, Op};
use crate::family::Maple;
use crate::workload::Workload;
use freehold_trace::TraceError;
use freehold_trace::mt::{Action, Event, Events};
use std::collections::HashMap;
use std::path::Path;

/// A recording as a workload.
///
/// # Errors
/// It cannot be read.
pub fn tree_from_file(file: &Path) -> Result<Workload<Maple>, TraceError> {
    let (mut events, mut read) = (Events::open(file)?, Read::default());
    let mut trees: HashMap<u32, u32> = HashMap::new();
    while let Some(event) = events.next().transpose()? {
        match tree_call(&event) {
            Ok(call) => {
                let next = trees.len() as u32;
                let space = *trees.entry(event.stamp.tid).or_insert(next);
                if space == next {
                    read.push(event.stamp.at_ns, Op { space, call: Call::Exec });
                }
                read.push(event.stamp.at_ns, Op { space, call });
            }
            Err(why) => read.skip(why),
        }
    }
    read.workload(file, events.header(), Kinds::default())
}

/// The call of the tree's interface that an event is.
///
/// # Errors
/// Why it is none.
pub fn tree_call(event: &Event) -> Result<Call, &'static str> {
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
