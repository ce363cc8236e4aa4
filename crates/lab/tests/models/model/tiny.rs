//! Operations on a space so small that everything collides.

use freehold::units::{Align, Span};
use freehold_trace::kva::Op;
use std::fmt::Write;
use std::sync::Arc;

/// First page and page after the end of each span of the tiny space: two spans with a hole between them.
pub(super) const TINY_LAYOUT: [(u64, u64); 2] = [(3, 29), (31, 40)];
const END_PAGE: u64 = 40;
const PAGE: u64 = Align::PAGE.bytes();
/// Bytes of fuzz input for an operation.
const BYTES_PER_OP: usize = 4;

/// The first `spans` spans of the tiny space.
pub fn tiny_layout(spans: usize) -> Vec<Span> {
    TINY_LAYOUT.iter().take(spans).filter_map(|&(low, end)| pages(low, end - low)).collect()
}

fn pages(first: u64, pages: u64) -> Option<Span> {
    Span::from_size(first * PAGE, pages * PAGE)
}

/// Turns any bytes into operations: allocations of all kinds, frees of live, dead and failed objects.
pub fn ops_from_bytes(bytes: &[u8]) -> Vec<Op> {
    let mut objects = 0;
    bytes.chunks_exact(BYTES_PER_OP).filter_map(|chunk| op_from_bytes(chunk, &mut objects)).collect()
}

fn op_from_bytes(chunk: &[u8], objects: &mut u32) -> Option<Op> {
    let &[kind, a, b, c] = chunk else { return None };
    let [a64, b64, c64] = [a, b, c].map(u64::from);
    let size = 1 + a64 % 7;
    let align = Align::new(PAGE << (b % 6))?;
    let everywhere = pages(0, END_PAGE + 5)?;
    let object = *objects;
    let op = match kind % 8 {
        0 => Op::Alloc { object, size_bytes: size * PAGE, align: Align::ONE, window: Span::ALL },
        1 | 2 => Op::Alloc { object, size_bytes: size * PAGE, align, window: everywhere },
        3 => {
            let window = pages(b64 % END_PAGE, 1 + c64 % 24)?;
            let align = Align::new(PAGE << (c % 5))?;
            Op::Alloc { object, size_bytes: size * PAGE, align, window }
        }
        4 => Op::alloc_at(object, pages(b64 % END_PAGE, size)?),
        5 => {
            let align = Align::new(PAGE << (c % 3))?;
            let window = if c % 4 == 0 { pages(b64 % END_PAGE, 4 + c64 % 30)? } else { everywhere };
            Op::Congruent { object, areas: areas_from(a64, b64, c64)?, align, window }
        }
        _ => return Some(Op::Free { object: u32::from(a) % (object + 1) }),
    };
    *objects += 1;
    Some(op)
}

/// One to four areas, not at offset 0 in general, in rising, falling or mixed order.
fn areas_from(a: u64, b: u64, c: u64) -> Option<Arc<[Span]>> {
    let mut areas = Vec::new();
    let mut offset = b % 4;
    for at in 0..1 + c % 4 {
        let size = 1 + (a >> at) % 3;
        areas.push(pages(offset, size)?);
        offset += size + (b >> at) % 4;
    }
    match a % 3 {
        0 => areas.reverse(),
        1 => areas.rotate_left(1),
        _ => {}
    }
    Some(areas.into())
}

/// The operations in the letters of the vector files, to look at and to replay; numbers are pages.
pub fn listing(ops: &[Op]) -> String {
    let mut text = String::new();
    for op in ops {
        let half_open = |span: &Span| format!("{}:{}", span.first() / PAGE, span.last() / PAGE + 1);
        let _ = match op {
            Op::Alloc { size_bytes, align, window, .. } => {
                let (size, align) = (size_bytes / PAGE, align.bytes().div_ceil(PAGE));
                writeln!(text, "a {size} {align} {}", half_open(window))
            }
            Op::Congruent { areas, align, window, .. } => {
                let area = |area: &Span| format!("{}+{}", area.first() / PAGE, area.size_saturating() / PAGE);
                let areas: Vec<String> = areas.iter().map(area).collect();
                writeln!(text, "m {} {} {}", align.bytes().div_ceil(PAGE), half_open(window), areas.join(","))
            }
            Op::Free { object } => writeln!(text, "f {object}"),
        };
    }
    text
}
