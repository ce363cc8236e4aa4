//! `freehold emit-c`: the history of one tree as a test in C, to paste into the kernel's own.

use crate::emit_c::{About, Told, calls, erase2};
use crate::failure::usage;
use crate::kind::Kind;
use crate::output;
use crate::record::{count, counted};
use crate::workload::shown;
use crate::workload::trees::{of_tree, operations, tree_of};
use freehold_trace::maple::{Op, Stream, Vectors};
use freehold_trace::{Lines, TraceHeader, is_pipe};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Operations at most: nobody reads a longer test.
const MOST: usize = 1 << 16;

/// What is asked for.
#[derive(Debug, clap::Args)]
pub struct Asked {
    /// The address space, or the tree, by its number in the file; if not the first.
    #[arg(long, value_name = "N")]
    pub mm: Option<u32>,
    /// Rows of STORE, SNULL and ERASE for the checker of tools/testing/radix-tree/maple.c, and a function that calls it. So it is
    /// unless --calls is given.
    #[arg(long, conflicts_with = "calls")]
    pub erase2: bool,
    /// A function of calls for lib/test_maple_tree.c, each with what it returns.
    #[arg(long)]
    pub calls: bool,
    /// Where the text goes, if not to standard output, which is also `-`.
    #[arg(short, long, value_name = "OUT.c")]
    pub output: Option<PathBuf>,
}

/// The text, or what is said of the file that it was written to.
///
/// # Errors
/// The file cannot be read or has no such tree, its history is too long, or nothing can be written.
pub fn run(file: &Path, asked: &Asked) -> anyhow::Result<String> {
    if is_pipe(file) {
        return usage(format!(
            "{}: emit-c reads files alone: it says what its text was made of",
            shown(file)
        ));
    }
    let out = asked.output.as_deref().filter(|out| *out != Path::new("-"));
    out.map_or(Ok(()), |out| output::keep([file], out))?;
    let (flags, ops) = operations(file, usize::MAX)?;
    let own = Kind::of(file)? != Kind::TreeLog;
    let numbers = trees(&ops, own);
    let mm = match asked.mm.or(numbers.first().copied()) {
        Some(mm) if numbers.contains(&mm) => mm,
        Some(mm) => {
            return usage(format!(
                "{}: there is no mm {mm}; numbers in the file: {}",
                shown(file),
                listed(&numbers)
            ));
        }
        None => anyhow::bail!("{}: nothing is stored into any tree", shown(file)),
    };
    let of = of_tree(flags, &ops, if own { tree_of(mm) } else { mm });
    if of.len() > MOST {
        return usage(format!(
            "{}: {} operations of mm {mm}, of {MOST} at most: shrink it first, or take another --mm",
            shown(file),
            count(of.len() as u64)
        ));
    }
    let told = Told::new(flags, &of)?;
    let about = about(file, mm, ops.len(), asked)?;
    let text = if asked.calls { calls(&told, &about) } else { erase2(&told, &about) };
    let Some(out) = out else { return Ok(text) };
    output::write(out, text.as_bytes())?;
    let lines = counted(text.lines().count() as u64, "line");
    let entries = counted(told.spans().len() as u64, "entry");
    Ok(format!("{}: {lines}, check_{}; {entries} in the end\n", shown(out), about.id))
}

/// The numbers of trees that are written to, as the file has them.
fn trees(ops: &[Op], own: bool) -> BTreeSet<u32> {
    let (mut current, mut trees) = (0, BTreeSet::new());
    for op in ops {
        match op {
            Op::UseTree { tree } => current = *tree,
            Op::Duplicate { .. } | Op::DestroyTree { .. } => {}
            _ => drop(trees.insert(current)),
        }
    }
    trees.into_iter().map(|tree: u32| if own { tree.saturating_sub(1) } else { tree }).collect()
}

fn listed(numbers: &BTreeSet<u32>) -> String {
    let first: Vec<String> = numbers.iter().take(20).map(u32::to_string).collect();
    let more = if numbers.len() > first.len() {
        format!(" and {} more", numbers.len() - first.len())
    } else {
        String::new()
    };
    format!("{}{more}", first.join(", "))
}

/// What a file says of itself.
fn about(file: &Path, mm: u32, all: usize, asked: &Asked) -> anyhow::Result<About> {
    let (what, kernel) = match Kind::of(file)? {
        Kind::TreeLog => (format!("op log {}, tree {mm}", Vectors::open(file)?.header().name), None),
        Kind::TreeStream => {
            let version = Stream::open(file)?.header().version.clone();
            (format!("the kernel's tests of its tree, tree {mm}"), Some(format!("Linux {version}")))
        }
        _ => {
            let header = TraceHeader::read(&mut Lines::open(file)?)?;
            let about = if header.description.is_empty() {
                String::new()
            } else {
                format!(" ({})", header.description)
            };
            (format!("{}{about}, mm {mm}", header.workload), Some(format!("Linux {}", header.kernel)))
        }
    };
    let name = file.file_name().map(|name| shown(name.as_ref())).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let id: String =
        stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    let form = if asked.calls { "--calls" } else { "--erase2" };
    let command = format!("freehold emit-c {} --mm {mm} {form}", shown(file));
    Ok(About { id: format!("{id}_{mm}"), what, kernel, all, command })
}
