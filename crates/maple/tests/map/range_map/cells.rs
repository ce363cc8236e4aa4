//! The model: one cell for each index.

/// Indexes of the tests: the highest ones of the space, so that its end is met.
pub(super) const BASE: u64 = u64::MAX - WIDTH + 1;
pub(super) const WIDTH: u64 = 48;

/// What one index holds: which entry, and its value.
pub(super) type CellOf = Option<(u32, String)>;

/// One cell for each index from `BASE` on. Cells that follow each other and have the same number are one entry.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Model {
    pub(super) cells: Vec<CellOf>,
    next: u32,
}

impl Model {
    pub(super) fn new() -> Self {
        Self { cells: vec![None; WIDTH as usize], next: 0 }
    }

    pub(super) fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Entries as (first, last, value), offsets from `BASE`.
    pub(super) fn entries(&self) -> Vec<(usize, usize, String)> {
        let mut entries: Vec<(usize, usize, String)> = Vec::new();
        for (at, cell) in self.cells.iter().enumerate() {
            let Some((number, value)) = cell else { continue };
            let goes_on = at > 0 && self.cells[at - 1].as_ref().is_some_and(|(before, _)| before == number);
            match entries.last_mut() {
                Some(entry) if goes_on => entry.1 = at,
                _ => entries.push((at, at, value.clone())),
            }
        }
        entries
    }

    pub(super) fn set(&mut self, first: usize, last: usize, value: Option<&str>) {
        let number = self.number();
        // What is left above the range is an entry of its own.
        let above = self.number();
        if let Some((cut, _)) = self.cells[first].clone() {
            for cell in self.cells[last + 1..].iter_mut().flatten().filter(|cell| cell.0 == cut) {
                cell.0 = above;
            }
        }
        for cell in &mut self.cells[first..=last] {
            *cell = value.map(|value| (number, value.to_owned()));
        }
    }

    /// The parts of entries within a range.
    pub(super) fn clipped(&self, first: usize, last: usize) -> Vec<(usize, usize, String)> {
        let met = self.entries().into_iter().filter(|entry| entry.0 <= last && first <= entry.1);
        met.map(|(low, high, value)| (low.max(first), high.min(last), value)).collect()
    }

    pub(super) fn erase(&mut self, at: usize) -> Option<(usize, usize, String)> {
        let entry = self.entries().into_iter().find(|entry| entry.0 <= at && at <= entry.1)?;
        self.cells[entry.0..=entry.1].fill(None);
        Some(entry)
    }
}

/// Makes one entry of the one over a range and of its equal neighbours; returns its ends.
pub(super) fn model_absorb(model: &mut Model, first: usize, last: usize) -> (usize, usize) {
    let (number, value) = model.cells[first].clone().unwrap();
    for beside in [first.wrapping_sub(1), last + 1] {
        let Some(Some((other, equal))) = model.cells.get(beside).cloned() else { continue };
        for cell in model.cells.iter_mut().flatten().filter(|(of, _)| *of == other && equal == value) {
            cell.0 = number;
        }
    }
    let (first, last, _) =
        model.entries().into_iter().find(|entry| entry.0 <= first && first <= entry.1).unwrap();
    (first, last)
}

/// Cuts the entry at an index; false if there is nothing to cut.
pub(super) fn model_cut(model: &mut Model, at: usize) -> bool {
    let number = model.number();
    let cut = at > 0 && at < WIDTH as usize && {
        let [below, here] = [at - 1, at].map(|at| model.cells[at].as_ref().map(|cell| cell.0));
        here.is_some() && below == here
    };
    if cut {
        let old = model.cells[at].as_ref().unwrap().0;
        for cell in model.cells[at..].iter_mut().flatten().filter(|cell| cell.0 == old) {
            cell.0 = number;
        }
    }
    cut
}
