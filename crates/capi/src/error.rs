//! The codes of errors, what is in the way, and how each error of the engines becomes one.

use crate::plain::{Value, fh_span};
use freehold::kva::image::RestoreError;
use freehold::kva::{
    AllocError, FreeError, FreeRangeError, LayoutError, MergeError, MoveError, ResizeError, SharedError,
    SplitError,
};
use freehold::maple::maple_tree::WriteError;
use freehold::maple::{self, InsertError, StoreError};
use freehold::percpu::heap::HeapError;
use freehold::percpu::registry::RegistryError;
use freehold::percpu::{self, ConfigError};
use freehold::rcu::SynchronizeError;
use freehold::units::{Broken, OutOfMemory, Rejected, Span};
use freehold::vmalloc::{self, BuildError, PoolError};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// What a call returns. fh_strerror has a sentence for each.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum fh_error {
    /// Done.
    FH_OK = 0,
    /// A pointer that is not optional is NULL.
    FH_ENULL = -1,
    /// The size field of a struct is not that of this library's struct.
    FH_ESIZE = -2,
    /// A number is none of its enum.
    FH_EENUM = -3,
    /// There is no memory.
    FH_ENOMEM = -4,
    /// An argument that no state of the handle would make right: a size of 0, an alignment that is no power of two, a last address
    /// below the first, a place that is not made of granules, a name that is none.
    FH_EINVAL = -5,
    /// An address or a place lies outside the space or the window.
    FH_ERANGE = -6,
    /// Nothing free is large enough.
    FH_ENOSPC = -7,
    /// The place is taken; the conflict has the span that is in the way.
    FH_EOCCUPIED = -8,
    /// Nothing is there.
    FH_ENOENT = -9,
    /// The address is inside a region, not its start.
    FH_EINTERIOR = -10,
    /// The address is free: freed twice, or never allocated.
    FH_EFREE = -11,
    /// The region is moving.
    FH_EMOVING = -12,
    /// The move is of another space, or has ended.
    FH_ESTALE = -13,
    /// Readers hold back too much; they have to leave before more can be removed.
    FH_EREADERS = -14,
    /// This thread is in a read section, and would wait for itself.
    FH_EREADING = -15,
    /// The handle is in use: a plan, a transaction, a snapshot or a pool of it is open, a slot or a stack is held, or it is another
    /// thread's.
    FH_EBUSY = -16,
    /// The system refuses what the call needs.
    FH_ESYSTEM = -17,
    /// The bytes are not a snapshot, or a value of it was refused.
    FH_EFORMAT = -18,
    /// A check of the handle's invariants failed: a fault of the library, or of a program that wrote to its memory.
    FH_EBROKEN = -19,
}

/// The sentence of a code. Static, never NULL. Any thread. Cost: constant.
#[unsafe(no_mangle)]
pub extern "C" fn fh_strerror(code: c_int) -> *const c_char {
    let text: &'static CStr = match code {
        0 => c"done",
        -1 => c"a pointer that is not optional is NULL",
        -2 => c"the size field of a struct is not that of this library's struct",
        -3 => c"a number is none of its enum",
        -4 => c"out of memory",
        -5 => c"an invalid argument: size, alignment, order of ends, granule or name",
        -6 => c"outside the space or the window",
        -7 => c"nothing free is large enough",
        -8 => c"the place is taken",
        -9 => c"nothing is there",
        -10 => c"the address is inside a region, not its start",
        -11 => c"the address is free already",
        -12 => c"the region is moving",
        -13 => c"the move is of another space, or has ended",
        -14 => c"readers hold back too much",
        -15 => c"this thread is in a read section, and would wait for itself",
        -16 => c"in use: a plan, a transaction, a snapshot or a pool is open, or a slot or a stack is held",
        -17 => c"the system refuses what the call needs",
        -18 => c"not a snapshot, or a value of it was refused",
        -19 => c"an invariant is broken",
        _ => c"not a code of this library",
    };
    text.as_ptr()
}

/// Who is in the way. FH_CONFLICT_INIT fills it before the call.
#[repr(C)]
pub struct fh_conflict {
    /// sizeof(fh_conflict).
    pub size: usize,
    /// FH_EOCCUPIED, FH_EINTERIOR, FH_EMOVING, FH_EFREE: the region, the entry, or the free block.
    pub span: fh_span,
    /// The region's or the entry's value; NULL if it has none.
    pub value: *mut c_void,
    /// FH_ENOSPC: the size of the largest free block in bytes, UINT64_MAX for more.
    pub largest_free_bytes: u64,
}

/// Why a call failed.
#[derive(Clone, Copy)]
pub(crate) struct Failure {
    pub(crate) code: fh_error,
    span: Option<Span>,
    /// The value of what is at `span`.
    value: *mut c_void,
    largest_free_bytes: u64,
}

