//! The cases of address ranges.

use freehold::units::{Align, Span};
use freehold_lab::engine::ENGINES;
use freehold_lab::family::{Kva, Life, Percpu};
use freehold_lab::workload::WHOLE;
use freehold_lab::workload::suite::{
    Batch, CASES, Case, CaseInfo, Interleaved, Kind, Params, PercpuKind, Phase, Suited, find_cases,
};
use freehold_rivals::kva::Checker;
use freehold_trace::kva::{Answer, Op, Session};

const PAGE: u64 = Align::PAGE.bytes();

fn info(kind: Kind) -> &'static CaseInfo {
    CASES.iter().find(|case| case.kind == kind).unwrap()
}

fn params(loops: u64) -> Params {
    Params { loops, n: 300, ..Params::default() }
}

/// An engine whose every answer is checked.
struct Run {
    session: Box<dyn Session>,
    checker: Checker,
    answers: Vec<Answer>,
}

impl Run {
    fn new() -> Self {
        let layout = [WHOLE];
        let session = (ENGINES[0].make)(&layout, Align::PAGE).unwrap();
        Self { session, checker: Checker::of(&layout), answers: Vec::new() }
    }

    fn run(&mut self, ops: &[Op]) {
        self.answers = vec![Answer::default(); ops.len()];
        self.session.run(ops, &mut self.answers);
        for (op, &answer) in ops.iter().zip(&self.answers) {
            self.checker.check(op, answer).unwrap();
        }
    }

    /// Runs the batches of a phase; the loops that they were.
    fn phase(&mut self, case: &mut Case, phase: Phase) -> u64 {
        let mut loops = 0;
        while case.phase() == Some(phase) {
            let mut ops = Vec::new();
            loops += case.next_batch(&mut ops, 100).unwrap().loops;
            self.run(&ops);
        }
        loops
    }

    fn free_blocks(&self) -> Vec<Span> {
        let mut blocks = Vec::new();
        self.session.free_blocks(&mut |block| blocks.push(block));
        blocks
    }

    fn is_empty(&self) -> bool {
        self.checker.live() == 0 && self.free_blocks() == [WHOLE]
    }
}

/// The first operations of a case's body.
fn body(kind: Kind, loops: u64) -> Vec<Op> {
    let mut case = Case::new(info(kind), &params(loops), 0);
    let mut all = Vec::new();
    let mut ops = Vec::new();
    while let Some(Batch { phase, .. }) = case.next_batch(&mut ops, 1 << 20) {
        if phase == Phase::Body {
            all.append(&mut ops);
        }
        ops.clear();
    }
    all
}

/// Pages and alignment in bytes of each allocation.
fn requests(ops: &[Op]) -> Vec<(u64, u64)> {
    let request = |op: &Op| match op {
        Op::Alloc { size_bytes, align, .. } => Some((size_bytes / PAGE, align.bytes())),
        _ => None,
    };
    ops.iter().filter_map(request).collect()
}

#[test]
fn every_case_does_its_loops_and_leaves_nothing() {
    for info in CASES {
        for loops in [0, 1, 100] {
            let mut case = Case::new(info, &params(loops), 7);
            let mut run = Run::new();
            run.phase(&mut case, Phase::Setup);
            assert_eq!(run.checker.live(), case.held(), "{}", info.name);
            let done = run.phase(&mut case, Phase::Body);
            assert_eq!(done, if info.once { loops.min(1) } else { loops }, "{}", info.name);
            run.phase(&mut case, Phase::Teardown);
            assert_eq!((case.phase(), case.held()), (None, 0), "{}", info.name);
            assert!(run.is_empty(), "{}", info.name);
        }
    }
}

#[test]
fn names_stay_below_what_is_said() {
    for info in CASES {
        let mut case = Case::new(info, &params(1000), 50);
        let names = 50..50 + case.objects();
        let mut ops = Vec::new();
        while case.next_batch(&mut ops, 1000).is_some() {}
        assert!(ops.iter().all(|op| names.contains(&op.object())), "{}", info.name);
        // And none is named in vain, but by the case that cannot know how many it needs.
        let named: std::collections::HashSet<u32> = ops.iter().map(Op::object).collect();
        assert!(named.len() == names.len() || info.kind == Kind::PcpuAlloc, "{}", info.name);
    }
}

#[test]
fn a_case_that_is_stopped_frees_what_it_has() {
    for info in CASES {
        for batches in [0, 1, 3, 10] {
            let mut case = Case::new(info, &params(1000), 0);
            let mut run = Run::new();
            let mut ops = Vec::new();
            for _ in 0..batches {
                case.next_batch(&mut ops, 64);
            }
            case.stop();
            while case.next_batch(&mut ops, 64).is_some() {}
            run.run(&ops);
            assert!(run.is_empty(), "{} after {batches}", info.name);
        }
    }
}

