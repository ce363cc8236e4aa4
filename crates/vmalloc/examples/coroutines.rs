//! Ten thousand coroutines of corosensei at once, each on a guarded stack of a pool: in tens of mappings, and resident when the
//! next ones come. The feature `corosensei` makes our stacks corosensei's.
//!
//! `cargo run -p freehold-vmalloc --release --example coroutines`

use corosensei::{Coroutine, CoroutineResult, Yielder};
use freehold_vmalloc::{RetainPolicy, StackPool, VirtualMemory};
use std::error::Error;
use std::sync::OnceLock;
use std::time::Instant;

// Coroutines have stacks that outlive everything.
static VM: OnceLock<VirtualMemory> = OnceLock::new();
static POOL: OnceLock<StackPool<'static>> = OnceLock::new();

/// Counts to `last`, with a pause after each number.
fn count(yielder: &Yielder<(), u64>, last: u64) -> u64 {
    let mut sum = 0;
    for number in 1..=last {
        sum += number;
        yielder.suspend(sum);
    }
    sum
}

fn main() -> Result<(), Box<dyn Error>> {
    const COROUTINES: u64 = 10_000;
    let vm = VirtualMemory::builder().reserve(1 << 38).retain(RetainPolicy::bytes(8 << 30)).build()?;
    let vm = VM.get_or_init(|| vm);
    let pool = StackPool::with_count(vm, 256 << 10, COROUTINES)?;
    let pool = POOL.get_or_init(|| pool);
    for wave in ["decommitted", "resident"] {
        let started = Instant::now();
        let mut running = Vec::new();
        for last in 0..COROUTINES {
            let stack = pool.get()?;
            running.push(Coroutine::with_stack(stack, move |yielder, ()| count(yielder, last % 10)));
        }
        let mut returned = 0;
        while !running.is_empty() {
            running.retain_mut(|coroutine| match coroutine.resume(()) {
                CoroutineResult::Yield(_) => true,
                CoroutineResult::Return(sum) => {
                    returned += sum;
                    false
                }
            });
        }
        // 0 + 1 + 3 + ... + 45 for each ten.
        assert_eq!(returned, COROUTINES / 10 * 165);
        println!("{wave}: {COROUTINES} coroutines in {:?}", started.elapsed());
    }
    let mappings = std::fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count());
    println!("{mappings} mappings; guards are {:?}", vm.stats().mapping.guards);
    println!("{} bytes are resident", vm.stats().residency.resident_bytes);
    vm.release_idle()?;
    assert_eq!(vm.stats().residency.resident_bytes, 0);
    Ok(())
}
