//! Checking the tree from scratch: blocks ascend and never touch, maxima are exact, no node is lost.

use super::Tree;
use super::node::{Link, Node};

impl Tree {
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.nodes[Link::NONE].subtree_max_size != 0 {
            return Err("the sentinel has a maximum".to_owned());
        }
        let mut previous: Option<&Node> = None;
        let mut count = 0;
        for node in self.ascending() {
            let first = node.span.first();
            let apart = |before: &Node| before.span.last() < first && !before.span.touches(node.span);
            if !previous.is_none_or(apart) {
                return Err(format!("the block at {first:#x} is out of order or touches the one before"));
            }
            if node.subtree_max_size != self.computed_max(node) {
                return Err(format!("subtree_max_size is not the largest block below {first:#x}"));
            }
            count += 1;
            if count > self.nodes.in_use() {
                return Err("the tree has a cycle".to_owned());
            }
            previous = Some(node);
        }
        if count == self.nodes.in_use() { Ok(()) } else { Err("a node in use is not in the tree".to_owned()) }
    }
}
