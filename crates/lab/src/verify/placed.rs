//! Where a recorded kernel put its areas, and where the engine with its placement puts them; and what the kernel had at the
//! place that the engine takes, which tells why it took another.
//!
//! ```text
//!   recorded   alloc -> live -> freed, not purged -> purged -> taken again     a state for each range of addresses
//!   engine     lowest place that is free by its own account, which frees at once
//! ```

use crate::engine::{Compared, EngineEntry};
use crate::kind::{Kind, Suite};
use crate::named::named;
use crate::record::{Field, Key, Metric, Results, count};
use crate::workload::{Workload, from_file, kind_of};
use freehold::units::{Align, Span};
use freehold_rivals::maple::ListRanges;
use freehold_trace::kva::{Answer, EventKind, Events, Op};
use std::path::Path;

/// The engine that claims the placement of the recorded kernel.
const CLAIMS: &str = "rbtree:linux";
/// Areas of at most so many bytes go to a pool of their size when they are purged, since Linux 6.9.
const POOLED_BYTES: u128 = 256 * Align::PAGE.bytes() as u128;

named! {
    /// What the recorded kernel had at the place that the engine takes.
    Had {
        Live "live" "An area."
        Lazy "not purged" "An area that was freed and not purged yet."
        Pooled "purged to a pool" "An area that was purged, and is small enough for a pool."
        Nothing "free" "Nothing that was recorded."
    }
}

impl Had {
    /// The same in words.
    fn words(self) -> &'static str {
        match self {
            Self::Live => "where the kernel had an area",
            Self::Lazy => "where it had freed one lazily and not purged it yet",
            Self::Pooled => "where it had purged one of the sizes that it keeps in pools",
            Self::Nothing => "where nothing recorded lay",
        }
    }
}

/// How many allocations went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// All that have a place.
    pub allocations: u64,
    /// Those that went where the kernel put them.
    pub same: u64,
    /// Those that the engine has no room for.
    pub refused: u64,
    /// The others, by what the kernel had there.
    pub had: [u64; Had::ALL.len()],
}

/// Adds what comes of a trace that was recorded of kernel areas; nothing of another workload, or if the engine is not asked for.
///
/// # Errors
/// The file cannot be read, or its operations are not its events.
pub fn placed(
    file: &Path,
    label: Option<&str>,
    engines: &[String],
    results: &mut Results,
) -> anyhow::Result<()> {
    if kind_of(file)? != Kind::Trace(Suite::Kva) {
        return Ok(());
    }
    let asked = EngineEntry::find(engines, Compared::Always)?;
    let Some(entry) = asked.into_iter().find(|entry| entry.label() == CLAIMS) else { return Ok(()) };
    let mut workload = from_file(file)?;
    workload.name = label.map_or(workload.name, str::to_owned);
    let mut session =
        (entry.make)(&workload.scene.layout, workload.scene.granule).map_err(anyhow::Error::msg)?;
    let mut answers = vec![Answer::default(); workload.setup.len()];
    session.run(&workload.setup, &mut answers);
    answers.resize(workload.ops.len(), Answer::default());
    session.run(&workload.ops, &mut answers);
    let placed = count_places(file, &workload, &answers)?;
    add(&workload.with_params(entry.key(&workload.title())), &workload.title(), placed, results);
    Ok(())
}

fn add(key: &Key, title: &str, placed: Placed, results: &mut Results) {
    let key = key.clone().op("placed");
    let mut put = |at: &str, number| {
        results.of(key.clone().param(Field::Where, at)).total(Metric::Count, number);
    };
    put("same", placed.same);
    let mut others = Vec::new();
    if placed.refused > 0 {
        others.push(format!("{} nowhere, for want of room", count(placed.refused)));
    }
    for (had, number) in Had::ALL.iter().zip(placed.had) {
        put(had.name(), number);
        if number > 0 {
            others.push(format!("{} {}", count(number), had.words()));
        }
    }
    let rest =
        if others.is_empty() { String::new() } else { format!("; of the others {}", others.join(", ")) };
    results.note(format!(
        "{title}: {CLAIMS} puts {} of {} allocations where the recorded kernel put them{rest}",
        count(placed.same),
        count(placed.allocations + placed.refused)
    ));
}

fn count_places(file: &Path, workload: &Workload, answers: &[Answer]) -> anyhow::Result<Placed> {
    let is_alloc = |op: &Op| matches!(op, Op::Alloc { .. });
    let pairs = workload.ops.iter().zip(answers).filter(|(op, _)| is_alloc(op));
    let mut ours = pairs.map(|(_, answer)| *answer);
    let (mut kernel, mut placed) = (ListRanges::new(), Placed::default());
    for event in Events::open(file)? {
        let event = event?;
        let Some(span) = event.span else { continue };
        if event.kind == EventKind::Alloc {
            let Some(answer) = ours.next() else {
                anyhow::bail!("{}: it has changed while it was replayed", file.display())
            };
            let own = match answer {
                Answer::At(first) => Span::from_size(first, span.size_saturating()),
                _ => None,
            };
            match own {
                Some(own) => placed.note(span, own, &kernel),
                None => placed.refused += 1,
            }
        }
        follow(&mut kernel, event.kind, span);
    }
    Ok(placed)
}

impl Placed {
    /// Notes where the kernel and the engine put an area.
    pub fn note(&mut self, recorded: Span, ours: Span, kernel: &ListRanges<Had>) {
        self.allocations += 1;
        if recorded == ours {
            self.same += 1;
            return;
        }
        let had = kernel.values_in(ours).min().unwrap_or(Had::Nothing);
        self.had[had as usize] += 1;
    }
}

/// What the kernel has where, after an event.
pub fn follow(kernel: &mut ListRanges<Had>, kind: EventKind, span: Span) {
    match kind {
        EventKind::Initial | EventKind::Alloc => kernel.put(span, Some(Had::Live)),
        EventKind::InitialLazy | EventKind::Free => kernel.put(span, Some(Had::Lazy)),
        EventKind::Purge => {
            let within = |&(first, last, had): &(u64, u64, Had)| {
                had == Had::Lazy && first >= span.first() && last <= span.last()
            };
            let purged: Vec<_> = kernel.iter().filter(within).collect();
            for (first, last, _) in purged {
                let Some(area) = Span::new(first, last) else { continue };
                kernel.put(area, (area.size_bytes() <= POOLED_BYTES).then_some(Had::Pooled));
            }
        }
        EventKind::FreeUnknown | EventKind::FreeImplied => kernel.put(span, None),
        EventKind::Failed | EventKind::PurgeWork | EventKind::ChunkCreated | EventKind::ChunkDestroyed => {}
    }
}
