//! The results as tables for people, with their rows for programs.

use super::rows;
use crate::engine::percpu::EngineEntry;
use crate::family::Entry;
use crate::measure::percpu::{ChurnRun, DeletionRun, FillRun, Pages, StaleHintRun};
use crate::measure::{median, ratio};
use crate::output::{Document, Row, Table, count, fixed};
use crate::workload::percpu::{Churn, ORDERS, Size};
use freehold::units::Bytes;

/// A document on its way.
pub(super) struct Tables {
    pub(super) document: Document,
    unit_bytes: u32,
}

impl Tables {
    pub(super) fn new(unit_bytes: u32) -> Self {
        Self { document: Document::default(), unit_bytes }
    }

    fn unit(&self) -> Bytes {
        Bytes::from(u64::from(self.unit_bytes))
    }

    /// One size of objects: a row for each engine.
    pub(super) fn fill(&mut self, name: &'static str, size: Size, runs: &[FillRun]) {
        let title = format!("{name} {}, units of {}: ns for one object", size.label(), self.unit());
        let mut table = Table::new(
            title,
            &["engine", "objects", "alloc", "in-order", "alternating", "reverse", "random"],
        );
        for run in runs {
            let mut cells = vec![run.entry.engine.to_owned(), count(u64::from(run.objects))];
            cells.push(fixed(median(&run.alloc_ns)));
            cells.extend(ORDERS.map(|order| fixed(run.free_ns(order))));
            table.row(cells);
        }
        self.document.rows.extend(rows::fill(name, size, runs, self.unit_bytes));
        self.document.tables.push(table);
    }

    /// Bytes of metadata while all objects of a size are live.
    pub(super) fn footprint(&mut self, size: Size, runs: &[FillRun]) {
        let title = format!("footprint {}, units of {}", size.label(), self.unit());
        let mut table = Table::new(title, &["engine", "chunks", "bytes", "bytes/object", "% of a unit"]);
        for run in runs {
            let full = &run.full;
            let per_object = full.metadata_bytes as f64 / full.objects.max(1) as f64;
            let units = full.chunks.max(1) as f64 * f64::from(self.unit_bytes);
            table.row(vec![
                run.entry.engine.to_owned(),
                count(full.chunks),
                count(full.metadata_bytes),
                fixed(per_object),
                fixed(100.0 * full.metadata_bytes as f64 / units),
            ]);
            self.document.rows.push(rows::footprint(size, run, self.unit_bytes));
        }
        self.document.tables.push(table);
    }

    /// A steady state: time of a pair, and pages beside what the objects would fill without a gap.
    pub(super) fn churn(&mut self, name: &'static str, workload: &Churn, runs: &[ChurnRun]) {
        let ideal = workload.ideal_pages();
        let title = format!("{name}, units of {}: {} pages would do", self.unit(), count(ideal));
        let mut table = Table::new(title, &["engine", "ns/pair", "pages", "of ideal"]);
        for run in runs {
            let pages = run.end.populated_pages;
            table.row(vec![
                run.entry.engine.to_owned(),
                fixed(median(&run.pair_ns)),
                count(pages),
                format!("{:.3}", pages as f64 / ideal.max(1) as f64),
            ]);
        }
        self.document.rows.extend(rows::churn(name, runs, self.unit_bytes));
        self.document.tables.push(table);
    }

    /// Pages before and after holes are filled.
    pub(super) fn stale_hint(&mut self, runs: &[StaleHintRun]) {
        let title = format!("stale-hint, units of {}: pages of a unit", self.unit());
        let mut table = Table::new(title, &["engine", "with holes", "refilled"]);
        for run in runs {
            let (before, after) = (run.before_pages, run.after_pages);
            table.row(vec![run.entry.engine.to_owned(), count(before), count(after)]);
            self.document.rows.extend(rows::stale_hint(run, self.unit_bytes));
        }
        self.document.tables.push(table);
    }

    /// Pages over recorded operations: the most, and the sum as a ratio to the first engine's.
    pub(super) fn pages(&mut self, engines: &[EngineEntry], runs: &[(String, Vec<Pages>)]) {
        let title = "pages of a unit over recorded operations: at peak, and summed, the first engine's as 1";
        let mut header = vec!["file".to_owned()];
        for entry in engines {
            header.extend([entry.engine.to_owned(), "sum".to_owned()]);
        }
        let mut table = Table { header, ..Table::new(title, &[]) };
        for (file, pages) in runs {
            let first = pages.first().map(|pages| pages.sum as f64);
            let mut cells = vec![file.clone()];
            for run in pages {
                let ratio = ratio(run.sum as f64, first);
                cells
                    .extend([count(run.peak), ratio.map_or_else(String::new, |ratio| format!("{ratio:.3}"))]);
                self.document.rows.push(Row {
                    suite: "percpu",
                    workload: Some("pages".to_owned()),
                    engine: Some(run.entry.engine),
                    default: run.entry.is_default().then_some(true),
                    file: Some(file.clone()),
                    pages: Some(run.peak),
                    ratio,
                    failures: Some(run.failures),
                    ..Row::default()
                });
            }
            table.row(cells);
        }
        self.document.tables.push(table);
    }

    /// Pages before and after most groups are deleted.
    pub(super) fn deletion(&mut self, runs: &[DeletionRun]) {
        let title = format!("deletion, units of {}: pages of a unit", self.unit());
        let header = ["engine", "all groups", "one in 11, nothing given back", "balanced", "times less"];
        let mut table = Table::new(title, &header);
        for run in runs {
            let less = run.kept_pages as f64 / run.balanced_pages.max(1) as f64;
            table.row(vec![
                run.entry.engine.to_owned(),
                count(run.full_pages),
                count(run.kept_pages),
                count(run.balanced_pages),
                fixed(less),
            ]);
            self.document.rows.extend(rows::deletion(run, self.unit_bytes));
        }
        self.document.tables.push(table);
    }
}
