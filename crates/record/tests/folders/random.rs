//! Random events, written as pages of random sizes and read back.

use super::kernels::{AREA_ALLOC, AREA_FREE, PURGE};
use super::pages::{Pages, write_folder};
use super::{imported, recording};
use freehold_trace::{Lines, kva};
use proptest::prelude::*;

/// What happened: the time since the CPU's event before, the task, and the area.
#[derive(Clone, Debug)]
struct Happened {
    cpu: usize,
    after: u64,
    tid: i32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Alloc { page: u64, pages: u64, align: u64 },
    Free { page: u64 },
    Purge { count: u64 },
}

fn happened() -> impl Strategy<Value = Happened> {
    let what = prop_oneof![
        (0..40u64, 1..9u64, 0..20u32).prop_map(|(page, pages, align)| What::Alloc {
            page,
            pages,
            align: 1 << align
        }),
        (0..40u64).prop_map(|page| What::Free { page }),
        (0..40u64).prop_map(|count| What::Purge { count }),
    ];
    let after = prop_oneof![Just(0u64), 1..1000u64, (1u64 << 26)..(1 << 29), (1u64 << 40)..(1 << 45)];
    (0..3usize, after, 0..i32::MAX, what).prop_map(|(cpu, after, tid, what)| Happened {
        cpu,
        after,
        tid,
        what,
    })
}

const AT: u64 = 0xffff_c900_0000_0000;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn pages_are_read_as_they_are_written(
        events in prop::collection::vec(happened(), 1..600),
        size in prop::sample::select(&[4096usize, 65536]),
    ) {
        let mut pages = [(); 3].map(|()| (Pages::new(size), 1000u64));
        let mut expected: Vec<(u64, usize, i32, What)> = Vec::new();
        for event in &events {
            let (pages, now) = &mut pages[event.cpu];
            *now += event.after;
            let record = match event.what {
                What::Alloc { page, pages, align } => AREA_ALLOC.record(event.tid, &[
                    ("addr", AT + page * 4096),
                    ("size", pages * 4096),
                    ("align", align),
                    ("vstart", AT),
                    ("vend", u64::MAX),
                ]),
                What::Free { page } => AREA_FREE.record(event.tid, &[("va_start", AT + page * 4096)]),
                What::Purge { count } => {
                    PURGE.record(event.tid, &[("start", AT), ("end", AT + 4096), ("npurged", count)])
                }
            };
            pages.push(*now, &record);
            expected.push((*now, event.cpu, event.tid, event.what));
        }
        // In order of time, then CPU; the order of a CPU stays.
        expected.sort_by_key(|(time, cpu, ..)| (*time, *cpu));
        let folder = tempfile::tempdir().unwrap();
        let cpus = pages.map(|(pages, _)| pages.finish());
        let kernel = recording("kva", "6.18", "");
        write_folder(folder.path(), &kernel, &[AREA_ALLOC, AREA_FREE, PURGE], size, &cpus);
        let (trace, summary) = imported(folder.path()).unwrap();
        prop_assert_eq!(summary.events, events.len() as u64);
        let read = kva::Events::new(Lines::from_text("trace", &trace)).unwrap();
        let read: Result<Vec<_>, _> = read.collect();
        let read = read.unwrap();
        let rows = read.iter().filter(|row| row.kind != kva::EventKind::FreeImplied);
        let mut live = std::collections::BTreeSet::new();
        let mut unknown = 0;
        for (row, (time, cpu, tid, what)) in rows.zip(&expected) {
            let stamp = (row.stamp.at_ns + 1000, row.stamp.cpu as usize, row.stamp.tid as i32);
            prop_assert_eq!(stamp, (*time, *cpu, *tid));
            match *what {
                What::Alloc { page, pages, align } => {
                    prop_assert_eq!(row.kind, kva::EventKind::Alloc);
                    prop_assert_eq!((row.address, row.size_bytes), (Some(AT + page * 4096), Some(pages * 4096)));
                    prop_assert_eq!(row.align.map(|align| align.bytes()), Some(align));
                    live.insert(page);
                }
                What::Free { page } => {
                    let known = live.remove(&page);
                    unknown += u64::from(!known);
                    let kind = if known { kva::EventKind::Free } else { kva::EventKind::FreeUnknown };
                    prop_assert_eq!((row.kind, row.address), (kind, Some(AT + page * 4096)));
                }
                What::Purge { count } => {
                    prop_assert_eq!(row.kind, kva::EventKind::Purge);
                    prop_assert_eq!(&row.note, &count.to_string());
                }
            }
        }
        prop_assert_eq!(read.len() as u64, summary.rows);
        prop_assert_eq!(summary.rows, events.len() as u64 + summary.implied_frees);
        prop_assert_eq!(summary.unknown, unknown);
    }
}
