//! Histories of address ranges: lifetimes of objects, and `# kva-vectors 1` of them.

use super::{Groups, History, Referee, Scened, Smaller, less, ranks, renamed};
use crate::engine::{BySizeEngine, EngineEntry, KernelEngine, Takes};
use crate::family::{Judge, Kva, KvaJudge};
use crate::workload;
use freehold::units::{Align, Span};
use freehold_linux::kva::Placement;
use freehold_linux::kva::rbtree::Plain;
use freehold_trace::kva::{Answer, Driver, Engine, Letters, Op, Session, Space};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// What any allocator must do; and beyond, for one that says which address it takes, the model that takes the same.
struct WithModel {
    judge: KvaJudge,
    model: Option<Box<dyn Session>>,
}

impl Referee<Kva> for WithModel {
    fn hear(&mut self, op: &Op, answer: Answer, session: &(dyn Session + 'static)) -> Result<(), String> {
        self.judge.placed(op, answer, session)?;
        let Some(model) = &mut self.model else { return Ok(()) };
        let right = model.run_one(op);
        if right == answer { Ok(()) } else { Err(format!("{answer}, where the model says {right}")) }
    }

    fn look(&mut self, session: &(dyn Session + 'static)) -> Result<(), String> {
        self.judge.check_state(session)
    }
}

/// The model of an engine that says which address it takes: the red-black tree, of which the kernel's answers were verified.
fn model(takes: Takes, scene: &Space) -> Result<Option<Box<dyn Session>>, String> {
    fn boxed<E: Engine + 'static>(engine: E) -> Option<Box<dyn Session>> {
        Some(Box::new(Driver::new(engine)))
    }
    let kernel = |placement| KernelEngine::<Plain>::new(&scene.layout, scene.granule, placement);
    Ok(match takes {
        Takes::Lowest => boxed(kernel(Placement::Lowest)?),
        Takes::Highest => boxed(kernel(Placement::Highest)?),
        Takes::BestFit => boxed(BySizeEngine::new(&scene.layout, scene.granule)?),
        Takes::LowestUpToPageAlignment | Takes::Any | Takes::KernelsChoice => None,
    })
}

impl History for Kva {
    const GROUPS: &'static [Groups<Op>] = &[|ops| ops.iter().map(|op| op.object().into()).collect()];
    const COUNTED: bool = true;
    const SMALLER: &'static [Smaller<Self>] = &[
        |scene, ops, _| changed(scene, ops, 0..ops.len(), |_, _, window| *window = hull(scene)),
        |scene, ops, _| changed(scene, ops, 0..ops.len(), |_, align, _| *align = scene.granule),
        ranked_sizes,
        nearer,
        from_zero,
        shorter,
    ];
    const SMALLER_EACH: &'static [Smaller<Self>] = &[
        |scene, ops, at| changed(scene, ops, at..at + 1, |_, _, window| *window = hull(scene)),
        |scene, ops, at| changed(scene, ops, at..at + 1, |_, align, _| *align = scene.granule),
        |scene, ops, at| changed(scene, ops, at..at + 1, |size, _, _| *size = scene.granule.bytes()),
        |scene, ops, at| {
            changed(scene, ops, at..at + 1, |size, _, _| *size = scene.granule.up(*size / 2).unwrap_or(*size))
        },
        |scene, ops, at| changed(scene, ops, at..at + 1, |size, _, _| *size = less(*size, scene.granule)),
    ];

    fn read(file: &Path) -> anyhow::Result<Scened<Self>> {
        let workload = workload::named(file)?;
        let (scene, ops) = (workload.scene, [workload.setup, workload.ops].concat());
        // Nothing is outside of the space, and vectors have no end of all addresses.
        let whole = hull(&scene);
        let within = |window: Span| window.intersection(whole).unwrap_or(window);
        Ok(changed(&scene, &ops, 0..ops.len(), |_, _, window| *window = within(*window))
            .unwrap_or((scene, ops)))
    }

    fn tidy(ops: Vec<Op>) -> Vec<Op> {
        renamed(ops, |op| match op {
            Op::Alloc { object, .. } | Op::Congruent { object, .. } => (object, false),
            Op::Free { object } => (object, true),
        })
    }

    fn referee(entry: &EngineEntry, scene: &Space) -> Result<Box<dyn Referee<Self>>, String> {
        Ok(Box::new(WithModel { judge: Judge::new(entry, scene), model: model(entry.takes, scene)? }))
    }

    fn text(entry: &EngineEntry, scene: &Space, ops: &[Op]) -> anyhow::Result<String> {
        let (layout, granule) = (&scene.layout, scene.granule);
        let kernel = |placement| KernelEngine::<Plain>::new(layout, granule, placement);
        match entry.takes {
            Takes::Highest => text("h", scene, kernel(Placement::Highest), ops),
            Takes::BestFit => text("b", scene, BySizeEngine::new(layout, granule), ops),
            _ => text("l", scene, kernel(Placement::Lowest), ops),
        }
    }
}