impl Failure {
    fn at(code: fh_error, span: Span) -> Self {
        Self { span: Some(span), ..Self::from(code) }
    }

    /// Whether a conflict, if there is one, can be filled.
    pub(crate) fn check(conflict: Option<&fh_conflict>) -> Result<(), Self> {
        conflict.map_or(Ok(()), |conflict| check_size::<fh_conflict>(conflict.size))
    }

    /// That of a call without a place of the caller's: if one place is left and that is taken, there is no space.
    pub(crate) fn without_place(self) -> Self {
        if self.code == fh_error::FH_EOCCUPIED { fh_error::FH_ENOSPC.into() } else { self }
    }

    /// The failure, with the value of what is in the way. `value_at` looks it up by an address or index in it.
    pub(crate) fn naming(self, value_at: impl FnOnce(u64) -> Option<Value>) -> Self {
        let value = self.span.and_then(|span| value_at(span.first()));
        Self { value: value.map_or(self.value, |value| value.0), ..self }
    }

    /// The failure, with the size of the largest free block if none is large enough. `largest` looks it up for a request that
    /// is larger than the space, whose error does not have it.
    pub(crate) fn measuring(self, largest: impl FnOnce() -> u64) -> Self {
        match (self.code, self.largest_free_bytes) {
            (fh_error::FH_ENOSPC, 0) => Self { largest_free_bytes: largest(), ..self },
            _ => self,
        }
    }

    pub(crate) fn fill(self, conflict: &mut fh_conflict) {
        if conflict.size != size_of::<fh_conflict>() {
            return;
        }
        conflict.span = self.span.map_or(fh_span { first: 0, last: 0 }, fh_span::from);
        conflict.value = self.value;
        conflict.largest_free_bytes = self.largest_free_bytes;
    }
}

impl From<fh_error> for Failure {
    fn from(code: fh_error) -> Self {
        Self { code, span: None, value: ptr::null_mut(), largest_free_bytes: 0 }
    }
}

impl From<OutOfMemory> for Failure {
    fn from(_: OutOfMemory) -> Self {
        fh_error::FH_ENOMEM.into()
    }
}

impl From<Broken> for Failure {
    fn from(_: Broken) -> Self {
        fh_error::FH_EBROKEN.into()
    }
}

impl<T, C: Into<Self>> From<Rejected<T, C>> for Failure {
    fn from(rejected: Rejected<T, C>) -> Self {
        rejected.cause.into()
    }
}

