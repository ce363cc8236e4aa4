//! wasmtime: linear memories from slots and fiber stacks from a stack pool, against its own pooling allocator. Both keep
//! 64 KiB of each memory that is free.

mod engines;
mod fibers;
mod guest;

use clients::table::{Effort, Row, Unit, compare, count};
use clients::wasm::{self, work_and_trap};
use clients::{Answer, process};
use engines::{COMPARED, SHORT, Shape, Side, WHOLE};
use guest::Running;

/// Instances at once.
const AT_ONCE: usize = 400;

/// Ratios that are aimed at: bare instances, busy ones, busy ones at once.
const AIMS: [(Shape, [f64; 3]); 2] = [(SHORT, [2.5, 1.0, 1.0]), (WHOLE, [4.0, 1.3, 1.3])];

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    for shape in [COMPARED, SHORT, WHOLE] {
        for (side, name) in [(Side::ours(shape)?, "ours"), (Side::its(shape)?, "its own")] {
            wasm::check(60, || Running::new(&side))
                .map_err(|error| format!("{}, {name}: {error}", shape.name))?;
        }
    }
    let mut rows = Vec::new();
    for (shape, aims) in AIMS {
        let (ours, its) = (Side::ours(shape)?, Side::its(shape)?);
        let named = |what: &str| format!("{}: {what}", shape.name);
        let load = effort.of(2_000);
        rows.push(
            compare(effort, &named("bare instance"), load, || bare(&ours, load), || bare(&its, load))?
                .at_most(aims[0]),
        );
        rows.push(
            compare(effort, &named("grows, writes, traps"), load, || busy(&ours, load), || busy(&its, load))?
                .at_most(aims[1]),
        );
        rows.push(
            compare(effort, &named("400 of these at once"), AT_ONCE, || at_once(&ours), || at_once(&its))?
                .at_most(aims[2]),
        );
        rows.push(compare(
            effort,
            &named("400 that wait on fibers"),
            AT_ONCE,
            || fibers::at_once(&ours, AT_ONCE),
            || fibers::at_once(&its, AT_ONCE),
        )?);
        let apart = |what, side| process::apart(&format!("{what} {side} {}", shape.name));
        let (ours, its) = (apart("resident", "ours")?, apart("resident", "its")?);
        rows.push(count(&named("resident afterwards"), Unit::Bytes, ours, its).at_most(1.0));
        let (ours, its) = (apart("mappings", "ours")?, apart("mappings", "its")?);
        rows.push(count(&named("mappings of 400 at once"), Unit::Mappings, ours, its));
    }
    Ok(rows)
}

fn bare(side: &Side, count: usize) -> Answer<()> {
    for _ in 0..count {
        let mut store = side.store();
        let instance = side.bare.instantiate(&mut store)?;
        let memory = instance.get_memory(&mut store, "memory").ok_or("no memory")?;
        let byte = &mut memory.data_mut(&mut store)[0];
        if std::mem::replace(byte, 1) != 0 {
            return Err("a memory is not zero".into());
        }
    }
    Ok(())
}

fn busy(side: &Side, count: usize) -> Answer<()> {
    (0..count).try_for_each(|seed| work(side, seed).map(drop))
}

fn at_once(side: &Side) -> Answer<()> {
    hold(side).map(drop)
}

fn work(side: &Side, seed: usize) -> Answer<Running> {
    let mut running = Running::new(side)?;
    work_and_trap(&mut running, seed as i64)?;
    Ok(running)
}

fn hold(side: &Side) -> Answer<Vec<Running>> {
    (0..AT_ONCE).map(|seed| work(side, seed)).collect()
}

/// What `side` adds to the process: `mappings` while 400 busy instances live, or bytes that stay `resident` after that was so three
/// times.
pub fn apart(what: &str) -> Answer<u64> {
    let mut words = what.splitn(3, ' ');
    let mut word = || words.next().ok_or("a figure, a side and a shape");
    let (figure, side, shape) = (word()?, word()?, word()?);
    let (shape, _) = AIMS.into_iter().find(|(known, _)| known.name == shape).ok_or("no such shape")?;
    let side = if side == "ours" { Side::ours(shape)? } else { Side::its(shape)? };
    let (resident_before, mappings_before) = (process::resident_bytes()?, process::mappings()?);
    let held = hold(&side)?;
    let mappings = process::mappings()?;
    drop(held);
    at_once(&side)?;
    at_once(&side)?;
    match figure {
        "mappings" => Ok(mappings.saturating_sub(mappings_before)),
        "resident" => Ok(process::resident_bytes()?.saturating_sub(resident_before)),
        _ => Err(format!("no figure {figure}").into()),
    }
}