/// The vectors with one column, of that engine.
fn text<E: Engine>(
    column: &str,
    scene: &Space,
    engine: Result<E, String>,
    ops: &[Op],
) -> anyhow::Result<String> {
    let unit = scene.granule.bytes();
    let range = |span: Span| (span.first() / unit, span.last().saturating_add(1) / unit);
    let window = |span| {
        let (low, high) = range(span);
        format!("{low}:{high}")
    };
    let mut driver = Driver::new(engine.map_err(anyhow::Error::msg)?);
    let mut text = format!("# kva-vectors 1\nunit {unit}\n");
    for &span in &scene.layout {
        let (low, high) = range(span);
        writeln!(text, "init {low} {high}")?;
    }
    writeln!(text, "cols {column}\nbegin")?;
    for op in ops {
        let mut events = Letters::default();
        let answer = driver.run(op, &mut events);
        match op {
            Op::Alloc { size_bytes, align, window: within, .. } => {
                write!(text, "a {} {} {}", size_bytes / unit, align.bytes().div_ceil(unit), window(*within))?;
            }
            Op::Congruent { areas, align, window: within, .. } => {
                let area = |area: &Span| format!("{}+{}", area.first() / unit, area.size_saturating() / unit);
                let areas: Vec<String> = areas.iter().map(area).collect();
                let align = align.bytes().div_ceil(unit);
                write!(text, "m {align} {} {}", window(*within), areas.join(","))?;
            }
            Op::Free { object } => write!(text, "f {object}")?,
        }
        match answer {
            Answer::At(start) => writeln!(text, " {}{}", events.letters, start / unit)?,
            Answer::NoRoom => writeln!(text, " -")?,
            Answer::Freed => writeln!(text, " {}", events.letters)?,
            Answer::NotLive => writeln!(text, " .")?,
            Answer::Unsupported => anyhow::bail!("column {column} has no answer to an {op}"),
        }
    }
    writeln!(text, "end {}", ops.len())?;
    Ok(text)
}

/// From the first to the last address of a space.
fn hull(scene: &Space) -> Span {
    scene.layout.iter().copied().reduce(Span::hull).unwrap_or(Span::ALL)
}

/// The operations of these numbers with other numbers, if they are others.
fn changed(
    scene: &Space,
    ops: &[Op],
    which: Range<usize>,
    change: impl Fn(&mut u64, &mut Align, &mut Span),
) -> Option<Scened<Kva>> {
    let mut changed = ops.to_vec();
    for op in changed.get_mut(which)? {
        match op {
            Op::Alloc { size_bytes, align, window, .. } => change(size_bytes, align, window),
            Op::Congruent { align, window, .. } => change(&mut 0, align, window),
            Op::Free { .. } => {}
        }
    }
    (changed != ops).then(|| (scene.clone(), changed))
}

