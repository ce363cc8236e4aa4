//! A history of one tree as a test in C for the kernel's own test suites: `freehold emit-c`.
//!
//! ```text
//!   file ---> one tree's operations ---> Told: each with its right answer ---> erase2.rs   rows for a checker
//!                                          and what it stores or removes  ---> calls.rs    calls with what they return
//! ```
//!
//! A value is the first key of the store that it came with, so that a dump of the tree is readable. Nothing of the kernel's is in
//! what is written: names of its interface, and numbers.

mod calls;
mod erase2;
mod shape;

pub use calls::calls;
pub use erase2::erase2;

use freehold::units::Span;
use freehold_rivals::maple::Naive;
use freehold_trace::maple::{Answer, ContentEntry, Driver, Engine, Expected, Op, TreeFlags, Value};

/// The largest value that an entry may have.
const MOST_VALUE: u64 = u64::MAX / 2;
/// Stores from the last on whose entries are looked at in the end.
const AFFECTED: usize = 8;

/// What is said of a history above its test.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its name in C.
    pub id: String,
    /// The workload, and the number of the tree.
    pub what: String,
    /// The kernel that it was recorded on, if it was.
    pub kernel: Option<String>,
    /// Operations of all trees of the file.
    pub all: usize,
    /// The command that made it.
    pub command: String,
}

/// An operation, its right answer, and what it does to entries.
#[derive(Clone, Debug)]
struct Step {
    op: Op,
    expected: Expected,
    /// The range that it stores over, and whether it stores something.
    stores: Option<(Span, bool)>,
}

/// A history with all its answers.
pub struct Told {
    flags: TreeFlags,
    steps: Vec<Step>,
    /// What the tree holds in the end.
    entries: Vec<ContentEntry>,
    /// The first key of each store, by the number that stands for it.
    keys: Vec<u64>,
    /// The search for a gap that was asked last, asked again in the end.
    searched: Option<Step>,
}

impl Told {
    /// Of operations on tree 0, by the model. Block walks, which no suite has, are left out.
    ///
    /// # Errors
    /// An operation is none of one tree.
    pub fn new(flags: TreeFlags, ops: &[Op]) -> anyhow::Result<Self> {
        let mut told =
            Self { flags, steps: Vec::new(), entries: Vec::new(), keys: Vec::new(), searched: None };
        let mut model = Driver::<Naive>::new(flags);
        for op in ops.iter().filter(|op| !matches!(op, Op::StepMany { .. })) {
            let op = told.named(op);
            let before = few(&model);
            let held = match op {
                Op::Erase { index } | Op::CursorErase { index } => holding(&model, index),
                _ => None,
            };
            let answer = model.run(&op);
            anyhow::ensure!(
                answer != Answer::Unsupported,
                "{op:?} cannot be done here: a test in C is of one tree"
            );
            let stores = stores(&op, &answer, held);
            // Where it went is known now.
            if let Some((span, true)) = stores
                && let Some(key) = told.keys.last_mut()
            {
                *key = span.first();
            }
            let expected = Expected { answer, loose: before || few(&model) };
            told.steps.push(Step { op, expected, stores });
        }
        let searches = |step: &&Step| matches!(step.op, Op::EmptyArea { .. });
        told.searched = told.steps.iter().rev().find(searches).map(|step| {
            let expected = Expected { answer: model.run(&step.op), loose: false };
            Step { expected, ..step.clone() }
        });
        if let Some(tree) = model.tree() {
            tree.entries(&mut |entry| told.entries.push(entry));
        }
        Ok(told)
    }

    /// What it holds in the end.
    pub fn spans(&self) -> Vec<Span> {
        self.entries.iter().map(|entry| entry.span).collect()
    }

    /// The operation with a number of its own as its value.
    fn named(&mut self, op: &Op) -> Op {
        let mut op = *op;
        let first = match op {
            Op::Store { first, .. } | Op::Insert { first, .. } | Op::CursorStore { first, .. } => first,
            _ => 0,
        };
        if let Op::Store { value, .. }
        | Op::Insert { value, .. }
        | Op::AllocRange { value, .. }
        | Op::AllocCyclic { value, .. }
        | Op::StoreGap { value }
        | Op::CursorStore { value, .. } = &mut op
            && let Value::Number(number) = value
        {
            self.keys.push(first);
            *number = self.keys.len() as u32;
        }
        op
    }

