//! Memory that is taken and given back, each behind the same loops.

use super::held::{Block, Memory, PAGE};
use super::rounds::Took;
use super::{judge, replay};
use crate::concurrent::Who;
use crate::named::named;
use crate::workload::Workload;
use freehold::vmalloc::{self, RetainPolicy, VirtualMemory, Zero};
use freehold_harness::memory::{self, Mmap};
use freehold_rivals::memory::{Glibc, Jemalloc, MiMalloc};
use std::alloc::GlobalAlloc;
use std::cell::RefCell;
use std::hint::black_box;

/// Ours.
pub const VMALLOC: &str = "vmalloc";
/// Beside them, and no rival: what it takes to clear memory that somebody has.
pub const MEMSET: Who = Who::ours("memset");

/// Addresses for blocks.
const RESERVED: usize = 1 << 40;

impl Block for vmalloc::Block<'_> {
    fn address(&self) -> u64 {
        Self::address(self)
    }

    fn write_every(&mut self, step: usize, value: u8) {
        self.iter_mut().step_by(step).for_each(|byte| *byte = value);
    }

    fn has_every(&self, step: usize, value: u8) -> bool {
        self.iter().step_by(step).all(|&byte| byte == value)
    }
}

impl<A: GlobalAlloc> Block for memory::Block<'_, A> {
    fn address(&self) -> u64 {
        Self::address(self)
    }

    fn write_every(&mut self, step: usize, value: u8) {
        Self::write_every(self, step, value);
    }

    fn has_every(&self, step: usize, value: u8) -> bool {
        Self::has_every(self, step, value)
    }
}

impl Memory for VirtualMemory {
    type Block<'a> = vmalloc::Block<'a>;

    #[inline]
    fn take(&self, len: usize, zeroed: bool) -> Option<Self::Block<'_>> {
        self.alloc(len, if zeroed { Zero::Yes } else { Zero::No }).ok()
    }
}

/// An allocator of others.
struct Heap<A>(A);

impl<A: GlobalAlloc + Sync> Memory for Heap<A> {
    type Block<'a>
        = memory::Block<'a, A>
    where
        A: 'a;

    #[inline]
    fn take(&self, len: usize, zeroed: bool) -> Option<Self::Block<'_>> {
        memory::Block::new(&self.0, len, zeroed)
    }
}

named! {
    /// What is done with a block.
    Content {
        Untouched "untouched" "Nothing."
        Touched "touched" "A byte of each page is written."
        Zeroed "zeroed, touched" "It is zero, and then touched."
    }
}

/// Operations in loops, so that each is not called through a table.
pub trait Loops: Sync {
    /// Takes and gives back so many blocks, one at a time; whether there was one each time.
    fn pairs(&self, count: usize, len: usize, content: Content) -> bool;

    /// Whether blocks of so many bytes are apart, keep what is written, and are zero where they shall be.
    fn check(&self, len: usize, thread: u32) -> anyhow::Result<()>;

    /// Replays areas; what its operations took. Calls `at_end` while what is left is held.
    ///
    /// # Errors
    /// A block is refused, or lost what was written if `judged`.
    fn replay(&self, areas: &Workload, judged: bool, at_end: &mut dyn FnMut()) -> anyhow::Result<Took>;
}

impl<T: Memory> Loops for T {
    fn pairs(&self, count: usize, len: usize, content: Content) -> bool {
        (0..count).all(|_| {
            let Some(mut block) = self.take(black_box(len), content == Content::Zeroed) else { return false };
            if content != Content::Untouched {
                block.write_every(PAGE, 1);
            }
            black_box(block.address());
            true
        })
    }

    fn check(&self, len: usize, thread: u32) -> anyhow::Result<()> {
        judge::check(self, len, thread)
    }

    fn replay(&self, areas: &Workload, judged: bool, at_end: &mut dyn FnMut()) -> anyhow::Result<Took> {
        replay::replay(areas, self, judged, at_end)
    }
}

/// Clears memory that the thread has, so often, and touches it; whether all went well.
pub(super) fn memset(count: usize, len: usize) -> bool {
    thread_local!(static HELD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
    HELD.with_borrow_mut(|held| {
        held.resize(len, 1);
        for _ in 0..count {
            black_box(&mut *held).fill(0);
            held.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
        }
        black_box(held).iter().step_by(PAGE).all(|&byte| byte == 1)
    })
}

/// Makes memory anew, which keeps that much of it free, if it is ours; others keep what they keep.
pub type Make = fn(RetainPolicy) -> anyhow::Result<Box<dyn Loops>>;

/// Everyone who hands out blocks.
pub const ENTRIES: [(Who, Make); 5] = [
    (Who::default(VMALLOC), |keep| Ok(Box::new(ours(keep)?))),
    (Who::other("mmap"), |_| Ok(Box::new(Heap(Mmap)))),
    (Who::other("glibc"), |_| Ok(Box::new(Heap(Glibc)))),
    (Who::other("jemalloc"), |_| Ok(Box::new(Heap(Jemalloc)))),
    (Who::other("mimalloc"), |_| Ok(Box::new(Heap(MiMalloc)))),
];

/// Ours.
pub fn ours(keep: RetainPolicy) -> anyhow::Result<VirtualMemory> {
    Ok(VirtualMemory::builder().reserve(RESERVED).retain(keep).build()?)
}

/// What stays free and warm, where blocks are of one size: more than any workload gives back.
pub(super) const KEPT: RetainPolicy = RetainPolicy::bytes(4 << 30);
