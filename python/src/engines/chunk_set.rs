//! `freehold.ChunkSet`.

use crate::errors::{out_of_memory, raise, raise_with};
use freehold::percpu::{
    AllocError, ChunkId, ChunkSet as Set, Config, ConfigError, FreeError, Offset, Request,
};
use pyo3::prelude::*;

/// An object's place: index and generation of its chunk, and its offset in each unit in bytes.
type Place = (u32, u32, u32);

fn place(offset: Offset) -> Place {
    (offset.chunk.index(), offset.chunk.generation(), offset.offset_bytes)
}

fn offset((index, generation, offset_bytes): Place) -> Offset {
    Offset { chunk: ChunkId::from_parts(index, generation), offset_bytes }
}

/// Places small objects that exist once per CPU in chunks, as the kernel's per-CPU allocator does. It touches no memory.
///
/// `ChunkSet(unit_bytes=65536, cpus=1)` has chunks of `cpus` units of `unit_bytes` bytes, whole pages each. Operations take O(log n),
/// amortized.
///
/// Raises `RequestError` for a unit that is no whole number of pages or too small or large, or no CPU.
#[pyclass(module = "freehold")]
pub(crate) struct ChunkSet(Box<Set>);

#[pymethods]
impl ChunkSet {
    #[new]
    #[pyo3(signature = (unit_bytes=65536, cpus=1))]
    fn new(unit_bytes: u32, cpus: u32) -> PyResult<Self> {
        Set::new(Config::new(unit_bytes, cpus)).map(|set| Self(Box::new(set))).map_err(|error| match error {
            ConfigError::OutOfMemory => out_of_memory(),
            other => raise("RequestError", other.to_string()),
        })
    }

    /// Allocates an object of `size` bytes, up to 32 KiB, at a multiple of `align`, up to a page, and of 4; its place, as chunk,
    /// generation and offset in bytes. An `atomic` request only takes pages that have memory.
    ///
    /// Raises `NoSpace` for an atomic request without such a place; `RequestError` for a size or alignment that no set has;
    /// `MemoryError`.
    #[pyo3(signature = (size, align=4, *, atomic=false))]
    fn alloc(&mut self, size: u64, align: u64, atomic: bool) -> PyResult<Place> {
        let request = Request { atomic, ..Request::new(size).align(align) };
        self.0.alloc(&request).map(place).map_err(|error| match error {
            AllocError::OutOfMemory => out_of_memory(),
            AllocError::NoPopulatedRoom { .. } => raise("NoSpace", error.to_string()),
            other => raise("RequestError", other.to_string()),
        })
    }

    /// Frees the object at a place; the bytes that it took in each unit.
    ///
    /// Raises `NotAllocated` if none starts there.
    fn free(&mut self, place: Place) -> PyResult<u32> {
        self.0.free(offset(place)).map_err(not_allocated)
    }

    /// Bytes that the object at a place takes in each unit.
    ///
    /// Raises `NotAllocated` if none starts there.
    fn taken_bytes(&self, place: Place) -> PyResult<u32> {
        self.0.taken_bytes(offset(place)).map_err(not_allocated)
    }

    /// The place of every object, and the bytes that it takes in each unit.
    fn objects(&self) -> Vec<(Place, u32)> {
        self.0.objects().map(|(offset, bytes)| (place(offset), bytes)).collect()
    }

    /// Populates a few pages for atomic requests, and gives those of empty chunks back. Raises `MemoryError`.
    fn balance(&mut self) -> PyResult<()> {
        self.0.balance().map_err(|_| out_of_memory())
    }

    /// Pages that have memory, of each unit.
    #[getter]
    fn populated_pages(&self) -> u64 {
        self.0.populated_pages()
    }

    /// Checks every invariant. Raises `InternalError` for one that is broken. Cost: linear.
    fn validate(&self) -> PyResult<()> {
        self.0.validate().map_err(|broken| raise("InternalError", broken.to_string()))
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    fn __repr__(&self) -> String {
        format!("<freehold.ChunkSet of {} objects>", self.0.len())
    }
}

fn not_allocated(error: FreeError) -> PyErr {
    let conflict = match error {
        FreeError::Interior { object, .. } => Some(place(object)),
        _ => None,
    };
    raise_with("NotAllocated", error.to_string(), |attributes| attributes.set_item("conflict", conflict))
}
