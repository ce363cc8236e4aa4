//! What was traced of the kernel's tree functions, as operations on trees: the calls of its interface.
//!
//! What a fork writes into the child's tree, which is not named, is left out, and so is what a store does inside, which each
//! engine does in its own way.

use super::Call;
use crate::mt::{Action, Event};

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
