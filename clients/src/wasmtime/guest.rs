//! An instance of the module, and what it answers.

use super::engines::Side;
use clients::Answer;
use clients::wasm::Guest;
use wasmtime::{Error, Instance, Store, Trap, WasmParams, WasmResults};

/// An instance in a store of its own.
pub struct Running {
    store: Store<()>,
    instance: Instance,
}

impl Running {
    pub fn new(side: &Side) -> Answer<Self> {
        let mut store = side.store();
        let instance = side.busy.instantiate(&mut store)?;
        Ok(Self { store, instance })
    }

    fn call<P: WasmParams, R: WasmResults>(&mut self, name: &str, parameters: P) -> Result<R, Error> {
        self.instance.get_typed_func::<P, R>(&mut self.store, name)?.call(&mut self.store, parameters)
    }
}

/// `None` of a call that left the memory.
fn inside<R>(answer: Result<R, Error>) -> Answer<Option<R>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.downcast_ref() == Some(&Trap::MemoryOutOfBounds) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Guest for Running {
    fn load(&mut self, function: &str, at: u32) -> Answer<Option<u64>> {
        match function {
            "load" => Ok(inside(self.call::<u32, u32>(function, at))?.map(u64::from)),
            _ => inside(self.call(function, at)),
        }
    }

    fn store(&mut self, at: u32) -> Answer<Option<()>> {
        inside(self.call("store", at))
    }

    fn grow(&mut self, pages: u32) -> Answer<u32> {
        Ok(self.call("grow", pages)?)
    }

    fn work(&mut self, seed: i64) -> Answer<i64> {
        Ok(self.call("work", seed)?)
    }

    fn bytes<R>(&mut self, look: impl FnOnce(&mut [u8]) -> R) -> Answer<R> {
        let memory = self.instance.get_memory(&mut self.store, "memory").ok_or("no memory")?;
        Ok(look(memory.data_mut(&mut self.store)))
    }
}
