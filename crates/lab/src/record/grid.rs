//! The address space over time: how much of each stretch of addresses is busy at each point of a run.

use freehold::units::Span;
use freehold_trace::kva::Op;
use std::collections::HashMap;

/// Rows of the picture: stretches of addresses.
pub const ROWS: usize = 160;

/// A grid of busy shares, one column per point in time, lowest addresses first.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Points in time.
    pub columns: usize,
    /// The addresses that the rows divide among them: as far as the engine spread during the run.
    pub hull: Option<Span>,
    /// Busy share of each stretch, 0 to 255, column by column.
    pub busy: Vec<u8>,
    ops: usize,
    /// Spans with the operations that they live from and until.
    lives: Vec<(Span, usize, usize)>,
    live: HashMap<u32, Vec<usize>>,
}

impl Grid {
    /// A picture of a run of `ops` operations at `columns` points in time.
    pub fn new(ops: usize, columns: usize) -> Self {
        Self { columns: columns.min(ops), ops, ..Self::default() }
    }

    /// Notes what operation `at` took or freed.
    pub fn placed(&mut self, op: &Op, spans: &[Span], at: usize) {
        match op {
            Op::Free { object } => {
                for life in self.live.remove(object).unwrap_or_default() {
                    if let Some(life) = self.lives.get_mut(life) {
                        life.2 = at;
                    }
                }
            }
            Op::Alloc { object, .. } | Op::Congruent { object, .. } if !spans.is_empty() => {
                let from = self.lives.len();
                self.lives.extend(spans.iter().map(|&span| (span, at, usize::MAX)));
                self.live.insert(*object, (from..self.lives.len()).collect());
            }
            _ => {}
        }
    }

    /// Paints the grid of the first `spread_bytes` of the space.
    pub fn finish(mut self, space_first: u64, spread_bytes: u64) -> Self {
        let Some(hull) = Span::from_size(space_first, spread_bytes) else { return self };
        let mut shares = vec![0f64; self.columns * ROWS];
        let row_bytes = hull.size_bytes() as f64 / ROWS as f64;
        for &(span, from, until) in &self.lives {
            let columns = self.column_after(from)..self.column_after(until);
            let low = (span.first() - space_first) as f64 / row_bytes;
            let high = low + span.size_bytes() as f64 / row_bytes;
            for row in low as usize..(high.ceil() as usize).min(ROWS) {
                let share = (high.min(row as f64 + 1.0) - low.max(row as f64)).max(0.0);
                for column in columns.clone() {
                    if let Some(cell) = shares.get_mut(column * ROWS + row) {
                        *cell += share;
                    }
                }
            }
        }
        self.busy = shares.into_iter().map(|share| (share * 255.0).round().clamp(0.0, 255.0) as u8).collect();
        self.hull = Some(hull);
        self.lives = Vec::new();
        self.live = HashMap::new();
        self
    }

    /// The first column that shows the state after operation `at`.
    fn column_after(&self, at: usize) -> usize {
        if at >= self.ops { self.columns } else { (at * self.columns).div_ceil(self.ops.max(1)) }
    }
}
