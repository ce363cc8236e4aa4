//! The areas of a process as the kernel lists them, `/proc/PID/maps`, and how ours differ.
//!
//! ```text
//!   7f8d91c64000-7f8d91c8a000 r-xp 00001000 fe:00 325835      /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
//! ```

use super::Kind;
use crate::{Fields, Lines, TraceError};
use freehold_units::Span;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// An area as both can tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    first: u64,
    last: u64,
    prot: u32,
    shared: bool,
}

impl Listed {
    /// Whether it ends at or below an address.
    pub fn is_below(&self, last: u64) -> bool {
        self.last <= last
    }

    /// One of ours.
    pub fn new(span: Span, kind: &Kind) -> Self {
        Self { first: span.first(), last: span.last(), prot: kind.prot, shared: kind.shared }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bit = |bit: u32, letter| if self.prot & bit != 0 { letter } else { '-' };
        let shared = if self.shared { 's' } else { 'p' };
        let end = u128::from(self.last) + 1;
        write!(f, "{:x}-{end:x} {}{}{}{shared}", self.first, bit(1, 'r'), bit(2, 'w'), bit(4, 'x'))
    }
}

/// How a stretch of addresses differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The kernel keeps so many areas apart that are one of ours.
    KeptApart(usize, Listed),
    /// So many of ours are one area of the kernel's.
    Merged(usize, Listed),
    /// The kernel lists what we do not have.
    Missing(Listed),
    /// We have what the kernel does not list.
    Extra(Listed),
    /// Both have something there, not the same.
    Other(Listed, Listed),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptApart(areas, ours) => write!(f, "{areas} recorded areas are one of ours: {ours}"),
            Self::Merged(areas, theirs) => write!(f, "{areas} of ours are one recorded area: {theirs}"),
            Self::Missing(theirs) => write!(f, "recorded alone: {theirs}"),
            Self::Extra(ours) => write!(f, "ours alone: {ours}"),
            Self::Other(theirs, ours) => write!(f, "recorded {theirs}, ours {ours}"),
        }
    }
}

/// Reads a list of areas.
///
/// # Errors
/// It cannot be read as one.
pub fn read_maps(file: &Path) -> Result<BTreeSet<Listed>, TraceError> {
    let mut lines = Lines::open(file)?;
    let mut areas = BTreeSet::new();
    while let Some(text) = lines.advance()? {
        areas.insert(text.parse().map_err(|reason| lines.error(reason))?);
    }
    Ok(areas)
}

impl FromStr for Listed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let mut ends = Fields::new(words.next().unwrap_or_default(), '-');
        let (first, end) = (ends.hex("first")?, ends.hex("end")?);
        ends.end()?;
        let last = end.checked_sub(1).filter(|&last| last >= first).ok_or("an area over no addresses")?;
        let letters = words.next().filter(|letters| letters.len() == 4).ok_or("no permissions")?;
        let bits = [('r', 1), ('w', 2), ('x', 4)];
        let prot = bits.into_iter().filter(|(letter, _)| letters.contains(*letter)).map(|(_, bit)| bit).sum();
        Ok(Self { first, last, prot, shared: letters.ends_with('s') })
    }
}

/// How many areas are the same, and how the others differ, by ascending addresses.
pub fn compare(recorded: &BTreeSet<Listed>, ours: &BTreeSet<Listed>) -> (usize, Vec<Difference>) {
    use Difference::{Extra, KeptApart, Merged, Missing, Other};
    let theirs: Vec<Listed> = recorded.difference(ours).copied().collect();
    let own: Vec<Listed> = ours.difference(recorded).copied().collect();
    let (mut theirs, mut own, mut differences) = (&theirs[..], &own[..], Vec::new());
    loop {
        let (difference, of_theirs, of_own) = match (theirs.first().copied(), own.first().copied()) {
            (None, None) => return (recorded.intersection(ours).count(), differences),
            (Some(their), None) => (Missing(their), 1, 0),
            (None, Some(our)) => (Extra(our), 0, 1),
            (Some(their), Some(our)) if their.last < our.first => (Missing(their), 1, 0),
            (Some(their), Some(our)) if our.last < their.first => (Extra(our), 0, 1),
            (Some(their), Some(our)) => match (pieces(our, theirs), pieces(their, own)) {
                (Some(areas), _) => (KeptApart(areas, our), areas, 1),
                (None, Some(areas)) => (Merged(areas, their), 1, areas),
                (None, None) => (Other(their, our), 1, 1),
            },
        };
        differences.push(difference);
        theirs = theirs.get(of_theirs..).unwrap_or_default();
        own = own.get(of_own..).unwrap_or_default();
    }
}

/// How many of the next areas make up `whole`, if they do.
fn pieces(whole: Listed, areas: &[Listed]) -> Option<usize> {
    let mut from = whole.first;
    for (at, area) in areas.iter().enumerate() {
        if area.first != from || (area.prot, area.shared) != (whole.prot, whole.shared) {
            return None;
        }
        if area.last >= whole.last {
            return (area.last == whole.last).then_some(at + 1);
        }
        from = area.last.checked_add(1)?;
    }
    None
}
