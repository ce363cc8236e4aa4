//! What sessions of the kva family can do beyond running operations.

use super::{Answer, Driver, Engine, Op};
use crate::Driven;
use freehold_units::{Align, Span};

/// A space to manage.
#[derive(Clone, Debug)]
pub struct Space {
    /// The spans that are free at the start.
    pub layout: Vec<Span>,
    /// What sizes and addresses are multiples of.
    pub granule: Align,
}

/// An engine at work. One that is known by its answers alone tells nothing else.
pub trait Session: Driven<Op, Answer> {
    /// Shows every free block in address order, if the engine shows any.
    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        let _ = visit;
    }

    /// Of the bytes of its structures, those that know the free blocks, where that is a structure of its own.
    fn free_index_bytes(&self) -> Option<usize> {
        None
    }

    /// The same engine in the same state; `None` if it cannot be copied.
    fn duplicate(&self) -> Option<Box<dyn Session>> {
        None
    }
}

impl<E: Engine + 'static> Session for Driver<E> {
    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.engine().free_blocks(visit);
    }

    fn free_index_bytes(&self) -> Option<usize> {
        self.engine().free_index_bytes()
    }

    fn duplicate(&self) -> Option<Box<dyn Session>> {
        Some(Box::new(Self::duplicate(self)?))
    }
}
