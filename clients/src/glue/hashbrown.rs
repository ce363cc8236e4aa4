//! Maps of hashbrown in memory of ours, by the feature `allocator-api2` of ours.

use freehold_vmalloc::VirtualMemory;
use hashbrown::{DefaultHashBuilder, HashMap};

pub type Map<'a> = HashMap<u64, u64, DefaultHashBuilder, &'a VirtualMemory>;
