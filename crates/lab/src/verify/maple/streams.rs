//! A recorded stream of stores: the request of every calculation by both formulas, and the content of every tree that
//! is destroyed, from stores into empty trees of every engine.

use super::requests::{Formula, Situation};
use crate::engine::maple::trees;
use crate::verify::Checked;
use freehold::maple::Heights;
use freehold::units::Span;
use freehold_linux::maple::Planner;
use freehold_trace::TraceError;
use freehold_trace::maple::{
    Answer, Op, Refusal, Stream, StreamRecord, StreamWrite, TreeFlags, Trees, Value,
};
use std::path::Path;

/// The version whose requests are by the series' formula.
const VACANCY_SINCE: &str = "6.16";

pub(in crate::verify) fn verify(file: &Path, tick: &mut dyn FnMut()) -> Result<Vec<Checked>, TraceError> {
    let mut stream = Stream::open(file)?;
    let this = if stream.header().version == VACANCY_SINCE { Planner::Vacancy } else { Planner::Worst };
    // By the formula of its own kernel, and by the older one.
    let mut own = Formula::new(format!("requests of {}", stream.header().version), this);
    let mut older = Formula::new("requests by the formula of 6.12", Planner::Worst);
    // Gaps are tracked, as most of the trees had it; what is stored does not depend on that.
    let flags = TreeFlags { alloc: true, rcu: false };
    let mut replays: Vec<Replay> = trees(flags).into_iter().map(Replay::new).collect();
    while let Some(record) = stream.next().transpose()? {
        let at = stream.record();
        if let StreamRecord::Write { write, .. } = &record
            && let Some(calculation) = &write.calculation
        {
            let heights = Heights {
                height: write.height.into(),
                vacant: calculation.vacant_height.into(),
                sufficient: calculation.sufficient_height.into(),
            };
            let situation = Situation { store_type: write.store_type, heights, rcu: write.flags.rcu };
            let over_index_0 = Span::new(0, 0) == Some(calculation.asked);
            own.check(at, situation, over_index_0, calculation.requested.into(), calculation.times);
            older.check(at, situation, over_index_0, calculation.requested_6_12.into(), calculation.times);
        }
        replays.iter_mut().for_each(|replay| replay.record(at, &record));
        tick();
    }
    let replays = replays.into_iter().map(|replay| replay.finish(stream.record()));
    let told = |Formula { checked, nodes, .. }: Formula| Checked {
        note: Some(format!("{nodes} nodes requested")),
        ..checked
    };
    Ok([told(own), told(older)].into_iter().chain(replays).collect())
}

/// The stores of a stream, into trees of one engine.
pub struct Replay {
    trees: Box<dyn Trees>,
    checked: Checked,
    /// The tree that operations go to.
    current: u32,
    destroyed: u64,
}

impl Replay {
    /// Into empty trees.
    pub fn new((engine, trees): (&'static str, Box<dyn Trees>)) -> Self {
        Self { trees, checked: Checked::new("contents", engine), current: 0, destroyed: 0 }
    }

    /// Takes a record, which is that number of all.
    pub fn record(&mut self, at: u64, record: &StreamRecord) {
        match *record {
            StreamRecord::Group(_) => {}
            StreamRecord::Appear { tree, .. } => self.go_to(at, tree),
            StreamRecord::Destroy { tree, entries, digest } => {
                let (count, got) = self.trees.content(tree, false);
                let text = |count, digest| format!("{count} entries, digest {digest:016x}");
                self.checked.compare(at, text(entries, digest), text(count, got));
                self.destroyed += 1;
                self.run(at, Op::DestroyTree { tree });
            }
            StreamRecord::Duplicate { tree, source } => {
                self.run(at, Op::Duplicate { from: source, into: tree });
            }
            StreamRecord::Forget { tree } => self.run(at, Op::DestroyTree { tree }),
            StreamRecord::Write { tree, write } => self.write(at, tree, &write),
        }
    }

    fn go_to(&mut self, at: u64, tree: u32) {
        self.current = tree;
        self.run(at, Op::UseTree { tree });
    }

    fn write(&mut self, at: u64, tree: u32, write: &StreamWrite) {
        if write.used.is_none() {
            return;
        }
        if self.current != tree {
            self.go_to(at, tree);
        }
        let (first, last) = (write.span.first(), write.span.last());
        let value = if write.null { Value::Null } else { Value::Number(1) };
        self.run(at, Op::Store { first, last, value });
        self.checked.operations += 1;
    }

    /// Runs an operation, which may not be refused.
    fn run(&mut self, at: u64, op: Op) {
        let answer = self.trees.run_one(&op);
        if matches!(answer, Answer::Done(Err(_)) | Answer::Unsupported) {
            let done = Answer::Done(Ok::<(), Refusal>(()));
            self.checked.compare(at, format!("{done:?} to {op:?}"), format!("{answer:?}"));
        }
    }

    /// What was checked, up to that record.
    pub fn finish(mut self, at: u64) -> Checked {
        self.checked.valid(at, self.trees.validate());
        self.checked.note = Some(format!("{} contents held against their digests", self.destroyed));
        self.checked
    }
}
