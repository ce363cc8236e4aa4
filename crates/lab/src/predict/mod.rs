//! Predicts where a recorded kernel put its areas: the model of the running kernel says each address before it sees the recorded
//! one.
//!
//! ```text
//!   history    rows of the file ---> Predictor ---> each place: predicted, or why not
//!   outside    what is not handed out     |
//!   races      what came in another order +--> LazySpace of the crate `linux`, which then takes over the recorded place
//! ```
//!
//! A place that the model has next and the kernel passes over is *set aside* until an area is seen there, so that one wrong
//! belief costs one allocation. Areas whose state before the recording is not known are not handed out, and a miss that touches
//! them is counted as unknown. Running free, the model keeps its own places instead.
//!
//! Cost: O(log n) for each row, each area that a purge moves, and each try of a race, which is bounded (`races`).

mod history;
mod outside;
mod races;
mod setting;
mod told;

use crate::named::named;
use crate::workload::check_memory;
use anyhow::Context;
use freehold::units::{Align, Span};
use freehold_linux::Error;
use freehold_linux::kva::LazySpace;
use freehold_linux::kva::lazy::{Found, LazyCounts, LazyRequest};
use freehold_trace::kva::Events;
use history::{History, Row, What};
use outside::{Outside, Why};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

pub use setting::Settings;
pub use told::{add_predicted, is_predictable};

named! {
    /// What became of an allocation's prediction. The first six are right.
    Kind {
        Pool "pool" "from the head of a pool"
        Tree "tree" "from the tree"
        Origin "origin" "from the head of a pool, which this row alone tells to be the area's"
        InPurge "in a purge" "in the middle of a purge"
        BeforePurge "before a purge" "taken before a purge, recorded after it"
        AfterAnother "after another" "taken after another, recorded before it"
        Shape "shape" "depends on the shape of the kernel's tree"
        Unknown "unknown" "touches space whose state before the recording is unknown"
        Elsewhere "elsewhere" "elsewhere"
    }
}

/// How many of the kinds are right.
const RIGHT: usize = 6;
/// Pages of an area that may lie in a pool, at most.
const POOLED_PAGES: u128 = 256;
/// Bytes of a row and of what the model has of it, about.
const ROW_BYTES: u64 = 256;

/// How a recording is followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Every event takes effect where it stands.
    pub strict: bool,
    /// The model keeps its own places.
    pub free_running: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Predicted {
    /// Allocations by [`Kind`].
    pub kinds: [u64; Kind::ALL.len()],
    /// What the model counted.
    pub counts: LazyCounts,
    /// Frees of what no row has allocated, and areas of purges that no row has freed.
    pub unmatched: u64,
    /// Places that were set aside and never seen again.
    pub aside: u64,
    /// Free blocks of the tree at the end.
    pub free_blocks: u64,
    /// How much longer the used part of the zone is than what lies in it, at the end.
    pub span_ratio: f64,
    /// Events that were lost while it was recorded.
    pub lost: u64,
}

impl Predicted {
    /// All allocations.
    pub fn allocations(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Those that were predicted.
    pub fn right(&self) -> u64 {
        self.kinds[..RIGHT].iter().sum()
    }
}

struct Predictor<'a> {
    history: &'a History,
    way: Way,
    space: LazySpace,
    outside: Outside,
    /// What is above all that was used at the start, and was not used since: free, or in a pool.
    unseen: Outside,
    /// Where each live object is in the model.
    objects: HashMap<u32, Span>,
    /// Small areas of unknown origin that were freed: after their purge nobody knows where they are.
    unsure: VecDeque<Span>,
    /// Rows that a race has let go first.
    done: HashSet<usize>,
    /// The areas that the purge whose event comes next has taken, if the model is within it.
    purging: Option<usize>,
    next_purge: Option<usize>,
    /// Freed areas that were handed out again before the event of the purge that took them.
    early: usize,
    /// Heads of lists that the kernel has passed over, and when it first did.
    preferred: HashMap<u64, u64>,
    /// What the last purges gave to the tree, and when.
    returned: VecDeque<(u64, Vec<Span>)>,
    /// When each task was last seen.
    last_of_task: HashMap<u32, u64>,
    credit: u64,
    /// What the model's own limit decides; else purges come when the recording has them.
    own_purges: bool,
    /// Whether a place that the kernel passes over is set aside.
    sets_aside: bool,
    predicted: Predicted,
}

