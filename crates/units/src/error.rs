//! The parts that the errors of all engines share.
//!
//! An engine has its own error enum for each question. Here are [`OutOfMemory`]; [`Rejected`], an error that returns
//! the value of the request; [`Broken`], an invariant that `validate()` found broken;
//! [`error_messages!`](crate::error_messages), which writes `Display` and `Error` of an enum from a table of messages; and
//! [`debug_hex!`](crate::debug_hex), which writes its `Debug` with hexadecimal addresses.

use core::fmt;

/// There is no memory for an engine's own nodes, or its limit of nodes is reached. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("out of memory")
    }
}

impl core::error::Error for OutOfMemory {}

impl From<alloc::collections::TryReserveError> for OutOfMemory {
    fn from(_: alloc::collections::TryReserveError) -> Self {
        Self
    }
}

/// An operation that was refused, with the value that the caller passed: the value to be stored, the sub-space to be
/// taken back.
///
/// It is an error with the message of its cause. In a function that returns the cause's type, `?` drops the value;
/// elsewhere `.map_err(AllocError::from)?` does, or `.map_err(|rejected| rejected.cause)?`. A `Box<dyn Error + Send + Sync>`
/// takes one only if the value is `Send`, `Sync` and `'static`.
///
/// ```
/// use freehold_units::{OutOfMemory, Rejected};
///
/// let refused = Rejected { value: "disk", cause: OutOfMemory };
/// assert_eq!((refused.to_string().as_str(), refused.value), ("out of memory", "disk"));
/// let error: Box<dyn std::error::Error + Send + Sync> = refused.into();
/// assert!(error.is::<Rejected<&str, OutOfMemory>>());
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected<T, E> {
    /// The value, returned to the caller.
    pub value: T,
    /// The reason of the refusal.
    pub cause: E,
}

impl<T, E: fmt::Debug> fmt::Debug for Rejected<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected").field("cause", &self.cause).finish_non_exhaustive()
    }
}

impl<T, E: fmt::Display> fmt::Display for Rejected<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<T, E: core::error::Error> core::error::Error for Rejected<T, E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.cause.source()
    }
}

/// An invariant of `INVARIANTS.md` that `validate()` found broken.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The invariant's number, such as `K3`.
    pub invariant: &'static str,
    /// The text of the invariant.
    pub rule: &'static str,
    /// The position of the chunk in which it fails, in structures with chunks.
    pub chunk: Option<u32>,
    /// The place where it fails: an address, an index, or a bit of the chunk.
    pub at: u64,
}

impl Broken {
    /// The same broken invariant, in a chunk.
    #[doc(hidden)]
    #[must_use]
    pub const fn in_chunk(self, chunk: u32) -> Self {
        Self { chunk: Some(chunk), ..self }
    }
}

/// `Ok` if `holds`, else the broken invariant.
#[doc(hidden)]
pub fn check(holds: bool, invariant: &'static str, rule: &'static str, at: u64) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { invariant, rule, chunk: None, at }) }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken at {:#x}", self.invariant, self.at)?;
        if let Some(chunk) = self.chunk {
            write!(f, " in chunk {chunk}")?;
        }
        write!(f, ": {}", self.rule)
    }
}

impl core::error::Error for Broken {}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Broken");
        shown.field("invariant", &self.invariant).field("rule", &self.rule).field("chunk", &self.chunk);
        shown.field("at", &Hex(self.at)).finish()
    }
}

/// An address whose `Debug` is hexadecimal, as it is in messages and in the `Debug` of a [`Span`](crate::Span).
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Hex(pub u64);

impl fmt::Debug for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Implements `Debug` of an enum as `derive` does, except that fields marked `hex` are hexadecimal.
///
/// ```
/// enum FreeError { Unknown { address: u64, size_bytes: u64 }, Other(u8), OutOfMemory }
/// freehold_units::debug_hex! { FreeError {
///     Unknown { address: hex, size_bytes };
///     Other(error);
///     OutOfMemory;
/// } }
/// let unknown = FreeError::Unknown { address: 16, size_bytes: 16 };
/// assert_eq!(format!("{unknown:?}"), "Unknown { address: 0x10, size_bytes: 16 }");
/// let others = (FreeError::Other(1), FreeError::OutOfMemory);
/// assert_eq!(format!("{others:?}"), "(Other(1), OutOfMemory)");
/// ```
#[macro_export]
macro_rules! debug_hex {
    ($error:ident $(<$value:ident>)? {
        $($variant:ident $({ $($field:ident $(: $hex:ident)?),* })? $(($inner:ident))?;)*
    }) => {
        impl $(<$value: core::fmt::Debug>)? core::fmt::Debug for $error $(<$value>)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $(Self::$variant $({ $($field),* })? $(($inner))? => {
                        $crate::debug_hex!(@one f $variant $({ $($field $($hex)?),* })? $(($inner))?)
                    })*
                }
            }
        }
    };
    (@one $f:ident $variant:ident) => { $f.write_str(stringify!($variant)) };
    (@one $f:ident $variant:ident ($inner:ident)) => { $f.debug_tuple(stringify!($variant)).field($inner).finish() };
    (@one $f:ident $variant:ident { $($field:ident $($hex:ident)?),* }) => {
        $f.debug_struct(stringify!($variant))
            $(.field(stringify!($field), $crate::debug_hex!(@field $field $($hex)?)))*
            .finish()
    };
    (@field $field:ident) => { $field };
    (@field $field:ident hex) => { &$crate::Hex(*$field) };
}

/// Implements `Display` and `Error` of an enum from a table of messages. With `+ OutOfMemory`, the enum has a variant
/// of that name, and `From<OutOfMemory>` is implemented too. A variant that holds another error shows that error's
/// message, and so has no `source`.
///
/// ```
/// # #[derive(Debug)]
/// enum FreeError { Unknown { address: u64 }, OutOfMemory }
/// freehold_units::error_messages! { FreeError + OutOfMemory {
///     Self::Unknown { address } => "{address:#x} is not an address of this space";
/// } }
/// assert_eq!(FreeError::Unknown { address: 16 }.to_string(), "0x10 is not an address of this space");
/// assert_eq!(FreeError::from(freehold_units::OutOfMemory).to_string(), "out of memory");
/// ```
#[macro_export]
macro_rules! error_messages {
    ($error:ident $(<$value:ident>)? + OutOfMemory { $($messages:tt)* }) => {
        $crate::error_messages! {
            $error $(<$value>)? { $($messages)* Self::OutOfMemory => "{}", $crate::OutOfMemory; }
        }

        impl $(<$value>)? From<$crate::OutOfMemory> for $error $(<$value>)? {
            fn from(_: $crate::OutOfMemory) -> Self {
                Self::OutOfMemory
            }
        }
    };
    ($error:ident $(<$value:ident>)? { $($reason:pat => $message:literal $(, $argument:expr)*;)* }) => {
        impl $(<$value: core::fmt::Display>)? core::fmt::Display for $error $(<$value>)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $($reason => write!(f, $message $(, $argument)*),)*
                }
            }
        }

        impl $(<$value: core::fmt::Debug + core::fmt::Display>)? core::error::Error for $error $(<$value>)? {}
    };
}