/// The smallest size becomes one unit, the next two.
fn ranked_sizes(scene: &Space, ops: &[Op], _: usize) -> Option<Scened<Kva>> {
    let size = |op: &Op| if let Op::Alloc { size_bytes, .. } = op { Some(*size_bytes) } else { None };
    let ranks = ranks(ops.iter().filter_map(size), scene.granule);
    changed(scene, ops, 0..ops.len(), |size, _, _| *size = ranks.get(size).copied().unwrap_or(*size))
}

/// Ends of spans and windows come nearer to each other, as far as all objects have room between them; what they are multiples of
/// stays.
fn nearer(scene: &Space, ops: &[Op], _: usize) -> Option<Scened<Kva>> {
    let asked = || ops.iter().filter_map(asked);
    // With what is lost to alignment.
    let room = asked().map(|(bytes, align, _)| bytes.saturating_add(align.bytes()));
    let room = room.fold(scene.granule.bytes(), u64::saturating_add);
    let align = asked().map(|(_, align, _)| align.bytes()).fold(scene.granule.bytes(), u64::max);
    let room = room.checked_next_power_of_two()?.max(align);
    let ends = |span: &Span| [Some(span.first()), span.last().checked_add(1)];
    let windows = asked().map(|(.., window)| window);
    let known: BTreeSet<u64> =
        scene.layout.iter().copied().chain(windows).flat_map(|span| ends(&span)).flatten().collect();
    let (mut new, mut before) = (BTreeMap::new(), (0, 0));
    for end in known {
        let gap = end - before.0;
        let to = before.1 + if gap <= room { gap } else { room + gap % align };
        new.insert(end, to);
        before = (end, to);
    }
    let moved = |span: Span| {
        let end = span.last().checked_add(1).and_then(|end| new.get(&end).copied());
        let last = end.map_or(u64::MAX, |end| end - 1);
        Span::new(new.get(&span.first()).copied().unwrap_or(span.first()), last).unwrap_or(span)
    };
    moved_all(scene, ops, moved)
}

/// Everything lies so much lower that the space begins at zero.
fn from_zero(scene: &Space, ops: &[Op], _: usize) -> Option<Scened<Kva>> {
    let by = hull(scene).first();
    let down = |span: Span| Span::new(span.first().saturating_sub(by), span.last() - by).unwrap_or(span);
    moved_all(scene, ops, down)
}

/// Half of the space.
fn shorter(scene: &Space, ops: &[Op], _: usize) -> Option<Scened<Kva>> {
    let whole = hull(scene);
    let half = scene.granule.down(whole.first() + (whole.last() - whole.first()) / 2).checked_sub(1)?;
    let within = Span::new(whole.first(), half)?;
    let cut = |span: &Span| span.intersection(within);
    let layout: Vec<Span> = scene.layout.iter().filter_map(cut).collect();
    let (_, ops) = moved_all(scene, ops, |span| if span == whole { within } else { span })?;
    ops.iter().filter_map(asked).all(|(.., window)| within.covers(window)).then_some(())?;
    Some((Space { layout, granule: scene.granule }, ops))
}

fn moved_all(scene: &Space, ops: &[Op], moved: impl Fn(Span) -> Span) -> Option<Scened<Kva>> {
    let layout: Vec<Span> = scene.layout.iter().copied().map(&moved).collect();
    let (_, changed) = changed(scene, ops, 0..ops.len(), |_, _, window| *window = moved(*window))
        .unwrap_or((scene.clone(), ops.to_vec()));
    (layout != scene.layout || changed != ops).then_some((Space { layout, granule: scene.granule }, changed))
}

/// What an operation asks for: bytes, their alignment, and where.
fn asked(op: &Op) -> Option<(u64, Align, Span)> {
    match op {
        Op::Alloc { size_bytes, align, window, .. } => Some((*size_bytes, *align, *window)),
        Op::Congruent { areas, align, window, .. } => {
            let last = areas.iter().map(|area| area.last()).max();
            Some((last.unwrap_or(0), *align, *window))
        }
        Op::Free { .. } => None,
    }
}
