//! A module of WebAssembly that grows its memory, writes and traps, and the checks of whoever runs it: every answer, every trap and
//! every byte, of memories that are used again and again.

use crate::Answer;
use std::collections::VecDeque;

const PAGE_BYTES: u32 = 64 << 10;
/// Bytes that a memory grows to in checks, which small ones can have.
const MOST_BYTES: u32 = 1 << 20;
/// What the module's data puts at `DATA_AT`.
const DATA: &[u8] = b"freehold";
const DATA_AT: usize = 100;

/// A module whose memory has at most `most_pages`, and whose `work` calls `host.NAME` first, if there is a name.
///
/// `work` adds up a word of every 4 KiB of the first 64 KiB, writes there, grows by 192 KiB, does the same with a word of every
/// 64 KiB there, and answers the sum of what it found, which are zeros, and of what it then reads. `load` and `store` are of any
/// address, `load_far` is of one that lies behind by a constant.
pub fn module(most_pages: usize, host: Option<&str>) -> String {
    let import = host.map_or(String::new(), |name| format!(r#"(import "host" "{name}" (func $host))"#));
    let call = host.map_or("", |_| "(call $host)");
    format!(
        r#"(module
            {import}
            (memory (export "memory") 1 {most_pages})
            (data (i32.const {DATA_AT}) "freehold")
            (func $touch (param $at i32) (param $end i32) (param $step i32) (param $seed i64) (result i64)
                (local $sum i64)
                (loop $next
                    (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
                    (i64.store (local.get $at) (i64.add (local.get $seed) (i64.extend_i32_u (local.get $at))))
                    (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
                    (local.set $at (i32.add (local.get $at) (local.get $step)))
                    (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
                (local.get $sum))
            (func (export "work") (param $seed i64) (result i64)
                (local $sum i64)
                {call}
                (local.set $sum
                    (call $touch (i32.const 0) (i32.const 0x10000) (i32.const 0x1000) (local.get $seed)))
                (if (i32.ne (memory.grow (i32.const 3)) (i32.const 1)) (then unreachable))
                (i64.add (local.get $sum)
                    (call $touch (i32.const 0x10000) (i32.const 0x40000) (i32.const 0x10000) (local.get $seed))))
            (func (export "load") (param i32) (result i32) (i32.load8_u (local.get 0)))
            (func (export "load_far") (param i32) (result i64) (i64.load offset=40000 (local.get 0)))
            (func (export "load_farthest") (param i32) (result i64) (i64.load offset=0xfffffff8 (local.get 0)))
            (func (export "store") (param i32) (i32.store8 (local.get 0) (i32.const 1)))
            (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))"#
    )
}

/// What `work` answers in a memory of zeros.
pub fn worked(seed: i64) -> i64 {
    let places = (0..0x10000).step_by(0x1000).chain((0x10000..0x40000).step_by(0x10000));
    places.map(|at: i64| seed + at).sum()
}

/// An instance of the module.
pub trait Guest {
    /// Calls a function that answers a number. `None` if it traps since it leaves the memory.
    fn load(&mut self, function: &str, at: u32) -> Answer<Option<u64>>;
    /// Writes a byte, likewise.
    fn store(&mut self, at: u32) -> Answer<Option<()>>;
    /// Grows the memory by pages of 64 KiB. The pages before.
    fn grow(&mut self, pages: u32) -> Answer<u32>;
    fn work(&mut self, seed: i64) -> Answer<i64>;
    /// Looks at all of the memory.
    fn bytes<R>(&mut self, look: impl FnOnce(&mut [u8]) -> R) -> Answer<R>;
}

/// The work of one instance, which then leaves its memory.
pub fn work_and_trap(guest: &mut impl Guest, seed: i64) -> Answer<()> {
    let sum = guest.work(seed)?;
    match guest.load("load", 0x40000)? {
        None if sum == worked(seed) => Ok(()),
        None => Err(format!("the work of seed {seed} gave {sum}").into()),
        Some(_) => Err("a load behind the memory does not trap".into()),
    }
}

/// Uses `turns` memories, some of them at once, and leaves each full of ones.
pub fn check<G: Guest>(turns: u32, start: impl Fn() -> Answer<G>) -> Answer<()> {
    let mut held = VecDeque::new();
    for turn in 0..turns {
        let mut guest = start()?;
        check_one(&mut guest, turn).map_err(|error| format!("turn {turn}: {error}"))?;
        held.push_back(guest);
        if held.len() > 3 {
            held.pop_front();
        }
    }
    Ok(())
}

fn check_one(guest: &mut impl Guest, turn: u32) -> Answer<()> {
    let data = guest.bytes(|bytes| {
        let mut zeros = [0; DATA.len()];
        bytes[DATA_AT..][..DATA.len()].swap_with_slice(&mut zeros);
        zeros
    })?;
    if data != DATA {
        return Err(format!("the module's data is {data:?}").into());
    }
    check_zeros(guest, 0)?;
    check_end(guest, PAGE_BYTES)?;
    let mut size = PAGE_BYTES;
    // Each turn in other steps, and now and then to the end.
    let (step, most) = (1 + turn % 5, [MOST_BYTES, MOST_BYTES / 2, PAGE_BYTES][turn as usize % 3]);
    while size + step * PAGE_BYTES <= most {
        if guest.grow(step)? != size / PAGE_BYTES {
            return Err(format!("a memory of {size:#x} does not grow").into());
        }
        check_zeros(guest, size as usize)?;
        size += step * PAGE_BYTES;
        check_end(guest, size)?;
    }
    Ok(())
}

/// The memory holds zeros from `from` on. All that it holds is overwritten.
fn check_zeros(guest: &mut impl Guest, from: usize) -> Answer<()> {
    let written = guest.bytes(|bytes| {
        let written = bytes[from..].iter().position(|&byte| byte != 0);
        bytes.fill(0xff);
        written
    })?;
    written.map_or(Ok(()), |at| Err(format!("a byte at {:#x} is not zero", from + at).into()))
}

/// What lies behind `size` traps, and what lies before does not.
fn check_end(guest: &mut impl Guest, size: u32) -> Answer<()> {
    let bytes = guest.bytes(|bytes| bytes.len())?;
    if bytes != size as usize {
        return Err(format!("a memory of {bytes:#x} bytes, not {size:#x}").into());
    }
    if guest.load("load", size - 1)? != Some(0xff) || guest.store(size - 1)?.is_none() {
        return Err("the last byte is not what was written, or cannot be".into());
    }
    // By the constant that the address gets in code.
    if guest.load("load_far", size - 40_008)?.is_none() {
        return Err("the last word cannot be read".into());
    }
    for at in [size, size + 1, size + 4095, size + 4096, MOST_BYTES, 2 * MOST_BYTES, 1 << 31, u32::MAX] {
        if guest.load("load", at)?.is_some() || guest.store(at)?.is_some() {
            return Err(format!("{at:#x} can be read or written behind {size:#x}").into());
        }
    }
    for at in [size - 40_007, size - 40_000, size - 1, MOST_BYTES, u32::MAX] {
        if guest.load("load_far", at)?.is_some() || guest.load("load_farthest", at)?.is_some() {
            return Err(format!("a word behind {at:#x} can be read, behind {size:#x}").into());
        }
    }
    Ok(())
}
