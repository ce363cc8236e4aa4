//! Errors of carving, adopting and returning sub-spaces.

use super::FreeError;
use freehold_units::{Align, Span, error_messages};

/// The error of taking a sub-space back. It and the space are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReturnError {
    /// The sub-space was not carved from this space, is a copy of one that was, or was disowned since.
    Foreign {
        /// The addresses of the space that was passed.
        space: Span,
    },
    /// The sub-space still has regions.
    InUse {
        /// The lowest region.
        region: Span,
    },
    /// No memory for the index.
    OutOfMemory,
}

error_messages! { ReturnError + OutOfMemory {
    Self::Foreign { space } => "{space} was not carved from this space";
    Self::InUse { region } => "{region} is still allocated in the sub-space";
} }

/// The error of adopting a space as the sub-space of a region. Both spaces are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdoptError {
    /// No region starts at the address, or it has a sub-space already.
    Address(FreeError),
    /// The space is already a sub-space.
    HasParent {
        /// The addresses of the space.
        space: Span,
    },
    /// The space does not have exactly the addresses of the region.
    Unlike {
        /// The region, without its guard.
        region: Span,
        /// The space, holes included.
        space: Span,
    },
    /// The granules differ.
    Granule {
        /// The granule of the space with the region.
        parent: Align,
        /// The granule of the space that was to become its sub-space.
        child: Align,
    },
    /// No memory for the index.
    OutOfMemory,
}

error_messages! { AdoptError + OutOfMemory {
    Self::Address(error) => "{error}";
    Self::HasParent { space } => "{space} is a sub-space already";
    Self::Unlike { region, space } => "{space}, or what it has of that, is not the region {region}";
    Self::Granule { parent, child } => "granules of {child} in a space of {parent}";
} }
