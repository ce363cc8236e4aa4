//! Recorded placements: every answer, every run of background work, and every digest, hint by hint.

use crate::engine::percpu::ChunkSetEngine;
use crate::verify::Checked;
use crate::workload::percpu::config;
use freehold::percpu::{Config, Linux, LinuxFixed, Placement};
use freehold_trace::TraceError;
use freehold_trace::percpu::{Answer, Digest, Driver, Engine, Record, Variant, Vectors, chunk_lines_hash};
use std::path::Path;

/// Records between two ticks.
const TICK: u64 = 4096;

pub(in crate::verify) fn verify(file: &Path, tick: &mut dyn FnMut()) -> Result<Vec<Checked>, TraceError> {
    let vectors = Vectors::open(file)?;
    let config = config(vectors.setup()).map_err(|reason| TraceError::at(file, 1, reason))?;
    let checked = match vectors.setup().variant {
        Variant::Stock => replay::<Linux>(vectors, &config, "bitmap-linux", tick),
        Variant::Fixed => replay::<LinuxFixed>(vectors, &config, "bitmap-linux-fixed", tick),
    };
    checked.map(|checked| vec![checked])
}

fn replay<P: Placement + Clone>(
    mut vectors: Vectors,
    config: &Config,
    engine: &'static str,
    tick: &mut dyn FnMut(),
) -> Result<Checked, TraceError> {
    let fresh = ChunkSetEngine::<P>::new(config);
    let fresh = fresh.map_err(|reason| TraceError::at(Path::new(engine), 1, reason))?;
    let mut replay = Replay {
        driver: Driver::new(fresh, vectors.setup().balance),
        checked: Checked { what: "placements".to_owned(), engine, ..Checked::default() },
        balance_due: false,
    };
    while let Some(record) = vectors.next().transpose()? {
        let line = vectors.line();
        replay.record(line, &record);
        if line.is_multiple_of(TICK) {
            tick();
        }
    }
    replay.checked.compare(vectors.line(), "no balancing left over", replay.left_over());
    Ok(replay.checked)
}

struct Replay<P: Placement> {
    driver: Driver<ChunkSetEngine<P>>,
    checked: Checked,
    /// The last operation had work done that the file must tell of next.
    balance_due: bool,
}

impl<P: Placement + Clone> Replay<P> {
    fn record(&mut self, line: u64, record: &Record) {
        match record {
            Record::Op(op, expected) => {
                if self.balance_due {
                    self.checked.compare(line, "no balancing", "balancing");
                }
                let got = self.driver.run(op, &mut ());
                self.balance_due = self.driver.balanced();
                self.checked.operations += 1;
                if got == *expected {
                    self.checked.comparisons += 1;
                } else {
                    self.checked.compare(line, answer_text(*expected), answer_text(got));
                }
            }
            Record::Balance => {
                let got = if self.balance_due { "balancing" } else { "no balancing" };
                self.checked.compare(line, "balancing", got);
                self.balance_due = false;
            }
            Record::Digest(expected) => self.digest(line, expected),
            Record::Statistics(_) => {}
        }
    }

    fn left_over(&self) -> &'static str {
        if self.balance_due { "balancing" } else { "no balancing left over" }
    }

    fn digest(&mut self, line: u64, expected: &Digest) {
        let lines = self.driver.chunk_lines().unwrap_or_default();
        let footprint = self.driver.engine().footprint();
        let got = Digest {
            ops: self.checked.operations,
            chunks: footprint.chunks,
            populated_pages: footprint.populated_pages,
            empty_pages: footprint.empty_pages,
            live: footprint.objects,
            free_bytes: footprint.free_bytes,
            hash: chunk_lines_hash(&lines),
            lines: expected.lines.as_ref().map(|_| lines),
        };
        self.checked.compare(line, format!("{expected:?}"), format!("{got:?}"));
        let valid = self.driver.engine().validate();
        self.checked.compare(line, "valid", valid.err().unwrap_or_else(|| "valid".to_owned()));
    }
}

fn answer_text(answer: Answer) -> String {
    match answer {
        Answer::At { chunk, offset_bytes } => format!("{chunk} {offset_bytes}"),
        other => format!("{other:?}"),
    }
}
