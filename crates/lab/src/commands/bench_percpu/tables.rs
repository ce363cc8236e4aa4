//! The results as tables for people, with their rows for programs.

use super::rows;
use crate::engine::percpu::EngineEntry;
use crate::family::{Entry, FLOOR_NOTE};
use crate::measure::percpu::{ChurnRun, DeletionRun, FIRST, FillRun, MassFreeRun, Pages, StaleHintRun};
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

    /// Says once what the engine is that does no work.
    fn note_floor(&mut self) {
        if self.document.notes.iter().all(|note| note != FLOOR_NOTE) {
            self.document.notes.push(FLOOR_NOTE.to_owned());
        }
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
            let mut cells = vec![run.entry.table_label(), count(u64::from(run.objects))];
            cells.push(fixed(median(&run.alloc_ns)));
            cells.extend(ORDERS.map(|order| fixed(run.free_ns(order))));
            table.row(cells);
        }
        self.note_floor();
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
        let ideal = workload.ideal_pages;
        let title = format!("{name}, units of {}: {} pages would do", self.unit(), count(ideal));
        let mut table = Table::new(title, &["engine", "ns/pair", "pages", "of ideal"]);
        for run in runs {
            let pages = run.end.populated_pages;
            table.row(vec![
                run.entry.table_label(),
                fixed(median(&run.pair_ns)),
                count(pages),
                format!("{:.3}", pages as f64 / ideal.max(1) as f64),
            ]);
        }
        self.note_floor();
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
        table.row(self.pages_of_all(engines, runs));
        self.document.tables.push(table);
    }

    /// Peaks and sums over all files; each engine's against the fixed kernel's, too, in a note.
    fn pages_of_all(&mut self, engines: &[EngineEntry], runs: &[(String, Vec<Pages>)]) -> Vec<String> {
        let total = |at: usize| {
            let of = runs.iter().filter_map(|(_, pages)| pages.get(at));
            of.fold((0, 0), |(peak, sum), pages| (peak + pages.peak, sum + pages.sum))
        };
        let totals: Vec<(u64, u128)> = (0..engines.len()).map(total).collect();
        let first = totals.first().map(|&(_, sum)| sum as f64);
        let fixed_kernel =
            engines.iter().zip(&totals).find(|(entry, _)| entry.engine == "bitmap-linux-fixed");
        let mut cells = vec![format!("all {} files", runs.len())];
        for (entry, &(peak, sum)) in engines.iter().zip(&totals) {
            let of_first = ratio(sum as f64, first).map_or_else(String::new, |ratio| format!("{ratio:.3}"));
            cells.extend([count(peak), of_first]);
            let Some((kernel, &(kernel_peak, kernel_sum))) = fixed_kernel else { continue };
            if kernel.engine != entry.engine && kernel_peak > 0 && kernel_sum > 0 {
                self.document.notes.push(format!(
                    "over all files, pages of {} to those of {}: peaks {:.4}, sums {:.4}",
                    entry.engine,
                    kernel.engine,
                    peak as f64 / kernel_peak as f64,
                    sum as f64 / kernel_sum as f64
                ));
            }
        }
        cells
    }

    /// What is paid after many frees.
    pub(super) fn mass_free(&mut self, size: Size, runs: &[MassFreeRun]) {
        let title = format!(
            "mass-free {}, units of {}: ns of a free, and of requests after a random half of all was freed",
            size.label(),
            self.unit()
        );
        let first = format!("first {}, each", count(FIRST as u64));
        let header = ["engine", "free", "the first", "longest", &first, "all, each", "free and request"];
        let mut table = Table::new(title, &header);
        for run in runs {
            let columns = [&run.free_ns, &run.first_ns, &run.longest_ns, &run.early_ns, &run.all_ns];
            let mut cells = vec![run.entry.engine.to_owned()];
            cells.extend(columns.map(|ns| fixed(median(ns))));
            cells.push(fixed(median(&run.free_ns) + median(&run.all_ns)));
            table.row(cells);
            self.document.rows.extend(rows::mass_free(size, run, self.unit_bytes));
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