/// The request of a row that allocates.
fn request(row: &Row) -> Option<LazyRequest> {
    match row.what {
        What::Alloc { place, align, window, .. } => {
            Some(LazyRequest { size_bytes: place.size_saturating(), align, window, cpu: row.cpu })
        }
        _ => None,
    }
}

impl<'a> Predictor<'a> {
    fn new(history: &'a History, settings: &Settings, way: Way) -> anyhow::Result<Self> {
        let mut new = Self {
            history,
            way,
            space: LazySpace::new(history.zone, history.page, settings.apply(history.choices))?,
            outside: Outside::default(),
            unseen: Outside::default(),
            objects: HashMap::new(),
            unsure: VecDeque::new(),
            done: HashSet::new(),
            purging: None,
            next_purge: None,
            early: 0,
            preferred: HashMap::new(),
            returned: VecDeque::new(),
            last_of_task: HashMap::new(),
            credit: 0,
            own_purges: settings.has_limit(),
            sets_aside: settings.sets_aside(),
            predicted: Predicted::default(),
        };
        new.start()?;
        Ok(new)
    }

    /// Brings the model to where the recording starts.
    fn start(&mut self) -> anyhow::Result<()> {
        let History { page, zone, ref live, ref lazy, drained, .. } = *self.history;
        let all = self.history.all;
        self.space.add(all)?;
        let origin = |node: Option<u32>, place| LazyRequest {
            window: node.map_or(place, |_| zone),
            ..unpooled(place, node.unwrap_or(0))
        };
        for &(place, object, node) in live {
            self.space.alloc_at(&origin(node, place), place)?;
            self.objects.insert(object, place);
        }
        for &(place, node) in lazy {
            self.space.alloc_at(&origin(node, place), place)?;
            self.space.free(place.first())?;
            if node.is_none() {
                self.unsure_of(place);
            }
        }
        if !drained && !self.way.free_running {
            let inner = zone
                .intersection(all)
                .and_then(|zone| Span::new(page.up(zone.first())?, self.history.used_until));
            let unknown: Vec<Span> =
                self.space.tree().iter().filter_map(|block| block.intersection(inner?)).collect();
            for block in unknown {
                self.space.withdraw(block)?;
                self.outside.put(block, Why::Unknown);
            }
            if let Some(above) = Span::new(self.history.used_until.saturating_add(1), zone.last()) {
                self.unseen.put(above, Why::Unknown);
            }
        }
        Ok(())
    }

    fn unsure_of(&mut self, place: Span) {
        if place.size_bytes() <= POOLED_PAGES * u128::from(self.history.page.bytes())
            && !self.way.free_running
        {
            self.unsure.push_back(place);
        }
    }

    fn run(mut self) -> anyhow::Result<Predicted> {
        let rows = &self.history.rows;
        for (at, row) in rows.iter().enumerate() {
            self.credit = self.credit.saturating_add(races::CREDIT);
            if self.next_purge.is_none_or(|purge| purge < at) {
                let next = (at..rows.len()).find(|&at| matches!(rows[at].what, What::Purge { .. }));
                self.next_purge = Some(next.unwrap_or(rows.len() - 1));
            }
            match row.what {
                What::Alloc { object, place, .. } => self.alloc(at, object, place)?,
                What::Free { object } => match self.objects.remove(&object) {
                    Some(place) => self.free(place)?,
                    None => self.predicted.unmatched += 1,
                },
                What::FreeUnknown { place } => self.free_unknown(place)?,
                What::Gone { object } => {
                    let place = self.objects.remove(&object);
                    if place.is_none_or(|place| self.space.release(place.first()).is_err()) {
                        self.predicted.unmatched += 1;
                    }
                }
                What::Purge { areas } => self.purge(row.at_ns, areas)?,
            }
            self.last_of_task.insert(row.task, row.at_ns);
        }
        self.predicted.counts = self.space.counts();
        self.predicted.aside = self.outside.aside() as u64;
        self.predicted.free_blocks = self.space.tree().len() as u64;
        self.predicted.span_ratio = self.span_ratio();
        Ok(self.predicted)
    }

