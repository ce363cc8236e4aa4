//! The recorded work of the area map: runs of allocations and frees, played on our own, count by count.

use crate::verify::Checked;
use crate::workload::percpu::Order;
use freehold::units::{Align, Tally, Work};
use freehold_rivals::RivalWork;
use freehold_rivals::percpu::AreaMap;
use freehold_trace::TraceError;
use freehold_trace::percpu::{
    AllocTotals, AllocWork, Answer, AreaRecord, AreaRun, AreaVectors, Driver, FreeOrder, FreeWork, Op,
};
use std::path::Path;

/// The objects that fill units before their lower halves are freed, in bytes.
const FILLER_BYTES: u32 = 4;

pub(in crate::verify) fn verify(file: &Path, tick: &mut dyn FnMut()) -> Result<Vec<Checked>, TraceError> {
    let mut vectors = AreaVectors::open(file)?;
    let mut checks = Vec::new();
    let mut playing: Option<Playing> = None;
    while let Some(record) = vectors.next().transpose()? {
        let line = vectors.line();
        if let AreaRecord::Run(run) = record {
            tick();
            let fresh = Playing::new(run).map_err(|reason| TraceError::at(file, line, reason))?;
            checks.extend(playing.replace(fresh).map(|done| done.checked));
        } else if let Some(playing) = &mut playing {
            playing.record(line, &record, tick);
        }
    }
    checks.extend(playing.map(|done| done.checked));
    Ok(checks)
}

/// A run on its way.
struct Playing {
    run: AreaRun,
    driver: Driver<AreaMap>,
    /// The objects as they are freed.
    order: Vec<u32>,
    /// Work of all allocations, and of those since the last sum.
    alloc: [AllocWork; 2],
    /// Work of all frees, and of those since the last sum.
    free: [FreeWork; 2],
    allocated: u32,
    freed: u32,
    checked: Checked,
}

impl Playing {
    fn new(run: AreaRun) -> Result<Self, String> {
        let unit_bytes = u32::try_from(run.unit_bytes).map_err(|_| "the unit is too large")?;
        let mut driver = Driver::new(AreaMap::new(unit_bytes)?, false);
        if run.half {
            fill_upper_halves(&mut driver, &run, unit_bytes)?;
        }
        let order = match run.order {
            FreeOrder::InOrder => Order::InOrder,
            FreeOrder::Alternating => Order::Alternating,
            FreeOrder::Reverse => Order::Reverse,
        };
        let half = if run.half { ", second half filled" } else { "" };
        let AreaRun { size_bytes, align, objects, .. } = run;
        let (align, unit_kib, named) = (align.bytes(), run.unit_bytes >> 10, run.order.about());
        let what = format!("{objects} x {size_bytes}/{align} of {unit_kib}K, {named}{half}");
        let checked = Checked::new(what, "area-map");
        let (alloc, free) = Default::default();
        let order = order.arrange(&(0..objects).collect::<Vec<_>>());
        Ok(Self { run, driver, order, alloc, free, allocated: 0, freed: 0, checked })
    }

    fn record(&mut self, line: u64, record: &AreaRecord, tick: &mut dyn FnMut()) {
        match *record {
            AreaRecord::Run(_) => {}
            AreaRecord::Alloc(op, answer, work) => {
                let got = self.alloc(&op, tick);
                self.checked.same(line, &(answer, work), &got);
            }
            AreaRecord::AllocSum(done, work) => {
                self.alloc_up_to(done, tick);
                let got = std::mem::take(&mut self.alloc[1]);
                self.checked.same(line, &work, &got);
            }
            AreaRecord::AllocTotals(totals) => {
                self.alloc_up_to(u64::from(self.run.objects), tick);
                let size = self.driver.engine().map_size();
                let got = AllocTotals {
                    work: self.alloc[0],
                    chunks: size.chunks,
                    map_entries: size.entries,
                    map_capacity: size.capacity,
                };
                self.checked.same(line, &totals, &got);
            }
            AreaRecord::Free(op, work) => {
                let got = self.free(&op, tick);
                self.checked.same(line, &work, &got);
            }
            AreaRecord::FreeSum(done, work) => {
                self.free_up_to(done, tick);
                let got = std::mem::take(&mut self.free[1]);
                self.checked.same(line, &work, &got);
            }
            AreaRecord::FreeTotals(totals) => {
                self.free_up_to(u64::from(self.run.objects), tick);
                self.checked.same(line, &totals, &self.free[0]);
            }
        }
    }

    fn alloc_up_to(&mut self, done: u64, tick: &mut dyn FnMut()) {
        let AreaRun { size_bytes, align, .. } = self.run;
        while u64::from(self.allocated) < done {
            self.alloc(&Op::Alloc { object: self.allocated, size_bytes, align, atomic: false }, tick);
        }
    }

    fn alloc(&mut self, op: &Op, tick: &mut dyn FnMut()) -> (Answer, AllocWork) {
        self.allocated += 1;
        let (answer, tally) = self.op(op, tick);
        let mut work = AllocWork::default();
        for sum in [&mut work].into_iter().chain(&mut self.alloc) {
            sum.scanned += RivalWork::EntryScanned.of(&tally);
            sum.moved += RivalWork::IntMoved.of(&tally);
            sum.chunks_checked += tally.of(Work::ChunkVisited);
            sum.copied += RivalWork::IntCopied.of(&tally);
        }
        (answer, work)
    }

    fn free_up_to(&mut self, done: u64, tick: &mut dyn FnMut()) {
        while u64::from(self.freed) < done {
            let object = self.order[self.freed as usize];
            self.free(&Op::Free { object }, tick);
        }
    }

    fn free(&mut self, op: &Op, tick: &mut dyn FnMut()) -> FreeWork {
        self.freed += 1;
        let (answer, tally) = self.op(op, tick);
        if answer != Answer::Freed {
            self.checked.compare(0, format!("freed by the {op}"), answer.to_string());
        }
        let mut work = FreeWork::default();
        for sum in [&mut work].into_iter().chain(&mut self.free) {
            sum.probes += RivalWork::EntryProbed.of(&tally);
            sum.moved += RivalWork::IntMoved.of(&tally);
        }
        work
    }

    fn op(&mut self, op: &Op, tick: &mut dyn FnMut()) -> (Answer, Tally) {
        let mut tally = Tally::default();
        let answer = self.driver.run(op, &mut tally);
        self.checked.operations += 1;
        tick();
        (answer, tally)
    }
}

/// Fills as many units with small objects as the run needs of lower halves, and frees these.
fn fill_upper_halves(driver: &mut Driver<AreaMap>, run: &AreaRun, unit_bytes: u32) -> Result<(), String> {
    let units = u64::from(run.chunks_before()?);
    let per_unit = unit_bytes / FILLER_BYTES;
    let objects = u32::try_from(units * u64::from(per_unit)).map_err(|_| "too many units")?;
    let align = Align::new(u64::from(FILLER_BYTES)).ok_or("fillers are not aligned")?;
    for object in 0..objects {
        let size_bytes = u64::from(FILLER_BYTES);
        driver.run(&Op::Alloc { object, size_bytes, align, atomic: false }, &mut ());
    }
    for object in (0..objects).filter(|object| object % per_unit < per_unit / 2) {
        driver.run(&Op::Free { object }, &mut ());
    }
    Ok(())
}
