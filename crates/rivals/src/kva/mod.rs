//! Address-range allocators.

mod btreemap;
mod buddy;
mod checker;
mod floor;
mod gap_list;
mod memory;
mod mmap;
mod naive;
mod offset_allocator;
mod range_alloc;
mod rangemap_gaps;
mod regions;
mod splay;
mod units;
mod vm_allocator;

pub use btreemap::BTreeMapSpace;
pub use buddy::Buddy;
pub use checker::Checker;
pub use floor::Floor;
pub use gap_list::GapList;
pub use mmap::Mmap;
pub use naive::{Naive, lowest_fit};
pub use offset_allocator::OffsetAllocator;
pub use range_alloc::RangeAlloc;
pub use rangemap_gaps::RangemapGaps;
pub use splay::Splay;
pub use vm_allocator::VmAllocator;