    /// From the zone's start to its largest free block, by what is not free there.
    fn span_ratio(&self) -> f64 {
        let zone = self.history.zone;
        let blocks = || self.space.tree().iter().filter_map(|block| block.intersection(zone));
        let largest = blocks().max_by_key(|block| block.size_bytes());
        let end = largest.map_or(zone.last(), Span::first);
        let free: u128 = blocks().filter(|block| block.last() < end).map(Span::size_bytes).sum();
        let span = u128::from(end - zone.first());
        span as f64 / span.saturating_sub(free).max(1) as f64
    }

    fn alloc(&mut self, at: usize, object: u32, place: Span) -> anyhow::Result<()> {
        let Some(asked) = request(&self.history.rows[at]) else { return Ok(()) };
        let ahead = self.done.remove(&at);
        if self.way.free_running {
            let found = self.space.alloc(&asked).ok();
            let kind =
                if found.is_some_and(|found| found.place == place) { Kind::Tree } else { Kind::Elsewhere };
            self.predicted.kinds[kind as usize] += 1;
            if let Some(found) = found {
                self.objects.insert(object, found.place);
            }
            return Ok(());
        }
        let kind = if ahead { Kind::AfterAnother } else { self.judge(at, &asked, place) };
        self.predicted.kinds[kind as usize] += 1;
        if !ahead {
            self.take_over(&asked, place)?;
        }
        self.objects.insert(object, place);
        Ok(())
    }

    /// Holds the model's place against the recorded one.
    fn judge(&mut self, at: usize, asked: &LazyRequest, place: Span) -> Kind {
        if self.outside.is_unknown(place) {
            return Kind::Unknown;
        }
        let found = self.space.find(asked).ok();
        if let Some(found) = found.filter(|found| found.place == place) {
            let is_told = found.pooled && self.history.told.contains(&at);
            return if is_told {
                Kind::Origin
            } else if found.pooled {
                Kind::Pool
            } else {
                Kind::Tree
            };
        }
        if !self.way.strict
            && let Some(race) = self.race(at, asked, place)
        {
            return race;
        }
        if self.unseen.is_unknown(place) {
            return Kind::Unknown;
        }
        let kind = if self.is_beside_unknown(place) {
            Kind::Unknown
        } else if self.is_tight(asked, place) {
            Kind::Shape
        } else {
            Kind::Elsewhere
        };
        if self.sets_aside
            && let Some(passed) = found
            && self.is_passed_over(at, &passed, asked, place)
            && self.space.withdraw(passed.place).is_ok()
        {
            self.preferred.remove(&passed.place.first());
            self.outside.put(passed.place, Why::Aside);
        }
        kind
    }

    /// Whether the kernel would have taken what the model has next, had it been there: it takes the head of a list before what is
    /// below it and before the tree, and the lowest of the tree. An allocation from the tree may be recorded after a purge has filled
    /// the list; what is passed over for the tree again, later than that, is not there.
    fn is_passed_over(&mut self, at: usize, next: &Found, asked: &LazyRequest, place: Span) -> bool {
        let in_tree = self.space.block_of(place).is_some();
        if !next.pooled {
            return in_tree && next.place.last() < place.first();
        }
        let now = self.history.rows[at].at_ns;
        let first_ns = *self.preferred.entry(next.place.first()).or_insert(now);
        self.space.is_listed(asked, place) || in_tree && now.saturating_sub(first_ns) > races::ASIDE_NS
    }

    /// Whether the place, or the block that it lies in, touches space of unknown state.
    fn is_beside_unknown(&self, place: Span) -> bool {
        let block = self.space.block_of(place).unwrap_or(place);
        let (first, last) = (block.first().saturating_sub(1), block.last().saturating_add(1));
        Span::new(first, last).is_some_and(|around| self.outside.is_unknown(around))
    }