/// Setups that leave holes free some of their objects, and teardowns the others; the last object stays.
fn holes<F: Suited>(kind: F::Kind, n: u32) {
    let info = F::CASES.iter().find(|case| case.kind == kind).unwrap();
    let mut case = Case::new(info, &Params { loops: 0, n, ..Params::default() }, 5);
    let (mut ops, mut made, mut freed, mut stay) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    while let Some(Batch { phase, .. }) = case.next_batch(&mut ops, 100) {
        for op in ops.drain(..) {
            match F::life(&op) {
                Life::Begins(object, _) => made.push(object),
                Life::Ends(object) if phase == Phase::Setup => freed.push(object),
                Life::Ends(object) => stay.push(object),
                Life::Comes(_) | Life::Neither => panic!("{op:?}"),
            }
        }
    }
    assert!(!freed.is_empty() && made.is_sorted(), "{}", info.name);
    assert_eq!(stay.last(), made.last(), "{}: the highest hole ends at an object", info.name);
    let mut all = [freed, stay].concat();
    all.sort_unstable();
    assert_eq!(all, made, "{}: what is freed and what stays are all of it", info.name);
}

#[test]
fn what_is_freed_and_what_stays_are_all_of_it() {
    for n in [1, 2, 7, 300] {
        [Kind::FullFit, Kind::Holes].into_iter().for_each(|kind| holes::<Kva>(kind, n));
        let kinds = [PercpuKind::SecondHalf, PercpuKind::StaleHint, PercpuKind::Deletion];
        kinds.into_iter().for_each(|kind| holes::<Percpu>(kind, n));
    }
}

#[test]
fn full_fit_leaves_a_hole_of_the_size_for_each_junk_area() {
    for (cpus, holes) in [(1, 8192), (2, 16_384), (4, 24_576), (12, 32_768)] {
        let mut case = Case::new(info(Kind::FullFit), &Params { cpus, ..params(1) }, 0);
        let mut run = Run::new();
        run.phase(&mut case, Phase::Setup);
        assert_eq!(run.checker.live(), holes);
        let mut blocks = run.free_blocks();
        blocks.pop();
        assert_eq!(blocks.len() as u64, holes);
        assert!(blocks.iter().all(|block| block.size_saturating() == 2 * PAGE), "a page and a guard");
    }
    assert_eq!(requests(&body(Kind::FullFit, 2)), [(2, 1), (2, 1)]);
}

#[test]
fn long_busy_list_keeps_fifteen_thousand_single_pages() {
    let mut case = Case::new(info(Kind::LongBusyList), &params(1), 0);
    let mut run = Run::new();
    run.phase(&mut case, Phase::Setup);
    assert_eq!(run.checker.live(), 15_000);
    assert_eq!(run.checker.used_below(u64::MAX), u128::from(15_000 * 2 * PAGE));
    let ops = body(Kind::LongBusyList, 1);
    assert_eq!(requests(&ops), [(101, 1), (2, 1)]);
    assert_eq!(ops.iter().map(Op::is_free).collect::<Vec<_>>(), [false, false, true, true]);
}

#[test]
fn sizes_and_alignments_are_the_kernels() {
    assert_eq!(requests(&body(Kind::FixSize, 3)), [(2, 1); 3]);
    let four = Case::new(info(Kind::FixSize), &Params { nr_pages: 4, ..params(1) }, 0);
    let mut ops = Vec::new();
    four.clone().next_batch(&mut ops, 1);
    assert_eq!(requests(&ops), [(5, 1)]);
    assert_eq!(requests(&body(Kind::FixAlign, 2)), [(6, 32 << 10); 2]);

    let sizes: std::collections::BTreeSet<_> = requests(&body(Kind::RandomSize, 5000)).into_iter().collect();
    assert_eq!(sizes, (2..=101).map(|pages| (pages, 1)).collect());

    let both = requests(&body(Kind::RandomSizeAlign, 20_000));
    let drawn: std::collections::BTreeSet<_> = both.into_iter().collect();
    let byte = |drawn: u64| (drawn % 10 + 2, (1 << (drawn % 23)).max(PAGE));
    assert_eq!(drawn, (0..256).map(byte).collect());
}

#[test]
fn align_shift_is_refused_where_the_space_has_no_such_multiple() {
    let ops = body(Kind::AlignShift, 1000);
    assert_eq!(requests(&ops), (0..64).map(|shift| (2, 1 << shift)).collect::<Vec<_>>());
    let mut run = Run::new();
    run.run(&ops);
    let space = WHOLE;
    for (op, answer) in ops.iter().zip(&run.answers).filter(|(op, _)| !op.is_free()) {
        let Op::Alloc { align, .. } = op else { continue };
        let lowest = align.up(space.first()).filter(|&start| space.contains(start));
        assert_eq!(*answer, lowest.map_or(Answer::NoRoom, Answer::At), "{align}");
    }
    let refused = run.answers.iter().filter(|answer| **answer == Answer::NoRoom).count();
    assert_eq!(refused, 22, "2^42 and above lie outside");
}

