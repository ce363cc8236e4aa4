//! What a space must be: an array that says for each granule who has it. It knows nothing of trees, spans of blocks or
//! entries.

use freehold_kva::Placement;
use std::collections::BTreeMap;

/// Who has a granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Not in the space.
    Hole,
    Free,
    Usable(u32),
    Guard(u32),
    /// Held for the region that will move there.
    Held(u32),
}

/// What a region has beyond its granules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) value: u64,
    /// log2 of the alignment in granules.
    pub(super) align: u32,
    pub(super) is_carved: bool,
    /// Where it will start, while it moves.
    pub(super) to: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) cells: Vec<Cell>,
    pub(super) owners: BTreeMap<u32, Owner>,
    next: u32,
}

/// Granules `first..end`.
pub(super) type Run = (usize, usize);

/// Why an operation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A region, by the start of its usable granules.
    Moving(usize),
    Carved(usize),
    Interior(usize),
    OtherSpan(usize),
    AtStart(usize),
    InGuard(usize),
    Guarded(usize),
    NoNeighbour(usize),
    Disagree(usize),
    AlreadyFree,
    Unknown,
}

impl Model {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self { cells, owners: BTreeMap::new(), next: 0 }
    }

    /// The usable granules of a region.
    pub(super) fn usable(&self, id: u32) -> Run {
        let mut own = (0..self.cells.len()).filter(|&at| self.cells[at] == Cell::Usable(id));
        let first = own.next().unwrap();
        (first, own.next_back().unwrap_or(first) + 1)
    }

    pub(super) fn guard(&self, id: u32) -> usize {
        self.cells.iter().filter(|&&cell| cell == Cell::Guard(id)).count()
    }

    /// The regions in address order.
    pub(super) fn regions(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = Vec::new();
        for cell in &self.cells {
            match *cell {
                Cell::Usable(id) if ids.last() != Some(&id) => ids.push(id),
                _ => {}
            }
        }
        ids
    }

    /// Maximal runs of granules of which something holds.
    pub(super) fn runs(&self, is_in: impl Fn(Cell) -> bool) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (at, &cell) in self.cells.iter().enumerate() {
            match runs.last_mut() {
                Some(last) if is_in(cell) && last.1 == at => last.1 = at + 1,
                _ if is_in(cell) => runs.push((at, at + 1)),
                _ => {}
            }
        }
        runs
    }

    /// The place of a request that was checked.
    pub(super) fn place(
        &self,
        placement: Placement,
        size: usize,
        fits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let is_free = |at: usize| self.cells[at..at + size].iter().all(|&cell| cell == Cell::Free);
        let mut places = (0..=self.cells.len().checked_sub(size)?).filter(|&at| is_free(at) && fits(at));
        match placement {
            Placement::Lowest => places.next(),
            Placement::Highest => places.next_back(),
            Placement::BestFit => {
                let run_of = |at: usize| {
                    let run = self
                        .runs(|cell| cell == Cell::Free)
                        .into_iter()
                        .find(|run| run.0 <= at && at < run.1);
                    run.map(|run| run.1 - run.0)
                };
                places.min_by_key(|&at| (run_of(at), at))
            }
        }
    }

    pub(super) fn take(&mut self, first: usize, size: usize, guard: usize, owner: Owner) -> u32 {
        let id = self.next;
        self.next += 1;
        self.cells[first..first + size].fill(Cell::Usable(id));
        self.cells[first + size..first + size + guard].fill(Cell::Guard(id));
        self.owners.insert(id, owner);
        id
    }

    pub(super) fn forget(&mut self, id: u32) -> Owner {
        for cell in &mut self.cells {
            if matches!(*cell, Cell::Usable(other) | Cell::Guard(other) | Cell::Held(other) if other == id) {
                *cell = Cell::Free;
            }
        }
        self.owners.remove(&id).unwrap()
    }

    /// Refuses a region that is carved or moving.
    pub(super) fn whole(&self, id: u32) -> Result<u32, Refusal> {
        let first = self.usable(id).0;
        match self.owners[&id] {
            Owner { to: Some(_), .. } => Err(Refusal::Moving(first)),
            Owner { is_carved: true, .. } => Err(Refusal::Carved(first)),
            _ => Ok(id),
        }
    }

    /// Whether a granule is usable in the place that a region moves to.
    fn moves_over(&self, id: u32, at: usize) -> bool {
        let (first, end) = self.usable(id);
        self.owners[&id].to.is_some_and(|to| (to..to + end - first).contains(&at))
    }

    /// The region that starts at a granule.
    pub(super) fn starting(&self, at: usize) -> Result<u32, Refusal> {
        match self.cells[at] {
            Cell::Hole => Err(Refusal::Unknown),
            Cell::Free => Err(Refusal::AlreadyFree),
            Cell::Held(id) => Err(Refusal::Moving(self.usable(id).0)),
            Cell::Guard(id) => Err(Refusal::Interior(self.usable(id).0)),
            Cell::Usable(id) if self.usable(id).0 < at => Err(Refusal::Interior(self.usable(id).0)),
            Cell::Usable(id) => self.whole(id),
        }
    }

    /// Cuts a region; the second part gets `value`.
    fn cut(&mut self, id: u32, at: usize, value: u64, align_at: u32) {
        let (_, end) = self.usable(id);
        let guard = self.guard(id);
        let owner = self.owners[&id];
        self.take(at, end - at, guard, Owner { value, align: owner.align.min(align_at), ..owner });
    }

    /// `align_at` is the log2 of what divides the address of the granule.
    pub(super) fn split_at(
        &mut self,
        at: usize,
        value: impl FnOnce(u64) -> u64,
        align_at: u32,
    ) -> Result<(), Refusal> {
        let id = match self.cells[at] {
            Cell::Usable(id) | Cell::Guard(id) => self.whole(id)?,
            _ => self.starting(at)?,
        };
        let first = self.usable(id).0;
        match self.cells[at] {
            Cell::Guard(_) => return Err(Refusal::InGuard(first)),
            _ if at == first => return Err(Refusal::AtStart(first)),
            _ => {}
        }
        let value = value(self.owners[&id].value);
        self.cut(id, at, value, align_at);
        Ok(())
    }

    /// Returns the value of the second region.
    pub(super) fn merge(&mut self, at: usize) -> Result<u64, Refusal> {
        let one = self.starting(at)?;
        let (_, end) = self.usable(one);
        if self.guard(one) > 0 {
            return Err(Refusal::Guarded(at));
        }
        let other = match self.cells.get(end) {
            Some(&Cell::Usable(_) | &Cell::Held(_)) => self.starting(end)?,
            _ => return Err(Refusal::NoNeighbour(at)),
        };
        if self.owners[&one].value != self.owners[&other].value {
            return Err(Refusal::Disagree(at));
        }
        for cell in &mut self.cells {
            *cell = match *cell {
                Cell::Usable(id) if id == other => Cell::Usable(one),
                Cell::Guard(id) if id == other => Cell::Guard(one),
                cell => cell,
            };
        }
        Ok(self.owners.remove(&other).unwrap().value)
    }

    /// Frees a run: cuts at both ends, and frees what lies between. Returns what was freed.
    pub(super) fn free_range(
        &mut self,
        run: Run,
        mut value: impl FnMut(u64) -> u64,
        align_at: impl Fn(usize) -> u32,
    ) -> Result<Vec<(Run, u64)>, Refusal> {
        for at in run.0..run.1 {
            match self.cells[at] {
                Cell::Usable(id) | Cell::Held(id) => _ = self.whole(id)?,
                // A region that moves by a little is usable where its guard was.
                Cell::Guard(id) if self.moves_over(id, at) => _ = self.whole(id)?,
                _ => {}
            }
        }
        // Each part keeps of the alignment of its region, not of a part that was cut in between.
        let align = |model: &Self, at: usize| match model.cells.get(at) {
            Some(Cell::Usable(id)) => model.owners[id].align,
            _ => 0,
        };
        let aligns = [align(self, run.0), align(self, run.1)];
        for (at, whole) in [run.0, run.1].into_iter().zip(aligns) {
            match self.cells.get(at) {
                Some(&Cell::Usable(id)) if self.usable(id).0 < at && (run.0 < run.1) => {
                    let cut = value(self.owners[&id].value);
                    self.cut(id, at, cut, align_at(at));
                    let new = self.owners.last_entry().unwrap().into_mut();
                    new.align = whole.min(align_at(at));
                }
                _ => {}
            }
        }
        let inside: Vec<u32> = self
            .regions()
            .into_iter()
            .filter(|&id| run.0 <= self.usable(id).0 && self.usable(id).1 <= run.1)
            .collect();
        Ok(inside.into_iter().map(|id| (self.usable(id), self.forget(id).value)).collect())
    }
}
