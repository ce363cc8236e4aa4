//! The work of the area map, the allocator that the bitmap replaced: the files `area-*`. Runs of allocations
//! followed by frees, with the map entries and integers that each touched.
//!
//! Short runs list every operation, long ones the sums of every thousand. Every run has the totals of both of
//! its phases, and a file without those of its last is cut off.

use super::placement::Placement;
use super::{Answer, Op};
use crate::named::named;
use crate::{Fields, Format, Lines, Reader, TraceError};
use freehold_units::Align;

named! {
    /// In which order a run frees; alternating is every even object, then every odd one.
    FreeOrder {
        InOrder "in" "in order"
        Alternating "alt" "alternating"
        Reverse "rev" "reverse"
    }
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaRun {
    /// Bytes of a chunk for each CPU.
    pub unit_bytes: u64,
    /// Bytes of each object.
    pub size_bytes: u64,
    /// What each object's offset is a multiple of.
    pub align: Align,
    /// Whether units were filled with 4-byte objects first and their lower halves freed again. Nothing of that
    /// is counted.
    pub half: bool,
    /// Objects.
    pub objects: u32,
    /// How they are freed.
    pub order: FreeOrder,
}

/// Work of allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllocWork {
    /// Map entries looked at.
    pub scanned: u64,
    /// Integers moved to insert an entry.
    pub moved: u64,
    /// Chunks visited.
    pub chunks_checked: u64,
    /// Integers copied into a larger map.
    pub copied: u64,
}

/// Work of frees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeWork {
    /// Steps of the binary search.
    pub probes: u64,
    /// Integers moved to merge entries.
    pub moved: u64,
}

/// The first phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocTotals {
    /// The work of all allocations.
    pub work: AllocWork,
    /// Chunks at its end.
    pub chunks: u64,
    /// Entries of all maps at its end, the closing ones included.
    pub map_entries: u64,
    /// Entries that the maps have room for.
    pub map_capacity: u64,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AreaRecord {
    /// A run begins, with an empty allocator.
    Run(AreaRun),
    /// An allocation, its answer and its work.
    Alloc(Op, Answer, AllocWork),
    /// A free and its work.
    Free(Op, FreeWork),
    /// The work of the last 1000 of this many allocations.
    AllocSum(u64, AllocWork),
    /// The work of the last 1000 of this many frees.
    FreeSum(u64, FreeWork),
    /// All allocations are done.
    AllocTotals(AllocTotals),
    /// All frees are done, and with them the run.
    FreeTotals(FreeWork),
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Allocating,
    Freeing,
}

/// A run that is not done.
struct Run {
    run: AreaRun,
    phase: Phase,
    placement: Placement,
}

/// What is known of a file of area map work as it is read.
#[derive(Default)]
pub struct AreaFormat {
    run: Option<Run>,
}

/// A file of area map work, read record by record.
pub type AreaVectors = Reader<AreaFormat>;

impl Format for AreaFormat {
    type Record = AreaRecord;

    fn begin(_: &mut Lines) -> Result<Self, TraceError> {
        Ok(Self::default())
    }

    fn read(&mut self, lines: &mut Lines) -> Result<Option<AreaRecord>, TraceError> {
        let between_runs = self.run.is_none() && lines.number() > 0;
        let record = match lines.advance()? {
            Some(text) => record(text, &mut self.run),
            None if between_runs => return Ok(None),
            None => Err("the file is cut off: a run is not done".to_owned()),
        };
        record.map(Some).map_err(|reason| lines.error(reason))
    }
}

fn record(text: &str, slot: &mut Option<Run>) -> Result<AreaRecord, String> {
    let mut fields = Fields::new(text, ' ');
    let op = fields.text("op")?;
    let record = match (op, slot.as_mut()) {
        ("@run", None) => {
            let run = begin(&mut fields)?;
            let placement = Placement::new(run.unit_bytes, run.chunks_before()?);
            *slot = Some(Run { run, phase: Phase::Allocating, placement });
            AreaRecord::Run(run)
        }
        ("@run", Some(_)) => return Err("a run begins within another".to_owned()),
        ("F", Some(run)) if run.phase == Phase::Freeing => {
            let totals = free_totals(&mut fields)?;
            run.done()?;
            *slot = None;
            AreaRecord::FreeTotals(totals)
        }
        (_, Some(run)) => run.line(op, &mut fields)?,
        (_, None) => return Err(format!("{op:?} outside of a run")),
    };
    fields.end().map(|()| record)
}

