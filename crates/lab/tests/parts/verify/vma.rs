use freehold::units::{Align, Span};
use freehold_lab::engine::vma::{ENGINES, EngineEntry, SpacesFacts};
use freehold_lab::run::measure;
use freehold_lab::verify::vma::calls;
use freehold_lab::workload::Workload;
use freehold_rivals::maple::ListRanges;
use freehold_trace::maple::{End, Ranges};
use freehold_trace::vma::{AreaMap, Call, Caller, Kinds, Op, Spaces};

/// A list that forgets its second store.
#[derive(Clone)]
struct Forgets {
    areas: ListRanges<u64>,
    stores: u32,
}

impl Ranges for Forgets {
    const GAP_IS_LINEAR: bool = true;

    fn new() -> Self {
        Self { areas: ListRanges::new(), stores: 0 }
    }

    fn store(&mut self, span: Span, value: u64) {
        self.stores += 1;
        if self.stores != 2 {
            self.areas.store(span, value);
        }
    }

    fn clear(&mut self, span: Span) {
        self.areas.clear(span);
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        Ranges::insert(&mut self.areas, span, value)
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        Ranges::erase(&mut self.areas, index)
    }

    fn get(&self, index: u64) -> Option<u64> {
        Ranges::get(&self.areas, index)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.areas.iter()
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        self.areas.gap(end, size, align, window)
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn bytes(&self) -> usize {
        self.areas.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.areas.validate()
    }
}

impl AreaMap for Forgets {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        self.areas.overlapping(span)
    }
}

/// A program with two areas that no call meets again, and whether it ends.
fn program(ends: bool) -> Workload<freehold_lab::family::Maple> {
    let map = |page: u64| {
        let span = Span::from_size(page << 12, 1 << 12).unwrap();
        Call::Map { span, kind: 0, replaces: false, by: Caller::Program }
    };
    let calls = [Call::Exec, map(16), map(32)].into_iter().chain(ends.then_some(Call::Destroy));
    let ops = calls.map(|call| Op { space: 0, call }).collect();
    Workload::new("two areas", "", Kinds::default(), ops, 1)
}

fn forgetful() -> EngineEntry {
    ENGINES[1].with(SpacesFacts { make: |kinds| Box::new(Spaces::<Forgets>::new(kinds)) })
}

#[test]
fn an_area_that_is_lost_and_never_met_again_is_found() {
    for ends in [false, true] {
        let checked = calls(&program(ends), &[forgetful(), ENGINES[0]], &mut || ());
        let first = checked[0].first.clone().map(|first| first.line);
        assert_eq!((first, checked[0].mismatches > 0), (Some(3), true), "ends: {ends}");
        assert_eq!(checked[1].mismatches, 0, "ends: {ends}");
        let lost = measure(program(ends), &[forgetful()], 0, &mut |_| ()).err().unwrap().to_string();
        assert!(lost.contains("other areas than a sorted list"), "ends: {ends}: {lost}");
        measure(program(ends), &[ENGINES[0]], 0, &mut |_| ()).unwrap();
    }
}
