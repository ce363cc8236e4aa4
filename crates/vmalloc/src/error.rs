//! The errors of the crate: one enum per group of operations.

use freehold_kva as kva;
use freehold_sys::SysError;
use freehold_units::{Bytes, Rejected, error_messages};

/// Errors of the layers below, each with the variant that it becomes; or with the one that stands for its variant of that
/// name.
macro_rules! becomes {
    ($to:ty: $($from:ty => $variant:ident $(or $own:ident)?),*) => {$(
        impl From<$from> for $to {
            fn from(error: $from) -> Self {
                $(if error == <$from>::$own {
                    return Self::$own;
                })?
                Self::$variant(error)
            }
        }
    )*};
}
pub(crate) use becomes;

/// The reason why there is no [`VirtualMemory`](crate::VirtualMemory).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// Less than 16 MiB of addresses, or more than 2^46 bytes.
    Reserve {
        /// The requested bytes.
        reserve_bytes: usize,
    },
    /// A limit does not allow the addresses, or making them usable.
    NoAddresses {
        /// The bytes of addresses.
        reserve_bytes: usize,
        /// The call that failed.
        error: SysError,
    },
    /// The system refused the addresses, or making them usable, for another reason.
    System(SysError),
    /// The addresses cannot be laid out.
    Layout(kva::LayoutError),
    /// No thread could be started to decommit idle memory.
    Thread,
    /// There is no memory for the library's own lists.
    OutOfMemory,
}

error_messages! { BuildError + OutOfMemory {
    Self::Reserve { reserve_bytes } =>
        "{} are not from {} to {} of addresses",
        Bytes::from(*reserve_bytes as u64).beside(crate::builder::MAX_RESERVE as u64),
        Bytes::from(crate::builder::MIN_RESERVE as u64),
        Bytes::from(crate::builder::MAX_RESERVE as u64);
    Self::NoAddresses { reserve_bytes, error } =>
        "{error}: {} of addresses; a smaller `reserve` needs fewer", Bytes::from(*reserve_bytes as u64);
    Self::System(error) => "{error}";
    Self::Layout(error) => "{error}";
    Self::Thread => "no thread could be started to give idle memory back; a RetainPolicy without decay needs none";
} }

becomes! { BuildError: SysError => System, kva::LayoutError => Layout or OutOfMemory }

/// The reason why no memory was handed out. Nothing has changed, except that idle memory may have been decommitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocError {
    /// There are no addresses for the request: it is 0 bytes or too many, or all are taken.
    Addresses(kva::AllocError),
    /// All slots of the pool are held.
    AllHeld {
        /// The number of slots.
        count: u64,
        /// Bytes of each.
        slot_bytes: u64,
    },
    /// The elements of a vector have a larger alignment than the reservation.
    Alignment {
        /// The alignment of the elements.
        align_bytes: u64,
        /// The largest possible alignment.
        most_bytes: u64,
    },
    /// The system refused to make the memory usable.
    System(SysError),
    /// There is no memory for the library's own lists.
    OutOfMemory,
}

error_messages! { AllocError + OutOfMemory {
    Self::Addresses(error) => "{error}";
    Self::AllHeld { count, slot_bytes } => "all {count} slots of {} are held", Bytes::from(*slot_bytes);
    Self::Alignment { align_bytes, most_bytes } =>
        "elements aligned to {} cannot be stored: {} is the largest alignment", Bytes::from(*align_bytes), Bytes::from(*most_bytes);
    Self::System(error) => "{error}";
} }

becomes! { AllocError: SysError => System, kva::AllocError => Addresses or OutOfMemory }

impl<T> From<Rejected<T, AllocError>> for AllocError {
    fn from(rejected: Rejected<T, AllocError>) -> Self {
        rejected.cause
    }
}

/// The reason why there is no pool of slots or stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// Slots of 0 bytes, or a pool of 0 slots.
    Empty,
    /// A slot with its guard, or the pool, is too large for the reservation.
    TooLarge {
        /// Bytes of addresses of a slot, with its guard. `None` if they overflow.
        slot_bytes: Option<u64>,
    },
    /// The alignment is no power of two, or larger than a slot.
    Alignment {
        /// The requested alignment.
        align_bytes: u64,
        /// Bytes of a slot.
        slot_bytes: u64,
    },
    /// The addresses are taken.
    Addresses(kva::AllocError),
    /// The system refused the addresses, or making them usable.
    System(SysError),
    /// There is no memory for the library's own lists.
    OutOfMemory,
}

error_messages! { PoolError + OutOfMemory {
    Self::Empty => "a pool needs slots, and a slot needs bytes";
    Self::TooLarge { slot_bytes: Some(bytes) } => "slots of {} do not fit into the reservation", Bytes::from(*bytes);
    Self::Alignment { align_bytes, slot_bytes } =>
        "{} is no alignment of slots of {}: a power of two up to their size is", Bytes::from(*align_bytes), Bytes::from(*slot_bytes);
    Self::TooLarge { slot_bytes: None } => "slots of so many bytes do not exist";
    Self::Addresses(error) => "{error}";
    Self::System(error) => "{error}";
} }

becomes! { PoolError: SysError => System, kva::AllocError => Addresses or OutOfMemory }

impl From<kva::LayoutError> for PoolError {
    fn from(error: kva::LayoutError) -> Self {
        match error {
            kva::LayoutError::OutOfMemory => Self::OutOfMemory,
            _ => Self::TooLarge { slot_bytes: None },
        }
    }
}

impl From<AllocError> for PoolError {
    fn from(error: AllocError) -> Self {
        match error {
            AllocError::Addresses(error) => Self::Addresses(error),
            AllocError::System(error) => Self::System(error),
            AllocError::AllHeld { slot_bytes, .. } => Self::TooLarge { slot_bytes: Some(slot_bytes) },
            AllocError::Alignment { align_bytes, most_bytes } => {
                Self::Alignment { align_bytes, slot_bytes: most_bytes }
            }
            AllocError::OutOfMemory => Self::OutOfMemory,
        }
    }
}
