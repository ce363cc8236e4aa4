//! The synthetic workloads, exactly as the recorded work anchors were taken: same seeds, same requests.
//! Numbers are pages; the space is [17, 2^30).

use super::random::SplitMix;

/// First page of the space.
pub const LOW_PAGE: u64 = 17;
/// The page after the last of the space.
pub const END_PAGE: u64 = 1 << 30;

/// One request, in pages; the window is half open.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    /// Pages.
    pub size: u64,
    /// Pages.
    pub align: u64,
    /// First page of the window.
    pub low: u64,
    /// The page after the window.
    pub end: u64,
}

impl PageRequest {
    /// Anywhere in the space.
    pub fn anywhere(size: u64, align: u64) -> Self {
        Self { size, align, low: LOW_PAGE, end: END_PAGE }
    }
}

/// Plays a recipe's requests on something.
pub trait Player {
    /// Allocates; the first page.
    fn alloc(&mut self, request: PageRequest) -> Option<u64>;
    /// Frees what starts at this page.
    fn free(&mut self, start: u64);
    /// Whether what follows counts.
    fn measure(&mut self, on: bool);
}

/// A recipe by its name in the anchor tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// Random frees and allocations of 1..=64 pages.
    Churn,
    /// The same without the warm-up, for engines too slow for it.
    GapChurn,
    /// One-page holes, and requests for two pages that fit in none of them.
    HolesPair2,
    /// One-page holes, filled from the left.
    HolesFill1,
    /// One-page holes that become wider at random, and requests for two pages.
    HolesMix,
    /// Churn within random windows of 1/64 of the used span.
    Zone64,
    /// Churn of 1..=10 pages aligned to 1..=1024 pages.
    Aligned,
    /// Aligned requests for one exact place.
    ExactAligned,
    /// Requests for one exact place.
    ExactPlain,
    /// A million single pages.
    SeqFill1,
}

impl Recipe {
    /// Every recipe with its name.
    pub const ALL: [(&'static str, Self); 10] = [
        ("churn", Self::Churn),
        ("gap_churn", Self::GapChurn),
        ("holes_pair2", Self::HolesPair2),
        ("holes_fill1", Self::HolesFill1),
        ("holes_mix", Self::HolesMix),
        ("zone64", Self::Zone64),
        ("aligned", Self::Aligned),
        ("exact_aligned", Self::ExactAligned),
        ("exact_plain", Self::ExactPlain),
        ("seqfill1", Self::SeqFill1),
    ];

    /// The recipe of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(other, _)| *other == name).map(|(_, recipe)| recipe)
    }

    /// Plays it with `n` live objects and `m` measured rounds.
    pub fn play(self, player: &mut impl Player, seed: u64, n: u64, m: u64) {
        let mut game = Game { player, random: SplitMix::new(seed), live: Vec::new() };
        match self {
            Self::Churn => {
                game.churned(n, 64, 0);
                game.player.measure(true);
                game.churn(m, 64, 0);
            }
            Self::GapChurn => {
                game.fill(n, 64, 0);
                game.player.measure(true);
                game.churn(m, 64, 0);
            }
            Self::Aligned => {
                game.churned(n, 10, 11);
                game.player.measure(true);
                game.churn(m, 10, 11);
            }
            Self::HolesPair2 => game.holes_pair2(n, m),
            Self::HolesFill1 => {
                game.holes(n);
                game.player.measure(true);
                (0..n).for_each(|_| game.alloc(PageRequest::anywhere(1, 1)));
            }
            Self::HolesMix => game.holes_mix(n, m),
            Self::Zone64 => game.zone64(n, m),
            Self::ExactAligned => game.exact(n, m, true),
            Self::ExactPlain => game.exact(n, m, false),
            Self::SeqFill1 => {
                game.player.measure(true);
                (0..n).for_each(|_| game.alloc(PageRequest::anywhere(1, 1)));
            }
        }
        game.player.measure(false);
    }
}

/// A live object: first page and pages; `None` if its allocation failed.
#[derive(Clone, Copy, Debug)]
struct Held {
    start: Option<u64>,
    size: u64,
}

struct Game<'a, P> {
    player: &'a mut P,
    random: SplitMix,
    live: Vec<Held>,
}

impl<P: Player> Game<'_, P> {
    fn alloc(&mut self, request: PageRequest) {
        let start = self.player.alloc(request);
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
            let start = self.player.alloc(request);
            self.put(at, Held { start, size: request.size });
        }
    }

    /// Frees a random object; its place in the list.
    fn free_random(&mut self) -> usize {
        let at = self.random.uniform(self.live.len() as u64) as usize;
        if let Some(start) = self.live.get(at).and_then(|held| held.start) {
            self.player.free(start);
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
        (0..n).for_each(|i| self.player.free(LOW_PAGE + 2 * i));
    }

    fn holes_pair2(&mut self, n: u64, m: u64) {
        self.holes(n);
        self.player.measure(true);
        for _ in 0..m {
            if let Some(start) = self.player.alloc(PageRequest::anywhere(2, 1)) {
                self.player.free(start);
            }
        }
    }

    fn holes_mix(&mut self, n: u64, m: u64) {
        self.holes(n);
        let mut kept: Vec<u64> = (0..n).map(|i| LOW_PAGE + 2 * i + 1).collect();
        self.player.measure(true);
        for _ in 0..m {
            let at = self.random.uniform(kept.len() as u64) as usize;
            if at < kept.len() {
                let start = kept.swap_remove(at);
                self.player.free(start);
            }
            self.player.alloc(PageRequest::anywhere(2, 1));
        }
    }

    fn zone64(&mut self, n: u64, m: u64) {
        self.churned(n, 64, 0);
        let top = self.top();
        let width = (top - LOW_PAGE) / 64;
        self.player.measure(true);
        for _ in 0..m {
            let at = self.free_random();
            let size = 1 + self.random.uniform(64);
            let low = LOW_PAGE + self.random.uniform(top - LOW_PAGE - width);
            let mut start = self.player.alloc(PageRequest { size, align: 1, low, end: low + width });
            if start.is_none() {
                self.player.measure(false);
                start = self.player.alloc(PageRequest::anywhere(size, 1));
                self.player.measure(true);
            }
            self.put(at, Held { start, size });
        }
    }

    fn exact(&mut self, n: u64, m: u64, aligned: bool) {
        self.churned(n, 64, 0);
        let top = self.top();
        self.player.measure(true);
        for _ in 0..m {
            let size = 1 + self.random.uniform(8);
            let (align, low) = if aligned {
                let align = 1 << (6 + self.random.uniform(5));
                let low = self.random.uniform(top) / align * align;
                (align, if low < LOW_PAGE { LOW_PAGE.next_multiple_of(align) } else { low })
            } else {
                (1, LOW_PAGE + self.random.uniform(top - LOW_PAGE))
            };
            if let Some(start) = self.player.alloc(PageRequest { size, align, low, end: low + size }) {
                self.player.free(start);
            }
        }
    }
}