impl AreaRun {
    /// The chunks that are there when the run starts counting: as many as hold its objects in lower halves, each at a
    /// multiple of the alignment.
    ///
    /// # Errors
    /// No object fits, or there would be too many chunks.
    pub fn chunks_before(&self) -> Result<u32, String> {
        if !self.half {
            return Ok(0);
        }
        let stride = self.size_bytes.checked_next_multiple_of(self.align.bytes()).unwrap_or(0);
        let per_chunk = (self.unit_bytes / 2).checked_div(stride).unwrap_or(0);
        if per_chunk == 0 {
            return Err("no object fits the lower half of a unit".to_owned());
        }
        let chunks = u64::from(self.objects).div_ceil(per_chunk);
        u32::try_from(chunks).map_err(|_| "more than 2^32 chunks".to_owned())
    }
}

impl Run {
    fn line(&mut self, op: &str, fields: &mut Fields<'_>) -> Result<AreaRecord, String> {
        Ok(match (op, self.phase) {
            ("a", Phase::Allocating) => {
                let AreaRun { size_bytes, align, .. } = self.run;
                let (op, answer) = self.placement.alloc(fields, size_bytes, align, false)?;
                AreaRecord::Alloc(op, answer, alloc_work(fields)?)
            }
            ("w", Phase::Allocating) => AreaRecord::AllocSum(self.sum(fields)?, alloc_work(fields)?),
            ("A", Phase::Allocating) => {
                let totals = alloc_totals(fields)?;
                let (listed, objects) = (self.placement.allocs(), u64::from(self.run.objects));
                if listed != 0 && listed != objects {
                    return Err(format!("the run says {objects} objects, but lists {listed}"));
                }
                self.phase = Phase::Freeing;
                AreaRecord::AllocTotals(totals)
            }
            ("f", Phase::Freeing) => {
                let (op, _) = self.placement.free(fields.value("N")?)?;
                AreaRecord::Free(op, free_work(fields)?)
            }
            ("v", Phase::Freeing) => AreaRecord::FreeSum(self.sum(fields)?, free_work(fields)?),
            _ => return Err(format!("unknown op {op:?} in this phase of a run")),
        })
    }

    /// The operations done, at most all.
    fn sum(&self, fields: &mut Fields<'_>) -> Result<u64, String> {
        let done = fields.value("I")?;
        if done > u64::from(self.run.objects) {
            return Err(format!("{done} operations of {}", self.run.objects));
        }
        Ok(done)
    }

    fn done(&self) -> Result<(), String> {
        match self.placement.live() {
            0 => Ok(()),
            live => Err(format!("the run ends with {live} objects live")),
        }
    }
}

/// `unit U size S align A half H n N order in|alt|rev`
fn begin(fields: &mut Fields<'_>) -> Result<AreaRun, String> {
    let (unit_bytes, size_bytes) = (fields.named("unit")?, fields.named("size")?);
    fields.word("align")?;
    let align = fields.align("align")?;
    fields.word("half")?;
    let (half, objects) = (fields.flag("half")?, fields.named("n")?);
    fields.word("order")?;
    let order = fields.choice("order", FreeOrder::named)?;
    Ok(AreaRun { unit_bytes, size_bytes, align, half, objects, order })
}

fn alloc_work(fields: &mut Fields<'_>) -> Result<AllocWork, String> {
    Ok(AllocWork {
        scanned: fields.value("SCANNED")?,
        moved: fields.value("MOVED")?,
        chunks_checked: fields.value("CHECKED")?,
        copied: fields.value("COPIED")?,
    })
}

fn free_work(fields: &mut Fields<'_>) -> Result<FreeWork, String> {
    Ok(FreeWork { probes: fields.value("PROBES")?, moved: fields.value("MOVED")? })
}

fn alloc_totals(fields: &mut Fields<'_>) -> Result<AllocTotals, String> {
    let work = AllocWork {
        scanned: fields.named("scanned")?,
        moved: fields.named("moved")?,
        chunks_checked: fields.named("chunks_checked")?,
        copied: fields.named("extend_copied")?,
    };
    Ok(AllocTotals {
        work,
        chunks: fields.named("chunks")?,
        map_entries: fields.named("map_entries")?,
        map_capacity: fields.named("map_capacity")?,
    })
}

fn free_totals(fields: &mut Fields<'_>) -> Result<FreeWork, String> {
    Ok(FreeWork { probes: fields.named("probes")?, moved: fields.named("moved")? })
}