    /// Whether the place is the lowest in a block that the kernel's search may miss.
    fn is_tight(&self, asked: &LazyRequest, place: Span) -> bool {
        let block = self.space.block_of(place).filter(|_| asked.align > Align::PAGE.max(self.history.page));
        let fits =
            block.and_then(|block| block.lowest_fit(asked.size_bytes, asked.align, asked.window.first()));
        fits == Some(place) && self.space.find_in_tree(asked).is_none_or(|next| place.first() < next.first())
    }

    /// Puts the area where the kernel put it.
    fn take_over(&mut self, asked: &LazyRequest, place: Span) -> anyhow::Result<()> {
        self.unseen.take(place);
        for outside in self.outside.take(place) {
            self.space.add(outside)?;
        }
        let waiting = self.space.lazy_len();
        if self.space.alloc_at(asked, place) == Err(Error::Exists) {
            // What lives there was freed without a row.
            self.predicted.unmatched += 1;
            self.space.clear(place, true)?;
            self.space.alloc_at(asked, place)?;
        }
        self.early += waiting.saturating_sub(self.space.lazy_len());
        Ok(())
    }

    fn free(&mut self, place: Span) -> anyhow::Result<()> {
        if self.space.free(place.first()).is_err() {
            self.predicted.unmatched += 1;
        }
        while self.own_purges && self.space.is_purge_due() {
            self.space.purge(usize::MAX)?;
        }
        Ok(())
    }

    fn free_unknown(&mut self, place: Option<Span>) -> anyhow::Result<()> {
        self.predicted.unmatched += 1;
        let Some(place) = place.filter(|_| !self.way.free_running) else { return Ok(()) };
        self.take_over(&unpooled(place, 0), place)?;
        self.free(place)?;
        self.unsure_of(place);
        Ok(())
    }

    fn purge(&mut self, at_ns: u64, areas: u64) -> anyhow::Result<()> {
        if self.own_purges {
            return Ok(());
        }
        let areas = usize::try_from(areas).unwrap_or(usize::MAX);
        let areas = areas.saturating_sub(std::mem::take(&mut self.early));
        if let Some(taken) = self.purging.take() {
            self.space.take_lazy(areas.saturating_sub(taken))?;
            while self.space.step_purge()?.is_some() {}
        } else {
            self.predicted.unmatched += areas.saturating_sub(self.space.lazy_len()) as u64;
            self.space.purge(areas)?;
        }
        self.returned.push_back((at_ns, self.space.returned().to_vec()));
        if self.returned.len() > races::PURGES {
            self.returned.pop_front();
        }
        while let Some(&place) = self.unsure.front().filter(|&&place| self.space.block_of(place).is_some()) {
            self.unsure.pop_front();
            self.space.withdraw(place)?;
            self.outside.put(place, Why::Unknown);
        }
        Ok(())
    }
}

/// A request that no pool serves.
fn unpooled(place: Span, cpu: u32) -> LazyRequest {
    LazyRequest { size_bytes: place.size_saturating(), align: Align::ONE, window: place, cpu }
}

/// Predicts the addresses of a recording.
///
/// # Errors
/// The file cannot be read, or is no recording of kernel areas that can be.
pub fn predict(file: &Path, settings: &Settings, way: Way) -> anyhow::Result<Predicted> {
    of_history(&History::read(file)?, settings, way)
}

/// Predicts the addresses of a recording whose events are at hand.
///
/// # Errors
/// As [`predict`].
pub fn predict_events(events: Events, settings: &Settings, way: Way) -> anyhow::Result<Predicted> {
    of_history(&History::from_events(events)?, settings, way)
}

fn of_history(history: &History, settings: &Settings, way: Way) -> anyhow::Result<Predicted> {
    check_memory(history.rows.len() as u64, ROW_BYTES)?;
    let predictor = Predictor::new(history, settings, way)?;
    let predicted = predictor
        .run()
        .with_context(|| format!("{} of the recording's start and rows", history.header.title()));
    Ok(Predicted { lost: history.header.lost_records, ..predicted? })
}
