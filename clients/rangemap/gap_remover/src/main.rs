//! memflow's `GapRemover` over 100,000 ranges: it makes one range of neighbours with equal types, and fills gaps up to a
//! size between equal ones. It is built twice, with rangemap and with ours; see `../measure`.
//!
//! What it answers is compared with a list that is sorted and merged, before anything is timed. Prints a line for each
//! load: its name, and the median of some runs in ns.

use memflow::cglue::CTup3;
use memflow::mem::MemoryRange;
use memflow::types::gap_remover::GapRemover;
use memflow::types::{Address, PageType};
use std::hint::black_box;
use std::time::Instant;

const RANGES: usize = 100_000;
const RUNS: usize = 7;
/// Gaps of up to so many bytes are filled.
const FILLED: u64 = 0x4000;

/// A range of addresses, its end excluded, and its type.
type Piece = (u64, u64, PageType);

/// Random numbers of a multiplicative congruence, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Ranges of one to eight pages in ascending order: half of them touch the one before, most gaps are short. They have one
/// of three types.
fn ascending() -> Vec<Piece> {
    let mut random = Random(1);
    let types = [PageType::READ_ONLY, PageType::WRITEABLE, PageType::NOEXEC];
    let mut at = 0x7000_0000_0000;
    let piece = |_| {
        at += match random.below(16) {
            0..8 => 0,
            8..14 => 0x1000 * (1 + random.below(4)),
            _ => 0x1000 * (5 + random.below(60)),
        };
        let first = at;
        at += 0x1000 * (1 + random.below(8));
        (first, at, types[random.below(3) as usize])
    };
    (0..RANGES).map(piece).collect()
}

/// The same ranges in random order.
fn shuffled(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut random = Random(2);
    for at in (1..pieces.len()).rev() {
        pieces.swap(at, random.below(at as u64 + 1) as usize);
    }
    pieces
}

/// What `GapRemover` should answer.
fn expected(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_by_key(|piece| piece.0);
    let merged = |pieces: Vec<Piece>, longest: u64| {
        let mut merged: Vec<Piece> = Vec::new();
        for piece in pieces {
            match merged.last_mut() {
                Some(last) if last.2 == piece.2 && piece.0 - last.1 <= longest => last.1 = piece.1,
                _ => merged.push(piece),
            }
        }
        merged
    };
    merged(merged(pieces, 0), FILLED)
}

/// The answer of memflow.
fn answer(pieces: &[Piece]) -> Vec<Piece> {
    let mut out: Vec<MemoryRange> = Vec::new();
    let (start, end) = (Address::from(0_u64), Address::from(u64::MAX));
    let mut remover = GapRemover::new((&mut out).into(), FILLED as i64, start, end);
    for &(first, end, page_type) in pieces {
        remover.push_range(CTup3(first.into(), end - first, page_type));
    }
    drop(remover);
    out.into_iter().map(|CTup3(at, size, page_type)| (at.to_umem(), at.to_umem() + size, page_type)).collect()
}

fn main() {
    let pieces = ascending();
    let expected = expected(pieces.clone());
    for (name, pieces) in [("ascending", pieces.clone()), ("random order", shuffled(pieces))] {
        assert!(answer(&pieces) == expected, "{name}: another answer than that of a list");
        let time = |_| {
            let start = Instant::now();
            black_box(answer(black_box(&pieces)));
            start.elapsed().as_nanos()
        };
        let mut times: Vec<u128> = (0..RUNS).map(time).collect();
        times.sort_unstable();
        println!("{name}\t{}", times[RUNS / 2]);
    }
}
