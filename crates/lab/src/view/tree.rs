//! Binary search trees as drawings, side by side: what a request changes in a tree.
//!
//! ```text
//!              [N4]            a node's place across is its rank among the keys,
//!          [N2]    [N5]        its place down its depth; values that differ from the
//!       [N1]  [N3]             first drawing's stand out
//! ```

use super::escape::{figure, html};
use crate::record::{Tree, TreeNode, Trees};
use std::fmt::Write;

/// Width and height of a node, and what lies between nodes.
const NODE: (u32, u32) = (100, 58);
const GAP: (u32, u32) = (14, 26);

/// The drawings as HTML.
pub(super) fn render(trees: &Trees) -> String {
    let first = trees.trees.first().map(|tree| tree.nodes.as_slice()).unwrap_or_default();
    let panel = |tree: &Tree| {
        let (caption, drawing) = (html(&tree.caption), drawing(&tree.nodes, first));
        format!("<div class=\"panel\"><h5>{caption}</h5><div class=\"tree\">{drawing}</div></div>")
    };
    let panels: String = trees.trees.iter().map(panel).collect();
    let body = format!("<div class=\"panels\">{panels}</div>");
    figure("class=\"trees wide\"", &trees.heading, &trees.reading, &body)
}

/// Where the middle of a node's top is.
fn place(nodes: &[TreeNode], node: &TreeNode) -> (u32, u32) {
    let rank = nodes.iter().filter(|other| other.key < node.key).count() as u32;
    (rank * (NODE.0 + GAP.0) + NODE.0 / 2, node.depth * (NODE.1 + GAP.1) + 1)
}

fn drawing(nodes: &[TreeNode], first: &[TreeNode]) -> String {
    let deepest = nodes.iter().map(|node| node.depth).max().unwrap_or(0);
    let width = nodes.len() as u32 * (NODE.0 + GAP.0) - GAP.0.min(nodes.len() as u32 * GAP.0);
    let height = (deepest + 1) * (NODE.1 + GAP.1) - GAP.1 + 2;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" style=\"min-width:{}px\">",
        width * 7 / 8
    );
    for (at, node) in nodes.iter().enumerate() {
        // In this order the last node above is the parent.
        let above = nodes.iter().take(at).rev().find(|above| above.depth + 1 == node.depth);
        if let Some(above) = above {
            let ((x1, y1), (x2, y2)) = (place(nodes, above), place(nodes, node));
            let _ = write!(svg, "<path class=\"edge\" d=\"M{x1} {}L{x2} {y2}\"/>", y1 + NODE.1);
        }
    }
    for node in nodes {
        let before = first.iter().find(|other| other.name == node.name);
        draw(&mut svg, place(nodes, node), node, before);
    }
    svg.push_str("</svg>");
    svg
}

fn draw(svg: &mut String, (x, y): (u32, u32), node: &TreeNode, before: Option<&TreeNode>) {
    let left = x - NODE.0 / 2;
    let _ = write!(
        svg,
        "<rect x=\"{left}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\"/><text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
        NODE.0,
        NODE.1,
        left + 7,
        y + 15,
        html(&node.name)
    );
    for (row, (name, value)) in (0u32..).zip(&node.values) {
        let same = before.is_none_or(|before| before.values.contains(&(name, value.clone())));
        let class = if same { "value" } else { "value changed" };
        // The first value stands beside the name, the others below it.
        let y = y + 15 + 17 * row;
        let _ = write!(
            svg,
            "<text class=\"{class}\" x=\"{}\" y=\"{y}\">{} {}</text>",
            left + NODE.0 - 7,
            html(name),
            html(value)
        );
    }
}