impl From<AllocError> for Failure {
    fn from(error: AllocError) -> Self {
        match error {
            AllocError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            AllocError::NoSpace { largest_free_bytes, .. } => {
                Self { largest_free_bytes, ..Self::from(fh_error::FH_ENOSPC) }
            }
            AllocError::TooLarge { .. } => fh_error::FH_ENOSPC.into(),
            AllocError::Occupied { region } => Self::at(fh_error::FH_EOCCUPIED, region),
            AllocError::PlaceOutside { .. } | AllocError::WindowOutside { .. } => fh_error::FH_ERANGE.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<FreeError> for Failure {
    fn from(error: FreeError) -> Self {
        match error {
            FreeError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            FreeError::AlreadyFree { block, .. } => Self::at(fh_error::FH_EFREE, block),
            FreeError::Interior { region, .. } => Self::at(fh_error::FH_EINTERIOR, region),
            FreeError::Moving { region } => Self::at(fh_error::FH_EMOVING, region),
            FreeError::Carved { region } => Self::at(fh_error::FH_EBUSY, region),
            FreeError::OtherSpan { region, .. } => Self::at(fh_error::FH_EINTERIOR, region),
            _ => fh_error::FH_ENOENT.into(),
        }
    }
}

impl From<FreeRangeError> for Failure {
    fn from(error: FreeRangeError) -> Self {
        match error {
            FreeRangeError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            FreeRangeError::Moving { region } => Self::at(fh_error::FH_EMOVING, region),
            FreeRangeError::Carved { region } => Self::at(fh_error::FH_EBUSY, region),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        match error {
            LayoutError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            LayoutError::Occupied { region } => Self::at(fh_error::FH_EOCCUPIED, region),
            LayoutError::Outside { .. } => fh_error::FH_ERANGE.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<MoveError> for Failure {
    fn from(error: MoveError) -> Self {
        match error {
            MoveError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            MoveError::Address(error) => error.into(),
            MoveError::Place(error) => error.into(),
            MoveError::Ended { .. } | MoveError::Foreign { .. } => fh_error::FH_ESTALE.into(),
            MoveError::PastTheEnd { .. } => fh_error::FH_ERANGE.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<ResizeError> for Failure {
    fn from(error: ResizeError) -> Self {
        match error {
            ResizeError::Address(error) => error.into(),
            ResizeError::Size(error) => error.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<SplitError> for Failure {
    fn from(error: SplitError) -> Self {
        match error {
            SplitError::Address(error) => error.into(),
            SplitError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Address(error) => error.into(),
            MergeError::NoNeighbour { .. } => fh_error::FH_ENOENT.into(),
            MergeError::Disagree { next, .. } => Self::at(fh_error::FH_EOCCUPIED, next),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl<C: Into<Self>> From<SharedError<C>> for Failure {
    fn from(error: SharedError<C>) -> Self {
        match error {
            SharedError::Refused(error) => error.into(),
            SharedError::Readers { .. } => fh_error::FH_EREADERS.into(),
            SharedError::Reading => fh_error::FH_EREADING.into(),
            SharedError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            _ => fh_error::FH_ESYSTEM.into(),
        }
    }
}

impl From<RestoreError<fh_error>> for Failure {
    fn from(error: RestoreError<fh_error>) -> Self {
        match error {
            RestoreError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            _ => fh_error::FH_EFORMAT.into(),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<InsertError> for Failure {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            InsertError::Occupied { entry } => Self::at(fh_error::FH_EOCCUPIED, entry),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<maple::AllocError> for Failure {
    fn from(error: maple::AllocError) -> Self {
        match error {
            maple::AllocError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            maple::AllocError::ZeroSize => fh_error::FH_EINVAL.into(),
            _ => fh_error::FH_ENOSPC.into(),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            WriteError::Occupied { entry } => Self::at(fh_error::FH_EOCCUPIED, entry),
            WriteError::EmptyRange => fh_error::FH_EINVAL.into(),
            WriteError::Readers { .. } => fh_error::FH_EREADERS.into(),
            WriteError::Reading => fh_error::FH_EREADING.into(),
            WriteError::InTransaction => fh_error::FH_EBUSY.into(),
            _ => fh_error::FH_ESYSTEM.into(),
        }
    }
}

impl From<SynchronizeError> for Failure {
    fn from(error: SynchronizeError) -> Self {
        match error {
            SynchronizeError::Reading => fh_error::FH_EREADING.into(),
            _ => fh_error::FH_ESYSTEM.into(),
        }
    }
}

impl From<percpu::AllocError> for Failure {
    fn from(error: percpu::AllocError) -> Self {
        match error {
            percpu::AllocError::OutOfMemory | percpu::AllocError::AtCapacity { .. } => {
                fh_error::FH_ENOMEM.into()
            }
            percpu::AllocError::NoPopulatedRoom { .. } => fh_error::FH_ENOSPC.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<percpu::FreeError> for Failure {
    fn from(error: percpu::FreeError) -> Self {
        match error {
            percpu::FreeError::AlreadyFree { .. } => fh_error::FH_EFREE.into(),
            percpu::FreeError::Interior { .. } => fh_error::FH_EINTERIOR.into(),
            percpu::FreeError::UnknownChunk { .. } => fh_error::FH_ENOENT.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<HeapError> for Failure {
    fn from(error: HeapError) -> Self {
        match error {
            HeapError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            HeapError::Alloc(error) => error.into(),
            HeapError::Config(error) => error.into(),
            _ => fh_error::FH_ESYSTEM.into(),
        }
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Taken { .. } | RegistryError::Clash { .. } | RegistryError::Kind { .. } => {
                fh_error::FH_EOCCUPIED.into()
            }
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

impl From<vmalloc::SysError> for Failure {
    fn from(_: vmalloc::SysError) -> Self {
        fh_error::FH_ESYSTEM.into()
    }
}

impl From<vmalloc::AllocError> for Failure {
    fn from(error: vmalloc::AllocError) -> Self {
        match error {
            vmalloc::AllocError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            vmalloc::AllocError::Addresses(error) => Self::from(error).without_place(),
            vmalloc::AllocError::Alignment { .. } => fh_error::FH_EINVAL.into(),
            vmalloc::AllocError::AllHeld { .. } => fh_error::FH_ENOSPC.into(),
            _ => fh_error::FH_ESYSTEM.into(),
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            BuildError::Layout(error) => error.into(),
            BuildError::Reserve { .. } => fh_error::FH_EINVAL.into(),
            _ => fh_error::FH_ESYSTEM.into(),
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::OutOfMemory => fh_error::FH_ENOMEM.into(),
            PoolError::Addresses(error) => Self::from(error).without_place(),
            PoolError::System(_) => fh_error::FH_ESYSTEM.into(),
            _ => fh_error::FH_EINVAL.into(),
        }
    }
}

/// Whether a caller's struct is the one that this library knows.
pub(crate) fn check_size<T>(size: usize) -> Result<(), Failure> {
    if size == size_of::<T>() { Ok(()) } else { Err(fh_error::FH_ESIZE.into()) }
}
