//! Recorded placements of the Linux 6.12 bitmap allocator, the files `u-*` and `x-*`: operations with their
//! answers, runs of background work, and digests of the allocator's state.
//!
//! What a file says of itself is checked: counts of operations and live objects at every digest and at the
//! end, and the hash of every digest that lists its chunks.

use super::digest::{ChunkLine, Digest, chunk_lines_hash};
use super::placement::Placement;
use super::{Answer, Op};
use crate::named::named;
use crate::{Fields, Format, Lines, Reader, TraceError};

named! {
    /// Which of two kernels answered.
    Variant {
        Stock "stock" "The kernel as shipped: a free may leave a chunk's hint too small."
        Fixed "fixed" "With the one expression put right that makes hints stale."
    }
}

/// How a file was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Bytes of a chunk for each CPU.
    pub unit_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// CPUs that a chunk has units for.
    pub cpus: u32,
    /// Which kernel answered.
    pub variant: Variant,
    /// Whether background work ran, right after each operation that asked for it; otherwise it never ran.
    pub balance: bool,
    /// Of the generator.
    pub seed: u64,
    /// Operations from one digest to the next.
    pub digest_every: u64,
}

/// One line of the body, or a digest with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An operation and its answer.
    Op(Op, Answer),
    /// Background work ran.
    Balance,
    /// The state after the operations so far.
    Digest(Digest),
    /// A line of the kernel's own statistics.
    Statistics(String),
}

/// A line on its own.
enum Line {
    Whole(Record),
    /// A digest whose chunk lines follow.
    Digest(Digest),
    End,
}

/// What is known of a vector file as it is read.
pub struct VectorFormat {
    setup: Setup,
    placement: Placement,
    frees: u64,
    freed_last: Option<u32>,
}

/// A vector file, read record by record.
pub type Vectors = Reader<VectorFormat>;

impl Vectors {
    /// How the file was recorded.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.format.setup
    }
}

impl Format for VectorFormat {
    type Record = Record;

    fn begin(lines: &mut Lines) -> Result<Self, TraceError> {
        let setup = setup(lines.require("not percpu vectors: the file is empty")?);
        let setup = setup.map_err(|reason| lines.error(format!("not percpu vectors: {reason}")))?;
        Ok(Self { setup, placement: Placement::new(setup.unit_bytes, 0), frees: 0, freed_last: None })
    }

    fn read(&mut self, lines: &mut Lines) -> Result<Option<Record>, TraceError> {
        let line = self.line(lines.require("the file is cut off: no `# end` line")?);
        match line.map_err(|reason| lines.error(reason))? {
            Line::Whole(record) => Ok(Some(record)),
            Line::Digest(digest) => chunk_lines(digest, lines).map(Some),
            Line::End => lines.finish().map(|()| None),
        }
    }
}

fn chunk_lines(mut digest: Digest, lines: &mut Lines) -> Result<Record, TraceError> {
    let mut chunk_lines = Vec::new();
    for _ in 0..digest.chunks {
        let line = chunk_line(lines.require("the file is cut off within a digest")?);
        chunk_lines.push(line.map_err(|reason| lines.error(reason))?);
    }
    if chunk_lines_hash(&chunk_lines) != digest.hash {
        return Err(lines.error("the hash of the digest is not that of its lines"));
    }
    digest.lines = Some(chunk_lines);
    Ok(Record::Digest(digest))
}

/// `# unit U page P cpus C variant stock|fixed balance off|sync seed S digest_every K`
fn setup(text: &str) -> Result<Setup, String> {
    let mut fields = Fields::new(text, ' ');
    fields.word("#")?;
    let (unit_bytes, page_bytes) = (fields.named("unit")?, fields.named("page")?);
    let cpus = fields.named("cpus")?;
    fields.word("variant")?;
    let setup = Setup {
        unit_bytes,
        page_bytes,
        cpus,
        variant: fields.choice("variant", Variant::named)?,
        balance: match fields.named::<String>("balance")?.as_str() {
            "off" => false,
            "sync" => true,
            other => return Err(format!("unknown balance {other:?}")),
        },
        seed: fields.named("seed")?,
        digest_every: fields.named("digest_every")?,
    };
    fields.end().map(|()| setup)
}

fn chunk_line(text: &str) -> Result<ChunkLine, String> {
    let mut fields = Fields::new(text, ' ');
    fields.word("c")?;
    let line = ChunkLine::parse(&mut fields)?;
    fields.end().map(|()| line)
}

impl VectorFormat {
    fn line(&mut self, text: &str) -> Result<Line, String> {
        let mut fields = Fields::new(text, ' ');
        let line = match fields.text("op")? {
            "a" => Line::Whole(self.alloc(&mut fields, false)?),
            "A" => Line::Whole(self.alloc(&mut fields, true)?),
            "f" => Line::Whole(self.free(fields.text("N")?)?),
            "b" => Line::Whole(Record::Balance),
            "d" => Line::Whole(Record::Digest(self.digest(&mut fields)?)),
            "D" => Line::Digest(self.digest(&mut fields)?),
            "s" => {
                let text = text.strip_prefix("s ").unwrap_or_default();
                return Ok(Line::Whole(Record::Statistics(text.to_owned())));
            }
            "#" => self.end(&mut fields)?,
            other => return Err(format!("unknown op {other:?}")),
        };
        fields.end().map(|()| line)
    }

    fn alloc(&mut self, fields: &mut Fields<'_>, atomic: bool) -> Result<Record, String> {
        let (size_bytes, align) = (fields.value("SIZE")?, fields.align("ALIGN")?);
        let (op, answer) = self.placement.alloc(fields, size_bytes, align, atomic)?;
        Ok(Record::Op(op, answer))
    }

    /// `N`, or with a sign relative to the object freed last.
    fn free(&mut self, text: &str) -> Result<Record, String> {
        let unreadable = || format!("unreadable object {text:?}");
        let object = if text.starts_with(['+', '-']) {
            let last = self.freed_last.ok_or("a relative object without one freed before")?;
            let by = text.parse::<i32>().map_err(|_| unreadable())?;
            last.checked_add_signed(by).ok_or_else(|| format!("object {last}{text} is none"))?
        } else {
            text.parse().map_err(|_| unreadable())?
        };
        let (op, answer) = self.placement.free(object)?;
        self.frees += 1;
        self.freed_last = Some(object);
        Ok(Record::Op(op, answer))
    }

    fn digest(&self, fields: &mut Fields<'_>) -> Result<Digest, String> {
        let digest = Digest::parse(fields)?;
        self.agrees(digest.ops, digest.live)?;
        Ok(digest)
    }

    /// `# end ops O handles H live L`
    fn end(&self, fields: &mut Fields<'_>) -> Result<Line, String> {
        fields.word("end")?;
        let (ops, handles) = (fields.named("ops")?, fields.named::<u64>("handles")?);
        self.agrees(ops, fields.named("live")?)?;
        let allocs = self.placement.allocs();
        if handles != allocs {
            return Err(format!("the file says {handles} allocations, but has {allocs}"));
        }
        Ok(Line::End)
    }

    fn agrees(&self, ops: u64, live: u64) -> Result<(), String> {
        let (had, living) = (self.placement.allocs() + self.frees, self.placement.live());
        if (ops, live) == (had, living) {
            return Ok(());
        }
        Err(format!("the file says {ops} operations and {live} live objects, but has {had} and {living}"))
    }
}
