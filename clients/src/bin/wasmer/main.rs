//! wasmer: `Static` memories, in whose code nothing is compared and faults tell what lies behind, from slots with guards of 8 GiB,
//! against its default, which maps each memory anew.

mod glue;

use clients::Answer;
use clients::client::{self, Client, Glue};
use clients::table::{Effort, Row, compare};
use clients::wasm::{self, Guest, work_and_trap};
use freehold_vmalloc::{OwnedSlots, RetainPolicy, SlotLayout, VirtualMemory};
use glue::Memories;
use std::process::ExitCode;
use std::sync::Arc;
use wasmer::sys::{BaseTunables, EngineBuilder, NativeEngineExt, Singlepass};
use wasmer::{Engine, Instance, Module, RuntimeError, Store, Target, WasmTypeList, imports};
use wasmer_vm::TrapCode;

/// Instances at once, which each have 12 GiB of addresses.
const AT_ONCE: usize = 100;
/// Bytes that a free memory keeps.
const KEEP_BYTES: usize = 64 << 10;

struct Side {
    engine: Engine,
    module: Module,
}

impl Side {
    fn new(slots: Option<OwnedSlots>) -> Answer<Self> {
        let mut engine: Engine = EngineBuilder::new(Singlepass::default()).engine().into();
        if let Some(slots) = slots {
            engine.set_tunables(Memories { base: BaseTunables::for_target(&Target::default()), slots });
        }
        let module = Module::new(&engine, wat::parse_str(wasm::module(65_536, None))?)?;
        Ok(Self { engine, module })
    }

    fn start(&self) -> Answer<Running> {
        let mut store = Store::new(self.engine.clone());
        let instance = Instance::new(&mut store, &self.module, &imports! {})?;
        Ok(Running { store, instance })
    }

    fn work(&self, seed: usize) -> Answer<Running> {
        let mut running = self.start()?;
        work_and_trap(&mut running, seed as i64)?;
        Ok(running)
    }
}

fn run(effort: Effort) -> Answer<Vec<Row>> {
    let vm = VirtualMemory::builder().reserve(1 << 41).retain(RetainPolicy::bytes(1 << 30)).build()?;
    let layout =
        SlotLayout::new(4 << 30).guard(8 << 30).accessible(KEEP_BYTES).keep_resident(KEEP_BYTES).count(128);
    let (ours, its) = (Side::new(Some(Arc::new(vm).slots_owned(&layout)?))?, Side::new(None)?);
    for (side, name) in [(&ours, "ours"), (&its, "its own")] {
        wasm::check(60, || side.start()).map_err(|error| format!("{name}: {error}"))?;
    }
    let turns = effort.of(500);
    let alone = |side: &Side| (0..turns).try_for_each(|seed| side.work(seed).map(drop));
    let together =
        |side: &Side| (0..AT_ONCE).map(|seed| side.work(seed)).collect::<Answer<Vec<_>>>().map(drop);
    let one = compare(effort, "grows, writes, traps", turns, || alone(&ours), || alone(&its))?;
    let many = compare(effort, "100 of these at once", AT_ONCE, || together(&ours), || together(&its))?;
    Ok(vec![one.at_most(0.5), many.at_most(0.5)])
}

/// An instance in a store of its own.
struct Running {
    store: Store,
    instance: Instance,
}

impl Running {
    fn call<P: WasmTypeList, R: WasmTypeList>(
        &mut self,
        name: &str,
        call: impl FnOnce(&mut Store, wasmer::TypedFunction<P, R>) -> Result<R, RuntimeError>,
    ) -> Answer<Option<R>> {
        let function = self.instance.exports.get_typed_function::<P, R>(&self.store, name)?;
        match call(&mut self.store, function) {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.clone().to_trap() == Some(TrapCode::HeapAccessOutOfBounds) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Guest for Running {
    fn load(&mut self, function: &str, at: u32) -> Answer<Option<u64>> {
        match function {
            "load" => Ok(self
                .call::<u32, u32>(function, |store, function| function.call(store, at))?
                .map(u64::from)),
            _ => self.call::<u32, u64>(function, |store, function| function.call(store, at)),
        }
    }

    fn store(&mut self, at: u32) -> Answer<Option<()>> {
        self.call::<u32, ()>("store", |store, function| function.call(store, at))
    }

    fn grow(&mut self, pages: u32) -> Answer<u32> {
        let grown = self.call::<u32, u32>("grow", |store, function| function.call(store, pages))?;
        Ok(grown.ok_or("to grow a memory leaves it")?)
    }

    fn work(&mut self, seed: i64) -> Answer<i64> {
        let sum = self.call::<i64, i64>("work", |store, function| function.call(store, seed))?;
        Ok(sum.ok_or("the work leaves the memory")?)
    }

    #[allow(unsafe_code, reason = "the engine's interface")]
    fn bytes<R>(&mut self, look: impl FnOnce(&mut [u8]) -> R) -> Answer<R> {
        let view = self.instance.exports.get_memory("memory")?.view(&self.store);
        // SAFETY: no code of the instance runs while the bytes are borrowed, as the guest is.
        Ok(look(unsafe { view.data_unchecked_mut() }))
    }
}

fn main() -> ExitCode {
    let glue = Some(Glue { text: include_str!("glue.rs"), most_lines: 25 });
    let client = Client { name: "wasmer", glue, run };
    client::main(|arguments| client.run_here(arguments.contains(&"--check")))
}

/// wasmer has this function's address among those that code may call. The standard library no longer has it, and what singlepass
/// compiles never calls it.
#[allow(unsafe_code, reason = "a name that the linker looks for")]
// SAFETY: nothing else has the name.
#[unsafe(no_mangle)]
extern "C" fn __rust_probestack() {
    std::process::abort()
}
