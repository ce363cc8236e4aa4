//! What an area of an address space is, in a number that all areas of a kind share.
//!
//! ```text
//!   file      0      |-----------|         shift = offset - address, the same wherever a mapping is cut:
//!   space     |......|-----|-----|...      two neighbours of one kind are one area
//! ```

use super::{Backing, MappingSource};
use std::collections::HashMap;

/// `MADV_DONTFORK`.
const DONT_FORK: u32 = 10;
/// Protection bits that an area has.
const PROT: u32 = 7;

/// What an area shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    /// Nothing but memory of its own.
    Memory,
    /// Memory shared with children, or a file that the recording could not name: of each mapping its own.
    Own(u32),
    /// A file.
    File(u32),
    /// The kernel's code for processes.
    Vdso,
    /// The kernel's data for processes.
    Vvar,
    /// The stack.
    Stack,
}

/// What an area is, and what two neighbours must have in common to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`.
    pub prot: u32,
    /// Whether it is shared.
    pub shared: bool,
    /// What it shows.
    pub shown: Shown,
    /// Advices that it was given and that were not taken back, a bit each.
    advice: u32,
    /// Offset in what is shown, less the address; wraps.
    shift: u64,
}

/// What changes of an area that stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// `mprotect`.
    Protect(u32),
    /// `madvise`.
    Advise(u32),
    /// It moves by so much, its content with it; wraps.
    Move(u64),
}

impl Kind {
    /// Of a mapping at `address`.
    pub fn new(prot: u32, shared: bool, shown: Shown, address: u64, offset: u64) -> Self {
        // Memory has no offset of its own: as far as it was not moved, neighbours always continue each other.
        let shift = match shown {
            Shown::Memory | Shown::Stack => 0,
            Shown::Own(_) | Shown::File(_) | Shown::Vdso | Shown::Vvar => offset.wrapping_sub(address),
        };
        Self { prot: prot & PROT, shared, shown, advice: 0, shift }
    }

    /// What a recording says of a mapping that the kernel made; `own` is the number of a file without one.
    pub fn shown_by_kernel(source: MappingSource, backing: Backing, own: u32) -> Shown {
        match (source, backing) {
            (MappingSource::Stack, _) => Shown::Stack,
            (MappingSource::Vdso, _) => Shown::Vdso,
            (MappingSource::Vvar, _) => Shown::Vvar,
            (_, Backing::File(file)) => Shown::File(file),
            (_, Backing::Unknown) => Shown::Own(own),
            (MappingSource::File | MappingSource::Anonymous, Backing::Anonymous) => Shown::Memory,
        }
    }

    /// Whether a child has it.
    pub fn is_inherited(&self) -> bool {
        self.advice & 1 << DONT_FORK == 0
    }

    fn changed(self, change: Change) -> Self {
        match change {
            Change::Protect(prot) => Self { prot: prot & PROT, ..self },
            Change::Advise(advice) => Self { advice: advised(self.advice, advice), ..self },
            Change::Move(by) => Self { shift: self.shift.wrapping_sub(by), ..self },
        }
    }
}

/// The bits after a `MADV_*` advice, which has a bit of its own or takes back what another said.
fn advised(now: u32, advice: u32) -> u32 {
    let (sets, clears) = match advice {
        // NORMAL, RANDOM, SEQUENTIAL.
        0 => (0, 1 << 1 | 1 << 2),
        1 => (1 << 1, 1 << 2),
        2 => (1 << 2, 1 << 1),
        // DONTFORK, MERGEABLE, DONTDUMP, WIPEONFORK, and behind each its opposite.
        DONT_FORK | 12 | 16 | 18 => (1 << advice, 0),
        11 | 13 | 17 | 19 => (0, 1 << (advice - 1)),
        // HUGEPAGE, NOHUGEPAGE.
        14 => (1 << 14, 1 << 15),
        15 => (1 << 15, 1 << 14),
        _ => (0, 0),
    };
    now & !clears | sets
}

/// Kinds by number, from 0, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    kinds: Vec<Kind>,
    numbers: HashMap<Kind, u64>,
    /// What was asked before: a kind and a change, and what it becomes.
    changed: HashMap<(u64, Change), u64>,
}

impl Kinds {
    /// The number of a kind.
    pub fn number(&mut self, kind: Kind) -> u64 {
        let next = self.kinds.len() as u64;
        let number = *self.numbers.entry(kind).or_insert(next);
        if number == next {
            self.kinds.push(kind);
        }
        number
    }

    /// The kind of a number.
    pub fn get(&self, number: u64) -> Option<&Kind> {
        usize::try_from(number).ok().and_then(|at| self.kinds.get(at))
    }

    /// What a kind becomes; a number that is none stays.
    pub fn changed(&mut self, number: u64, change: Change) -> u64 {
        if let Some(&changed) = self.changed.get(&(number, change)) {
            return changed;
        }
        let Some(kind) = self.get(number).copied() else { return number };
        let changed = self.number(kind.changed(change));
        self.changed.insert((number, change), changed);
        changed
    }
}
