//! One operation on an engine of the percpu family and on the checker, which knows the live objects and no more: every
//! placement must be aligned, in its unit and apart from the others, and the engine's own invariants must hold.

use super::{Looks, replayed};
use freehold::percpu::{Config, MAX_UNIT_BYTES, MIN_UNIT_BYTES, PAGE_BYTES, Population};
use freehold::units::Align;
use freehold_lab::engine::percpu::{EngineEntry, Scene};
use freehold_lab::family::{Judge, PercpuJudge};
use freehold_trace::percpu::{Answer, Op, Session};
use std::fmt::Write;

/// Bytes of fuzz input for an operation.
const BYTES_PER_OP: usize = 3;
/// Sizes that are taken: the smallest, those around a block, and those around a unit.
const SIZES: [u64; 16] =
    [1, 4, 8, 12, 64, 100, 1000, 2048, 4092, 4096, 4100, 5000, 8192, 12_288, 20_000, 32_768];

/// For models: populated one way or the other, with or without balancing; the first four in the smallest units there are,
/// then as many in each larger kind.
pub fn tiny_scene(which: u8) -> Scene {
    let population = if which & 1 == 0 { Population::OnDemand } else { Population::Whole };
    let unit_bytes = match which >> 2 & 3 {
        0 => MIN_UNIT_BYTES,
        1 => 2 * MIN_UNIT_BYTES,
        2 => 1 << 20,
        _ => MAX_UNIT_BYTES,
    };
    let config = Config::new(unit_bytes, 2).population(population);
    Scene { config, balances: which & 2 != 0 }
}

/// Runs an operation on the engine and checks its answer, and if asked to look its state from all sides.
///
/// # Errors
/// What is wrong, or which invariant is broken.
pub fn percpu_step(
    checker: &mut PercpuJudge,
    session: &mut (dyn Session + 'static),
    entry: &EngineEntry,
    op: &Op,
    look: bool,
) -> Result<(), String> {
    checker.see_pages(session);
    let before = session.populated_pages();
    let (answer, _) = session.run_counted(op);
    checker.check(op, answer)?;
    let atomic = matches!(op, Op::Alloc { atomic: true, .. });
    if answer == Answer::NoRoom && !atomic {
        return Err("a request that can wait was refused".to_owned());
    }
    let given = session.populated_pages() != before && !session.balanced();
    if atomic && entry.knows_pages && given {
        return Err("a request that cannot wait was given memory".to_owned());
    }
    if !look {
        return Ok(());
    }
    session.validate()?;
    checker.check_state(session)
}

/// Runs operations on a fresh engine beside the model.
///
/// # Errors
/// The first step that goes wrong, with the operations up to it as a list to replay.
pub fn run_percpu_ops(entry: &EngineEntry, scene: Scene, ops: &[Op], looks: Looks) -> Result<(), String> {
    let mut session = entry.start(&scene)?;
    let mut checker = PercpuJudge::new(entry, &scene);
    let step = |op: &Op, look| percpu_step(&mut checker, session.as_mut(), entry, op, look);
    replayed(&format!("{}, {scene:?}", entry.engine), ops, looks, percpu_listing, step)
}

/// Turns any bytes into operations: allocations of all kinds, frees of live, dead and failed objects.
pub fn percpu_ops_from_bytes(bytes: &[u8]) -> Vec<Op> {
    let mut objects = 0;
    bytes.chunks_exact(BYTES_PER_OP).filter_map(|chunk| op_from_bytes(chunk, &mut objects)).collect()
}

fn op_from_bytes(chunk: &[u8], objects: &mut u32) -> Option<Op> {
    let &[kind, a, b] = chunk else { return None };
    let (size, object) = (*SIZES.get(usize::from(a) % SIZES.len())?, *objects);
    let align = match kind % 8 {
        0 | 1 => 4,
        2 | 3 => 1 << (b % 13),
        // Naturally aligned, up to a page.
        4 => (size & size.wrapping_neg()).min(u64::from(PAGE_BYTES)),
        _ => {
            let back = u32::from(a) % (object + 1);
            return Some(Op::Free { object: object.saturating_sub(back) });
        }
    };
    *objects += 1;
    Some(Op::Alloc { object, size_bytes: size, align: Align::new(align)?, atomic: b >= 224 })
}

/// The operations in the letters of the vector files, to look at and to replay.
pub fn percpu_listing(ops: &[Op]) -> String {
    let mut text = String::new();
    for op in ops {
        let _ = match op {
            Op::Alloc { size_bytes, align, atomic, .. } => {
                writeln!(text, "{} {size_bytes} {}", if *atomic { 'A' } else { 'a' }, align.bytes())
            }
            Op::Free { object } => writeln!(text, "f {object}"),
        };
    }
    text
}