#[test]
fn pcpu_alloc_takes_the_chunks_of_its_objects_at_one_base_each() {
    let ops = body(Kind::PcpuAlloc, 1000);
    let (chunks, frees) = ops.split_at(ops.len() / 2);
    assert!(chunks.iter().all(|op| matches!(op, Op::Congruent { areas, .. } if areas.len() == 2)));
    assert!(frees.iter().all(Op::is_free));
    // 35000 objects of half a KiB do not fit in less, and waste no more than their mean alignment.
    assert!((17..=30).contains(&chunks.len()), "{}", chunks.len());
    let mut run = Run::new();
    run.run(chunks);
    assert_eq!(run.checker.live(), chunks.len() as u64);
}

#[test]
fn zone_windows_are_a_sixty_fourth_of_what_is_used() {
    let params = Params { loops: 500, n: 5000, ..Params::default() };
    let mut case = Case::new(info(Kind::Zone), &params, 0);
    let mut run = Run::new();
    run.phase(&mut case, Phase::Setup);
    let last_block = *run.free_blocks().last().unwrap();
    let mut ops = Vec::new();
    case.next_batch(&mut ops, 1000);
    run.run(&ops);
    let (space, mut highest) = (WHOLE, 0);
    for op in &ops {
        let Op::Alloc { window, .. } = op else { continue };
        assert_eq!(window.size_saturating(), 5000 * 143 / 4 / 64 * PAGE);
        assert!(space.covers(*window));
        highest = highest.max(window.last());
    }
    let above = last_block.first().abs_diff(highest) as f64 / last_block.first() as f64;
    assert!(above < 0.05, "windows end {above} of the used span from where it ends");
    let granted = run.answers.iter().filter(|answer| matches!(answer, Answer::At(_))).count();
    assert!(granted > 250 && granted < 500, "{granted} of 500: some windows are full");
}

#[test]
fn interleaved_cpus_share_a_space_and_clear_it() {
    let kernel: Vec<&CaseInfo> = CASES.iter().filter(|case| case.mask.is_some()).collect();
    let params = Params { cpus: 4, ..params(200) };
    let ops_of = |seed| {
        let mut cpus = Interleaved::new(&kernel, &Params { seed, ..params }).unwrap();
        let (mut ops, mut turns) = (Vec::new(), Vec::new());
        while let Some(turn) = cpus.next_batch(&mut ops, |_| 50) {
            turns.push((turn.cpu, turn.case.kind));
        }
        assert!(ops.iter().all(|op| op.object() < cpus.objects()));
        (ops, turns)
    };
    let (ops, turns) = ops_of(1);
    assert!(ops_of(1).0 == ops && ops_of(2).0 != ops, "the seed decides, and alone");
    let mut seen: Vec<(u32, Kind)> = Vec::new();
    turns.iter().for_each(|turn| {
        if !seen.contains(turn) {
            seen.push(*turn);
        }
    });
    assert_eq!(seen.len(), 4 * kernel.len(), "every CPU has every case");
    let switches = turns.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
    assert!(switches > turns.len() / 2, "{switches} switches of the CPU in {} turns", turns.len());
    let mut run = Run::new();
    run.run(&ops);
    assert!(run.is_empty());
}

#[test]
fn masks_are_the_kernels_bits_and_names_are_unique() {
    let bits: Vec<u32> = CASES.iter().filter_map(|case| case.mask).collect();
    assert_eq!(bits, [1, 2, 4, 8, 16, 32, 64, 128]);
    let in_three: Vec<&str> = CASES.iter().filter(|case| case.is_in(7)).map(|case| case.name).collect();
    assert_eq!(in_three, ["fix_size", "full_fit", "long_busy_list"]);
    let names: std::collections::HashSet<&str> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), CASES.len());
    let find = |names: &[String]| find_cases("case", names, CASES, |case| case.name);
    let chosen = find(&["holes".to_owned(), "fix_size".to_owned()]).unwrap();
    assert_eq!(chosen.iter().map(|case| case.name).collect::<Vec<_>>(), ["fix_size", "holes"]);
    assert!(find(&["fix_sise".to_owned()]).unwrap_err().to_string().contains("full_fit"));
}

/// The alignments of churned objects are those that the case says, every one of them, and a large size fits in the space.
#[test]
fn aligned_churn_asks_for_so_many_alignments() {
    for (kind, alignments) in [(Kind::Aligned5, 5), (Kind::Aligned, 11), (Kind::Aligned20, 20)] {
        let params = Params { loops: 1, n: 200_000, ..Params::default() };
        let mut case = Case::new(info(kind), &params, 0);
        let (mut asked, mut live_pages) = ([0_u64; 64], 0);
        while case.phase() == Some(Phase::Setup) {
            let mut ops = Vec::new();
            case.next_batch(&mut ops, 4096);
            for op in ops {
                if let Op::Alloc { align, .. } = op {
                    asked[(align.bytes() / PAGE).trailing_zeros() as usize] += 1;
                }
            }
        }
        for (shift, &count) in asked.iter().enumerate() {
            assert_eq!(count > 0, shift < alignments, "{kind:?}: aligned to {} pages", 1_u64 << shift);
            // A third of all requests is live at a time, in blocks as long as its alignment.
            live_pages += (count / 3) << shift;
        }
        assert!(live_pages < WHOLE.size_saturating() / PAGE / 4, "{kind:?}: {live_pages} pages");
    }
}
