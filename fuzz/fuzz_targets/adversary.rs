//! Any bytes as operations whose work is counted: what was worked up to each must be within the documented bounds. Inputs whose
//! worst operation works twice as much as any before reach code of their own, so that the fuzzer keeps them.
#![no_main]

use freehold_lab::strings::{OP_BYTES, SUBJECTS, play};
use std::hint::black_box;

/// A place in the code for each doubling of the work.
#[inline(never)]
fn reached<const LOG2: u32>() {
    black_box(LOG2);
}

fn reach(work: u64) {
    match work.max(1).ilog2() {
        0..=2 => reached::<2>(),
        3 => reached::<3>(),
        4 => reached::<4>(),
        5 => reached::<5>(),
        6 => reached::<6>(),
        7 => reached::<7>(),
        8 => reached::<8>(),
        9 => reached::<9>(),
        10 => reached::<10>(),
        _ => reached::<11>(),
    }
}

libfuzzer_sys::fuzz_target!(
    // `.ci/fuzz` reads it.
    init: eprintln!("engines of ours: {}", SUBJECTS.len()),
    |bytes: &[u8]| {
        for subject in SUBJECTS {
            let each = |suffered: &_| match (subject.within)(suffered) {
                true => Ok(()),
                false => Err(format!("beyond the bounds: {suffered:?}")),
            };
            // Twice, so that a string meets what it left behind.
            let ops = (bytes.len() / OP_BYTES * 2) as u64;
            match play(subject.make, bytes, ops, each) {
                Ok(suffered) => reach(suffered.worst),
                Err(reason) => panic!("{}: {reason}", subject.family),
            }
        }
    }
);
