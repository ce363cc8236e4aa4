//! Recorded placements: every answer, every run of background work, and every digest, hint by hint.

use crate::engine::percpu::ChunkSetEngine;
use crate::verify::Checked;
use crate::workload::percpu::config;
use freehold::percpu::{Config, Placement};
use freehold_linux::percpu::{Linux, LinuxFixed};
use freehold_trace::TraceError;
use freehold_trace::percpu::{
    Answer, ChunkLine, Digest, Driver, Engine, Footprint, Op, Record, Variant, Vectors, chunk_lines_hash,
};
use std::path::Path;

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
        checked: Checked::new("placements", engine),
        balance_due: false,
        told: Told::default(),
    };
    while let Some(record) = vectors.next().transpose()? {
        replay.record(vectors.line(), &record);
        tick();
    }
    let left_over = if replay.balance_due { "balancing" } else { "no balancing left over" };
    replay.checked.compare(vectors.line(), "no balancing left over", left_over);
    Ok(replay.checked)
}

struct Replay<P: Placement> {
    driver: Driver<ChunkSetEngine<P>>,
    checked: Checked,
    /// The last operation had work done that the file must tell of next.
    balance_due: bool,
    told: Told,
}

/// What the kernel's statistics tell, as the operations tell it.
#[derive(Clone, Debug, Default)]
struct Told {
    allocs: u64,
    frees: u64,
    live_most: u64,
    chunks_most: u64,
    size_least: Option<u64>,
    size_most: u64,
    /// The chunk that the lines are about; before the first they are about all.
    chunk: Option<usize>,
}

impl Told {
    fn note(&mut self, op: &Op, answer: Answer, chunks: u64) {
        match (op, answer) {
            (Op::Alloc { size_bytes, .. }, Answer::At { .. }) => {
                let size = size_bytes.next_multiple_of(4);
                self.allocs += 1;
                self.size_least = Some(self.size_least.map_or(size, |least| least.min(size)));
                self.size_most = self.size_most.max(size);
            }
            (Op::Free { .. }, Answer::Freed) => self.frees += 1,
            _ => {}
        }
        self.live_most = self.live_most.max(self.allocs - self.frees);
        self.chunks_most = self.chunks_most.max(chunks);
    }

    /// The value of that name; `None` of what no placement decides or only the kernel keeps.
    fn value(&self, name: &str, now: &Footprint, chunks: &[ChunkLine]) -> Option<u64> {
        let Some(chunk) = self.chunk else {
            return match name {
                "nr_alloc" => Some(self.allocs),
                "nr_dealloc" => Some(self.frees),
                "nr_cur_alloc" => Some(now.objects),
                "nr_max_alloc" => Some(self.live_most),
                "nr_chunks" => Some(now.chunks),
                "nr_max_chunks" => Some(self.chunks_most),
                "min_alloc_size" => Some(self.size_least.unwrap_or(0)),
                "max_alloc_size" => Some(self.size_most),
                "empty_pop_pages" => Some(now.empty_pages),
                _ => None,
            };
        };
        let line = chunks.get(chunk)?;
        match name {
            "nr_alloc" => Some(line.objects),
            "empty_pop_pages" => Some(line.empty_pages),
            "free_bytes" => Some(line.free_bytes),
            "contig_bytes" => Some(line.contig_bytes),
            _ => None,
        }
    }
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
                self.told.note(op, got, self.driver.engine().footprint().chunks);
                self.checked.operations += 1;
                self.checked.right(line, got == *expected, || [*expected, got].map(answer_text));
            }
            Record::Balance => {
                let got = if self.balance_due { "balancing" } else { "no balancing" };
                self.checked.compare(line, "balancing", got);
                self.balance_due = false;
            }
            Record::Digest(expected) => self.digest(line, expected),
            Record::Statistics(text) => self.statistics(line, text),
        }
    }

    fn statistics(&mut self, line: u64, text: &str) {
        match text.trim() {
            "Percpu Memory Statistics" => self.told.chunk = None,
            // Lists such as `(sidelined)` stand before the colon.
            heading if heading.starts_with("Chunk") => {
                self.told.chunk = Some(self.told.chunk.map_or(0, |chunk| chunk + 1))
            }
            _ => {}
        }
        let Some((name, value)) = text.split_once(':') else { return };
        let lines = self.driver.chunk_lines().unwrap_or_default();
        let got = self.told.value(name.trim(), &self.driver.engine().footprint(), &lines);
        if let Some(got) = got {
            self.checked.compare(
                line,
                text.trim(),
                format!("{}:{got:>w$}", name.trim_start(), w = value.len()),
            );
        }
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
        self.checked.same(line, expected, &got);
        self.checked.valid(line, self.driver.engine().validate());
    }
}

fn answer_text(answer: Answer) -> String {
    match answer {
        Answer::At { chunk, offset_bytes } => format!("{chunk} {offset_bytes}"),
        other => other.to_string(),
    }
}
