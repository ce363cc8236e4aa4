mod add;
mod counters;
mod every_cpu;
mod history;
mod lock;
mod memory;
mod pools;
mod readers;
mod slots;
mod stacks;

use freehold_lab::concurrent::Amount;
use std::time::Duration;

/// Enough for a test of what is written.
const TINY: Amount = Amount { rounds: 2, operations: 2000, together: Duration::from_millis(2) };
