//! `freehold.AddressSpace`.

use super::{Ends, ends, sized, span, values};
use crate::errors::{out_of_memory, raise, raise_with};
use freehold::kva::{AddressSpace as Space, AllocError, FreeError, Placement, Request, ResizeError};
use freehold::units::{Align, Span};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

/// First and last address of a region, and its value.
type Region = (u64, u64, Py<PyAny>);

/// Hands out address ranges, with a value for each.
///
/// `AddressSpace(first, last, granule=4096, placement="lowest")` manages the addresses `first..=last`, both ends included. Every size
/// and address is a multiple of `granule` bytes. `placement` is `lowest`, `highest` or `best-fit`. Operations take O(log n).
///
/// Raises `RequestError` for a range that is empty or not made of granules.
#[pyclass(module = "freehold")]
pub(crate) struct AddressSpace(Box<Space<Py<PyAny>>>);

impl Drop for AddressSpace {
    fn drop(&mut self) {
        Python::attach(|py| {
            let kept = values(py, self.0.regions().map(|region| region.value().clone_ref(py)));
            // No region of this class moves or is carved, which alone would keep it.
            let _ = self.0.clear();
            drop(kept);
        });
    }
}

#[pymethods]
impl AddressSpace {
    #[new]
    #[pyo3(signature = (first, last, *, granule=4096, placement="lowest"))]
    fn new(first: u64, last: u64, granule: u64, placement: &str) -> PyResult<Self> {
        let placement = match placement {
            "lowest" => Placement::Lowest,
            "highest" => Placement::Highest,
            "best-fit" => Placement::BestFit,
            other => {
                let names = "lowest, highest, best-fit";
                return Err(raise("RequestError", format!("no placement {other:?}; there are {names}")));
            }
        };
        let no_power = || raise("RequestError", format!("a granule of {granule} bytes is no power of two"));
        let granule = Align::new(granule).ok_or_else(no_power)?;
        let space = Space::new(span(first, last)?, granule, placement);
        space.map(|space| Self(Box::new(space))).map_err(|error| raise("RequestError", error.to_string()))
    }

    /// Allocates `size` bytes at a multiple of `align` within `first..=last`, with `guard` bytes behind them that nobody gets; the
    /// address.
    ///
    /// Raises `NoSpace` if there is no place, with `conflict` if one region is in the way; `RequestError` for a request that no space
    /// could fulfil; `MemoryError`.
    #[pyo3(signature = (size, value=None, *, align=1, first=0, last=u64::MAX, guard=0))]
    #[allow(clippy::too_many_arguments, reason = "they have names and defaults in Python")]
    fn alloc(
        &mut self,
        py: Python<'_>,
        size: u64,
        value: Option<Py<PyAny>>,
        align: u64,
        first: u64,
        last: u64,
        guard: u64,
    ) -> PyResult<u64> {
        let request = Request::new(size).align_bytes(align).guard(guard).within(first, last);
        let value = value.unwrap_or_else(|| py.None());
        let placed = request.and_then(|request| Ok(self.0.alloc(&request, value)?));
        placed.map(Span::first).map_err(refused)
    }

    /// Allocates `size` bytes at `first`, with `guard` bytes behind them that nobody gets; the address.
    ///
    /// Raises `NoSpace`, whose `conflict` is the region in the way, and what `alloc` raises.
    #[pyo3(signature = (first, size, value=None, *, guard=0))]
    fn alloc_at(
        &mut self,
        py: Python<'_>,
        first: u64,
        size: u64,
        value: Option<Py<PyAny>>,
        guard: u64,
    ) -> PyResult<u64> {
        let value = value.unwrap_or_else(|| py.None());
        let placed = self.0.alloc_at_guarded(sized(first, size)?, guard, value);
        placed.map(Span::first).map_err(|rejected| refused(rejected.cause))
    }

    /// Frees the region that starts at `first`; its value.
    ///
    /// Raises `NotAllocated` if none starts there, with `conflict` if one contains the address.
    fn free(&mut self, first: u64) -> PyResult<Py<PyAny>> {
        self.0.free(first).map(|(_, value)| value).map_err(not_freed)
    }

    /// Makes the region that starts at `first` `size` bytes long, where it is.
    ///
    /// Raises `NotAllocated`, and what `alloc_at` raises.
    fn resize(&mut self, first: u64, size: u64) -> PyResult<()> {
        self.0.resize(first, size).map(drop).map_err(|error| match error {
            ResizeError::Address(error) => not_freed(error),
            ResizeError::Size(error) => refused(error),
            other => raise("RequestError", other.to_string()),
        })
    }

    /// First address, last address and value of the region that contains `address`; `None` if none does.
    fn region_at(&self, py: Python<'_>, address: u64) -> Option<Region> {
        let region = self.0.region_at(address)?;
        Some((region.span().first(), region.span().last(), region.value().clone_ref(py)))
    }

    /// First address, last address and value of every region, in address order.
    fn regions(&self, py: Python<'_>) -> Vec<Region> {
        let all = self.0.regions();
        all.map(|region| (region.span().first(), region.span().last(), region.value().clone_ref(py)))
            .collect()
    }

    /// First and last address of every free block, in address order.
    fn free_blocks(&self) -> Vec<Ends> {
        self.0.free_blocks().map(ends).collect()
    }

    /// Checks every invariant. Raises `InternalError` for one that is broken. Cost: linear.
    fn validate(&self) -> PyResult<()> {
        self.0.validate().map_err(|broken| raise("InternalError", broken.to_string()))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, address: u64) -> bool {
        self.0.region_at(address).is_some()
    }

    /// For the collector of cycles.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.regions().try_for_each(|region| visit.call(region.value()))
    }

    fn __clear__(&mut self) {
        // No region of this class moves or is carved, which alone would keep it.
        let _ = self.0.clear();
    }

    fn __repr__(&self) -> String {
        format!("<freehold.AddressSpace {}, {} regions>", self.0.span(), self.0.len())
    }
}

fn refused(error: AllocError) -> PyErr {
    let message = error.to_string();
    let (conflict, largest) = match error {
        AllocError::OutOfMemory => return out_of_memory(),
        AllocError::Occupied { region } => (Some(ends(region)), None),
        AllocError::NoSpace { largest_free_bytes, .. } => (None, Some(largest_free_bytes)),
        AllocError::TooLarge { .. } | AllocError::NoMultiple { .. } => (None, None),
        _ => return raise("RequestError", message),
    };
    raise_with("NoSpace", message, |attributes| {
        attributes.set_item("conflict", conflict)?;
        attributes.set_item("largest_free_bytes", largest)
    })
}

fn not_freed(error: FreeError) -> PyErr {
    let conflict = match error {
        FreeError::Interior { region, .. } | FreeError::OtherSpan { region, .. } => Some(ends(region)),
        FreeError::OutOfMemory => return out_of_memory(),
        _ => None,
    };
    raise_with("NotAllocated", error.to_string(), |attributes| attributes.set_item("conflict", conflict))
}
