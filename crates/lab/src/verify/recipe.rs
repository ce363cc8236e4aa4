//! The synthetic workloads, exactly as the recorded work anchors were taken: same seeds, same requests.
//! Numbers are pages; the space is [17, 2^30).

use super::played::{PageRequest, Played};
use crate::workload::{LOW_PAGE, SplitMix};
use freehold_trace::kva::Engine;

/// Plays the recipe of that name in the anchor tables, with `n` live objects and `m` measured rounds; whether there is one.
pub(super) fn play<E: Engine>(name: &str, played: &mut Played<E>, seed: u64, n: u64, m: u64) -> bool {
    let mut game = Game { played, random: SplitMix::new(seed), live: Vec::new() };
    match name {
        "churn" | "zone64" | "exact_aligned" | "exact_plain" => game.churned(n, 64, 0),
        // Without the warm-up, for engines too slow for it.
        "gap_churn" => game.fill(n, 64, 0),
        "aligned" => game.churned(n, 10, 11),
        "holes_pair2" | "holes_fill1" | "holes_mix" => game.holes(n),
        "seqfill1" => {}
        _ => return false,
    }
    game.played.measured = true;
    match name {
        "churn" | "gap_churn" => game.churn(m, 64, 0),
        "aligned" => game.churn(m, 10, 11),
        "holes_fill1" | "seqfill1" => (0..n).for_each(|_| game.alloc(PageRequest::anywhere(1, 1))),
        "holes_pair2" => (0..m).for_each(|_| game.probe(PageRequest::anywhere(2, 1))),
        "holes_mix" => game.holes_mix(n, m),
        "zone64" => game.zone64(m),
        exact => game.exact(m, exact == "exact_aligned"),
    }
    game.played.measured = false;
    true
}

/// A live object: first page and pages; `None` if its allocation failed.
#[derive(Clone, Copy, Debug)]
struct Held {
    start: Option<u64>,
    size: u64,
}

struct Game<'a, E> {
    played: &'a mut Played<E>,
    random: SplitMix,
    live: Vec<Held>,
}

impl<E: Engine> Game<'_, E> {
    fn alloc(&mut self, request: PageRequest) {
        let start = self.played.alloc(request);
        self.live.push(Held { start, size: request.size });
    }

    /// A request of random size, and of random alignment if there are `aligns` of them.
    fn random_request(&mut self, sizes: u64, aligns: u64) -> PageRequest {
        let size = 1 + self.random.uniform(sizes);
        let align = if aligns == 0 { 1 } else { 1 << self.random.uniform(aligns) };
        PageRequest::anywhere(size, align)
    }

    fn fill(&mut self, n: u64, sizes: u64, aligns: u64) {
        for _ in 0..n {
            let request = self.random_request(sizes, aligns);
            self.alloc(request);
        }
    }

    /// Filled, and churned until nothing of the order of filling is left.
    fn churned(&mut self, n: u64, sizes: u64, aligns: u64) {
        self.fill(n, sizes, aligns);
        self.churn(2 * n, sizes, aligns);
    }

    fn churn(&mut self, pairs: u64, sizes: u64, aligns: u64) {
        for _ in 0..pairs {
            let at = self.free_random();
            let request = self.random_request(sizes, aligns);
            let start = self.played.alloc(request);
            self.put(at, Held { start, size: request.size });
        }
    }

    /// Frees a random object; its place in the list.
    fn free_random(&mut self) -> usize {
        let at = self.random.uniform(self.live.len() as u64) as usize;
        if let Some(start) = self.live.get(at).and_then(|held| held.start) {
            self.played.free(start);
        }
        at
    }

    fn put(&mut self, at: usize, held: Held) {
        if let Some(slot) = self.live.get_mut(at) {
            *slot = held;
        }
    }

    /// The page after the highest in use.
    fn top(&self) -> u64 {
        let end = |held: &Held| held.start.map(|start| start + held.size);
        self.live.iter().filter_map(end).max().unwrap_or(LOW_PAGE)
    }

    /// `n` one-page holes between one-page objects.
    fn holes(&mut self, n: u64) {
        (0..2 * n).for_each(|_| self.alloc(PageRequest::anywhere(1, 1)));
        (0..n).for_each(|i| self.played.free(LOW_PAGE + 2 * i));
    }

    /// Asks for what fits nowhere, or for one place: freed at once if it was granted.
    fn probe(&mut self, request: PageRequest) {
        if let Some(start) = self.played.alloc(request) {
            self.played.free(start);
        }
    }

    /// Holes that become wider at random, and requests for two pages.
    fn holes_mix(&mut self, n: u64, m: u64) {
        let mut kept: Vec<u64> = (0..n).map(|i| LOW_PAGE + 2 * i + 1).collect();
        for _ in 0..m {
            let at = self.random.uniform(kept.len() as u64) as usize;
            if at < kept.len() {
                let start = kept.swap_remove(at);
                self.played.free(start);
            }
            self.played.alloc(PageRequest::anywhere(2, 1));
        }
    }

    /// Churn within random windows of 1/64 of the used span.
    fn zone64(&mut self, m: u64) {
        let top = self.top();
        let width = (top - LOW_PAGE) / 64;
        for _ in 0..m {
            let at = self.free_random();
            let size = 1 + self.random.uniform(64);
            let low = LOW_PAGE + self.random.uniform(top - LOW_PAGE - width);
            let mut start = self.played.alloc(PageRequest { size, align: 1, low, end: low + width });
            if start.is_none() {
                self.played.measured = false;
                start = self.played.alloc(PageRequest::anywhere(size, 1));
                self.played.measured = true;
            }
            self.put(at, Held { start, size });
        }
    }

    /// Requests for one exact place.
    fn exact(&mut self, m: u64, aligned: bool) {
        let top = self.top();
        for _ in 0..m {
            let size = 1 + self.random.uniform(8);
            let (align, low) = if aligned {
                let align = 1 << (6 + self.random.uniform(5));
                let low = self.random.uniform(top) / align * align;
                (align, if low < LOW_PAGE { LOW_PAGE.next_multiple_of(align) } else { low })
            } else {
                (1, LOW_PAGE + self.random.uniform(top - LOW_PAGE))
            };
            self.probe(PageRequest { size, align, low, end: low + size });
        }
    }
}
