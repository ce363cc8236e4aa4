//! Two engines that differ in where memories and stacks are from, and the module that they run.

use super::fibers;
use crate::glue::wasmtime::{Memories, Stacks};
use clients::Answer;
use clients::wasm;
use freehold_vmalloc::{RetainPolicy, SlotLayout, StackLayout, VirtualMemory};
use std::sync::Arc;
use wasmtime::{
    Caller, Config, Engine, InstanceAllocationStrategy, InstancePre, Linker, Module, PoolingAllocationConfig,
    Store,
};

/// Bytes that a free memory keeps, on both sides.
pub const KEEP_BYTES: usize = 64 << 10;
/// Instances that there may be at once.
const MOST: u32 = 512;
const STACK_BYTES: usize = 512 << 10;

/// Where memories lie, and how code is kept inside.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    pub memory_bytes: usize,
    pub guard_bytes: usize,
    /// Whether code compares each address with the memory's size, and nothing faults.
    pub compares: bool,
}

/// Code compares addresses with the most that a memory may have, and faults tell what lies behind its size.
pub const SHORT: Shape =
    Shape { name: "1 MiB", memory_bytes: 1 << 20, guard_bytes: 64 << 10, compares: false };
/// Code compares all.
pub const COMPARED: Shape = Shape { name: "1 MiB, compared", compares: true, ..SHORT };
/// Code compares nothing.
pub const WHOLE: Shape =
    Shape { name: "4 GiB", memory_bytes: 4 << 30, guard_bytes: 32 << 20, compares: false };

/// An engine, and modules that are ready to be instances of it.
pub struct Side {
    pub engine: Engine,
    /// A memory and nothing else.
    pub bare: InstancePre<()>,
    /// What grows, writes and traps.
    pub busy: InstancePre<()>,
    /// The same, after a call of the host that waits.
    pub waiting: InstancePre<()>,
}

impl Side {
    /// Memories and stacks of a `VirtualMemory`.
    pub fn ours(shape: Shape) -> Answer<Self> {
        let vm = VirtualMemory::builder().reserve(1 << 43).retain(RetainPolicy::bytes(1 << 30)).build()?;
        let vm = Arc::new(vm);
        let memories = SlotLayout::new(shape.memory_bytes)
            .guard(shape.guard_bytes)
            .accessible(KEEP_BYTES)
            .keep_resident(KEEP_BYTES);
        let stacks = StackLayout::new(STACK_BYTES).count(MOST.into());
        let mut config = config(shape);
        // The engine maps a file over memories that are its own, and panics where they are another's.
        config.memory_init_cow(false);
        config.with_host_memory(Arc::new(Memories(vm.slots_owned(&memories.count(MOST.into()))?)));
        config.with_host_stack(Arc::new(Stacks(vm.stacks_owned(&stacks)?)));
        Self::new(shape, &config)
    }

    /// The pooling allocator.
    pub fn its(shape: Shape) -> Answer<Self> {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_memories(MOST).total_core_instances(MOST).total_stacks(MOST).max_unused_warm_slots(MOST);
        pool.max_memory_size(shape.memory_bytes).linear_memory_keep_resident(KEEP_BYTES);
        let mut config = config(shape);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        Self::new(shape, &config)
    }

    fn new(shape: Shape, config: &Config) -> Answer<Self> {
        let engine = Engine::new(config)?;
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "go_on", || ())?;
        linker.func_wrap_async("host", "wait", |_: Caller<'_, ()>, (): ()| Box::new(fibers::wait()))?;
        let ready = |text: &str| -> Answer<InstancePre<()>> {
            Ok(linker.instantiate_pre(&Module::new(&engine, wat::parse_str(text)?)?)?)
        };
        let bare = ready(r#"(module (memory (export "memory") 1))"#)?;
        let module = |host| ready(&wasm::module(shape.memory_bytes >> 16, Some(host)));
        let (busy, waiting) = (module("go_on")?, module("wait")?);
        Ok(Self { engine, bare, busy, waiting })
    }

    pub fn store(&self) -> Store<()> {
        Store::new(&self.engine, ())
    }
}

fn config(shape: Shape) -> Config {
    let mut config = Config::new();
    config.memory_reservation(shape.memory_bytes as u64).memory_guard_size(shape.guard_bytes as u64);
    config.memory_may_move(false).signals_based_traps(!shape.compares).async_stack_size(STACK_BYTES);
    config
}
