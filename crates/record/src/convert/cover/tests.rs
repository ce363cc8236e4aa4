//! Ranges against a page by page list.

use super::*;
use crate::event::File;
use proptest::prelude::*;

const PAGE: u64 = 4096;
const PAGES: usize = 64;

#[derive(Clone, Copy, Debug)]
enum Change {
    Map(u64, u64),
    Unmap(u64, u64),
    Move(u64, u64, u64, u64),
    Break(u64),
    Advise(u64, u64, bool),
}

fn call(call: Call, args: [u64; 6], ret: u64) -> What {
    What::Call { call, args, ret: ret.cast_signed(), file: File::Anonymous }
}

fn mapping(start: u64, end: u64, source: Source) -> Mapping {
    Mapping { start, end, prot: 3, shared: false, source, file: File::Anonymous, offset: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranges_are_what_pages_are(changes in prop::collection::vec(prop_oneof![
        (0..48u64, 1..16u64).prop_map(|(at, len)| Change::Map(at, len)),
        (0..48u64, 1..16u64).prop_map(|(at, len)| Change::Unmap(at, len)),
        (0..48u64, 1..16u64, 0..48u64, 1..16u64).prop_map(|(a, b, c, d)| Change::Move(a, b, c, d)),
        (40..60u64).prop_map(Change::Break),
        (0..48u64, 1..16u64, any::<bool>()).prop_map(|(at, len, keep)| Change::Advise(at, len, keep)),
    ], 1..40)) {
        let (mut cover, mut pages, mut end) = (Cover::default(), [false; PAGES], None);
        // What is mapped anew goes to children.
        let mut kept = [false; PAGES];
        let fill = |pages: &mut [bool; PAGES], at: u64, len: u64, to: bool| {
            pages[at as usize..(at + len) as usize].fill(to);
        };
        let set = |pages: &mut [bool; PAGES], kept: &mut [bool; PAGES], at: u64, len: u64, to: bool| {
            fill(pages, at, len, to);
            fill(kept, at, len, false);
        };
        for change in changes {
            let what = match change {
                Change::Map(at, len) => {
                    set(&mut pages, &mut kept, at, len, true);
                    call(Call::Mmap, [0, len * PAGE - 1, 3, 0x22, 0, 0], at * PAGE)
                }
                Change::Unmap(at, len) => {
                    set(&mut pages, &mut kept, at, len, false);
                    call(Call::Munmap, [at * PAGE, len * PAGE - 1, 0, 0, 0, 0], 0)
                }
                Change::Move(at, len, to, longer) => {
                    let is_kept = kept[at as usize];
                    set(&mut pages, &mut kept, at, len, false);
                    set(&mut pages, &mut kept, to, longer, true);
                    fill(&mut kept, to, longer, is_kept);
                    call(Call::Mremap, [at * PAGE, len * PAGE, longer * PAGE, 1, 0, 0], to * PAGE)
                }
                Change::Break(to) => {
                    match end.replace(to) {
                        Some(before) if before < to => set(&mut pages, &mut kept, before, to - before, true),
                        Some(before) => set(&mut pages, &mut kept, to, before - to, false),
                        None => {}
                    }
                    call(Call::Brk, [to * PAGE, 0, 0, 0, 0, 0], to * PAGE)
                }
                Change::Advise(at, len, keep) => {
                    fill(&mut kept, at, len, keep);
                    let advice = if keep { DONT_FORK } else { DO_FORK };
                    call(Call::Madvise, [at * PAGE, len * PAGE - 1, advice, 0, 0, 0], 0)
                }
            };
            cover.follow(&what, PAGE);
            let mapped = |cover: &Cover, page: usize| holds(&cover.ranges, page as u64 * PAGE);
            prop_assert!((0..PAGES).all(|page| mapped(&cover, page) == pages[page]));
            let child = cover.inherited();
            prop_assert!((0..PAGES).all(|page| mapped(&child, page) == (pages[page] && !kept[page])));
            prop_assert_eq!(child.inherited(), child);
            let joined = cover.joined();
            let runs = (0..PAGES).filter(|page| pages[*page] && (*page == 0 || !pages[page - 1])).count();
            prop_assert_eq!(joined.len(), runs);
            let same: Vec<Mapping> =
                joined.iter().map(|(start, end)| mapping(*start, *end, Source::Anon)).collect();
            prop_assert_eq!(cover.differences(&same, &Cover::default()), 0);
        }
    }
}

#[test]
fn what_failed_changes_nothing_and_the_stack_does_not_count() {
    let mut cover = Cover::default();
    cover.follow(&What::KernelMapping(mapping(0x8000, 0x9000, Source::Stack)), PAGE);
    cover.follow(&call(Call::Mmap, [0, PAGE, 3, 0x22, 0, 0], (-12i64).cast_unsigned()), PAGE);
    cover.follow(&call(Call::Munmap, [0x8000, PAGE, 0, 0, 0, 0], (-22i64).cast_unsigned()), PAGE);
    let stack = mapping(0x6000, 0x9000, Source::Stack);
    let kernel = mapping(0xffff_ffff_ff60_0000, 0xffff_ffff_ff60_1000, Source::Anon);
    assert_eq!(cover.differences(&[stack, kernel], &Cover::default()), 0);
    assert_eq!(cover.differences(&[stack, mapping(0x1000, 0x2000, Source::Anon)], &Cover::default()), 1);
}