    /// An entry in C.
    fn entry(&self, value: Value) -> String {
        match value {
            Value::Null => "NULL".to_owned(),
            Value::Reserved => "XA_ZERO_ENTRY".to_owned(),
            Value::Number(number) => {
                let key = self.keys.get((number as usize).saturating_sub(1)).copied().unwrap_or_default();
                format!("xa_mk_value({})", unsigned(key & MOST_VALUE))
            }
        }
    }

    /// What a look-up at an index says in the end: nothing of what is only reserved.
    fn load(&self, index: u64) -> Value {
        let at = self.entries.iter().find(|entry| entry.span.contains(index));
        at.map(|entry| entry.value).filter(|value| *value != Value::Reserved).unwrap_or_default()
    }

    /// Keys at the ends of what was stored or removed last, each once, ascending.
    fn affected(&self) -> Vec<u64> {
        let stored = self.steps.iter().rev().filter_map(|step| step.stores);
        let ends = stored.take(AFFECTED).flat_map(|(span, _)| [span.first(), span.last()]);
        ends.collect::<std::collections::BTreeSet<u64>>().into_iter().collect()
    }

    /// The comment above the test.
    fn comment(&self, about: &About) -> String {
        let recorded =
            about.kernel.as_ref().map(|kernel| format!(", recorded on {kernel}")).unwrap_or_default();
        let lines = [
            format!("{}, operations 1..{} of {}{recorded}", about.what, self.steps.len(), about.all),
            format!("freehold emit-c {}: {}", env!("CARGO_PKG_VERSION"), about.command),
        ];
        let all = lines.into_iter().chain(shape::told(&self.steps));
        // Names of files and workloads may hold anything, and neither end the comment nor begin one.
        let text =
            |line: String| line.replace("*/", "* /").replace("/*", "/ *").replace(char::is_control, " ");
        let all = all.map(|line| format!(" * {}\n", text(line)));
        format!("/*\n{} */\n", all.collect::<String>())
    }

    /// How the tree begins, in C.
    fn flags(&self) -> &'static str {
        match (self.flags.alloc, self.flags.rcu) {
            (true, true) => "MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU",
            (true, false) => "MT_FLAGS_ALLOC_RANGE",
            (false, true) => "MT_FLAGS_USE_RCU",
            (false, false) => "0",
        }
    }
}

/// A number in C. Decimal ones above the signed range have no type of their own.
fn unsigned(number: u64) -> String {
    if number > MOST_VALUE { format!("{number}UL") } else { number.to_string() }
}

/// Whether the kernel may keep the tree without a node.
fn few(model: &Driver<Naive>) -> bool {
    model.content(0, false).0 <= 1
}

/// The range of the entry at an index.
fn holding(model: &Driver<Naive>, index: u64) -> Option<Span> {
    let mut found = None;
    model
        .tree()?
        .entries(&mut |entry| found = found.or(Some(entry.span).filter(|span| span.contains(index))));
    found
}

/// What an operation that was answered so stores over, and whether it stores something.
fn stores(op: &Op, answer: &Answer, held: Option<Span>) -> Option<(Span, bool)> {
    let stored = |value: Value| value != Value::Null;
    match (*op, *answer) {
        (Op::Store { first, last, value } | Op::Insert { first, last, value }, Answer::Done(Ok(()))) => {
            Some((Span::new(first, last)?, stored(value)))
        }
        (
            Op::CursorStore { first, last, value, .. },
            Answer::Replaced { .. } | Answer::Stored { done: Ok(()), .. },
        ) => Some((Span::new(first, last)?, stored(value))),
        (Op::StoreGap { value }, Answer::Stored { done: Ok(()), index, last }) => {
            Some((Span::new(index, last)?, stored(value)))
        }
        (Op::AllocRange { size, value, .. }, Answer::Placed(Ok(first))) => {
            Some((Span::from_size(first, size)?, stored(value)))
        }
        (Op::AllocCyclic { value, .. }, Answer::Cycled(Ok(cycled))) => {
            Some((Span::new(cycled.index, cycled.index)?, stored(value)))
        }
        (Op::Erase { .. } | Op::CursorErase { .. }, _) => Some((held?, false)),
        _ => None,
    }
}
