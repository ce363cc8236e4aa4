//! An address space as a film: its areas, sampled while its process runs.
//!
//! ```text
//!   addresses   |  ##  ###|  a row is no fixed number of bytes: every stretch that was ever an area gets
//!               |.........|  height by the logarithm of its size, so that a page can be seen beside a
//!               | ####   #|  reservation of terabytes; stretches that never were are thin lines
//! ```

use crate::engine::vma::Session;
use crate::engine::vma::{Call, Class, Op};
use crate::record::{Film, Time};
use freehold::units::Span;
use std::collections::BTreeMap;

/// Points in time.
const COLUMNS: usize = 480;
/// Rows of the picture.
const ROWS: usize = 360;
/// Bytes of a page, the least that can be told apart.
const PAGE_BYTES: f64 = 4096.0;
/// A stretch never mapped that is longer than this parts the picture.
const FAR_BYTES: u64 = 1 << 36;

/// An address space being filmed.
#[derive(Clone, Debug)]
pub struct Filming {
    /// The space.
    pub space: u32,
    /// Its operations between two samples.
    pub stride: usize,
    /// Operations of the space so far.
    pub ops: usize,
    /// The areas at some times.
    pub samples: Vec<Sample>,
}

/// The areas at a time.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The operation, among all.
    pub at: usize,
    /// The areas, and what they are.
    pub areas: Vec<(Span, Class)>,
}

impl Filming {
    /// Of the space that most operations change.
    pub fn of_busiest(ops: &[Op]) -> Self {
        let mut busy: BTreeMap<u32, usize> = BTreeMap::new();
        for op in ops.iter().filter(|op| changes(op)) {
            *busy.entry(op.space).or_default() += 1;
        }
        let (space, ops) = busy.into_iter().max_by_key(|&(_, ops)| ops).unwrap_or_default();
        Self { space, stride: ops.div_ceil(COLUMNS).max(1), ops: 0, samples: Vec::new() }
    }

    /// Operation `at` was run.
    pub fn note(&mut self, session: &dyn Session, op: &Op, at: usize) {
        if op.space != self.space || !changes(op) {
            return;
        }
        self.ops += 1;
        if self.ops.is_multiple_of(self.stride) {
            let mut areas = Vec::new();
            session.visit(self.space, &mut |span, kind| areas.push((span, kind.class())));
            self.samples.push(Sample { at, areas });
        }
    }

    /// Paints it.
    pub fn develop(self, time: &Time<'_>) -> Film {
        let scale = Scale::of(&self.samples);
        let mut cells = vec![0; self.samples.len() * ROWS];
        for (sample, column) in self.samples.iter().zip(cells.chunks_mut(ROWS)) {
            for &(span, class) in &sample.areas {
                let [from, until] = scale.rows(span);
                for cell in column.get_mut(from..until).unwrap_or_default() {
                    *cell = class as u8 + 1;
                }
            }
        }
        Film {
            space: self.space,
            seconds: self.samples.iter().map(|sample| time.at(sample.at)).collect(),
            rows: ROWS,
            cells,
            begins: scale.begins,
            areas: self.samples.iter().map(|sample| sample.areas.len() as u64).collect(),
        }
    }
}

/// Whether an operation may change the areas of its space.
fn changes(op: &Op) -> bool {
    matches!(
        op.call,
        Call::Map { .. }
            | Call::Unmap { .. }
            | Call::Protect { .. }
            | Call::Advise { .. }
            | Call::Remap { .. }
    )
}

/// Which row an address is in.
struct Scale {
    /// Addresses at which something begins or ends, with their heights from 0 to 1.
    heights: BTreeMap<u64, f64>,
    begins: Vec<(f64, u64)>,
}

impl Scale {
    fn of(samples: &[Sample]) -> Self {
        let ends = |span: Span| [span.first(), span.last().saturating_add(1)];
        let spans = || samples.iter().flat_map(|sample| sample.areas.iter().map(|area| area.0));
        let mut heights: BTreeMap<u64, f64> = spans().flat_map(ends).map(|address| (address, 0.0)).collect();
        // What is mapped at any time: areas going up by one where they begin, and down where they end.
        let mut edges: BTreeMap<u64, i64> = BTreeMap::new();
        for [first, end] in spans().map(ends) {
            *edges.entry(first).or_default() += 1;
            *edges.entry(end).or_default() -= 1;
        }
        let (mut height, mut depth, mut below) = (0.0, 0i64, None);
        let mut begins = Vec::new();
        for (&address, place) in &mut heights {
            let length = below.map(|below: u64| address - below);
            height += match length {
                Some(length) if depth > 0 => (1.0 + length as f64 / PAGE_BYTES).log2(),
                Some(length) => 0.2 * (1.0 + length as f64 / PAGE_BYTES).log2().min(20.0),
                None => 0.0,
            };
            if depth == 0 && length.is_none_or(|length| length > FAR_BYTES) {
                begins.push((height, address));
            }
            *place = height;
            depth += edges.get(&address).copied().unwrap_or(0);
            below = Some(address);
        }
        let whole = if height > 0.0 { height } else { 1.0 };
        heights.values_mut().for_each(|place| *place /= whole);
        begins.iter_mut().for_each(|begin| begin.0 /= whole);
        Self { heights, begins }
    }

    /// The rows of an area: at least one.
    fn rows(&self, span: Span) -> [usize; 2] {
        let row = |address: u64| self.heights.get(&address).copied().unwrap_or(0.0) * ROWS as f64;
        let (from, until) = (row(span.first()), row(span.last().saturating_add(1)));
        let from = (from as usize).min(ROWS - 1);
        [from, (until.ceil() as usize).clamp(from + 1, ROWS)]
    }
}
