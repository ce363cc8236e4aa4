//! The talk's worked example: one page, and four pages, out of a tree of five free blocks.

use crate::commands::main_job::data_folder;
use crate::commands::reproduce::Part;
use crate::output::{Row, Table, count};
use crate::report::Section;
use crate::report::section::Figure;
use crate::report::tree::{Tree, TreeNode, Trees};
use crate::verify::{Played, play_talk, verify_file};
use freehold_trace::kva::TalkNode;

/// The part.
pub(super) fn part() -> anyhow::Result<Part> {
    let file = data_folder()?.join("vectors/kva/talk.txt");
    let checks = verify_file(&file, &mut || ())?;
    let played = play_talk(&file)?;
    let shown: Vec<&Played> = played.iter().filter(|step| is_of_the_talk(step)).collect();
    let comparisons: u64 = checks.checks.iter().map(|check| check.comparisons).sum();
    let verdict = if checks.passed() { "all alike" } else { "not all alike" };
    let section = Section {
        id: "example",
        title: "The worked example".to_owned(),
        about: vec![
            "The talk takes one page, then four pages, from a tree of five free blocks whose root is N4. \
             Each node knows its subtree_max_size, the largest block in it and below it: the search goes \
             left where that is enough, since lower addresses are on the left, and after the block is \
             split the maxima are put right from there up, as far as they change."
                .to_owned(),
            format!(
                "The drawings are read from our red-black tree as it runs the example; starts that the \
                 talk does not give are chosen. All of the example's steps (fits, merges, maxima, shapes \
                 and visits) were held against what is recorded: {} comparisons, {verdict}.",
                count(comparisons)
            ),
        ],
        figures: shown.iter().map(|step| Figure::Trees(trees(step))).collect(),
        tables: shown.iter().map(|step| table(step)).collect(),
    };
    let row = Row {
        suite: "kva",
        workload: Some("the talk's worked example".to_owned()),
        engine: Some("rbtree"),
        placement: Some("linux"),
        file: Some(file.display().to_string()),
        count: Some(checks.operations()),
        mismatches: Some(checks.checks.iter().map(|check| check.mismatches).sum()),
        ..Row::default()
    };
    Ok(Part { section, rows: vec![row], failed: !checks.passed(), ..Part::default() })
}

/// Whether the talk works the step out, rather than to say what would happen.
fn is_of_the_talk(step: &Played) -> bool {
    step.case.starts_with("A:") || step.case.starts_with("B:")
}

/// The example's blocks keep their names: a block shrinks or grows, but does not pass another.
fn name(blocks: &[TalkNode], node: &TalkNode) -> String {
    let rank = blocks.iter().filter(|other| other.start < node.start).count();
    format!("N{}", rank + 1)
}

fn title(step: &Played) -> String {
    format!("case {}", step.case)
}

fn trees(step: &Played) -> Trees {
    let tree = |caption: &str, nodes: &[TalkNode]| Tree {
        caption: caption.to_owned(),
        nodes: nodes
            .iter()
            .map(|node| TreeNode {
                name: name(nodes, node),
                key: node.start,
                depth: node.depth,
                values: vec![
                    ("start", node.start.to_string()),
                    ("size", node.size.to_string()),
                    ("max", node.subtree_max.to_string()),
                ],
            })
            .collect(),
    };
    let work = |name: &str| step.work.get(name).copied().unwrap_or(0);
    Trees {
        heading: format!("The worked example, {}", title(step)),
        reading: format!(
            "{} nodes examined, page {} taken from the left edge of its block, {} maxima recomputed up to \
             the first that was right already or the root. Numbers are pages; what changed stands out.",
            work("find"),
            step.got.trim_start_matches('L'),
            work("propagate")
        ),
        trees: vec![tree("before", &step.before), tree("after", &step.after)],
    }
}

fn table(step: &Played) -> Table {
    let header =
        ["node", "start", "size", "subtree_max_size", "start after", "size after", "subtree_max_size after"];
    let mut table = Table::new(format!("The worked example, {}", title(step)), &header);
    for before in &step.before {
        let name = name(&step.before, before);
        let after = step.after.iter().find(|node| self::name(&step.after, node) == name);
        let cells = |node: Option<&TalkNode>| match node {
            Some(node) => [node.start, node.size, node.subtree_max].map(|value| value.to_string()),
            None => ["gone", "-", "-"].map(str::to_owned),
        };
        let mut row = vec![name];
        row.extend(cells(Some(before)));
        row.extend(cells(after));
        table.row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_talks_two_requests_change_what_the_talk_says() {
        let part = part().unwrap();
        assert!(!part.failed);
        let [one, four] = &part.section.tables[..] else { panic!("two requests: {:?}", part.section.tables) };
        let after = |table: &Table, node: &str| {
            let row = table.rows.iter().find(|row| row[0] == node).unwrap();
            (row[5].clone(), row[6].clone())
        };
        let pair = |size: &str, max: &str| (size.to_owned(), max.to_owned());
        // "1/1" for N1 at 00:19; "8/8" for N3, 8 for N2, 11 for N4 at 00:21.
        assert_eq!(after(one, "N1"), pair("1", "1"));
        assert_eq!(after(four, "N3"), pair("8", "8"));
        assert_eq!((after(four, "N2").1, after(four, "N4").1), ("8".to_owned(), "11".to_owned()));
        assert_eq!(part.section.figures.len(), 2);
    }
}
