//! One store of a recorded stream: what it was, how many nodes the kernel reckoned with and how many it took.

use super::stream_columns::Columns;
use crate::named::named;
use freehold_units::Span;

named! {
    /// How a store changes the tree, in the order of the numbers that stand in files, from 1.
    StoreType {
        NewRoot "new_root" "The whole tree becomes one range."
        StoreRoot "store_root" "Into a tree without nodes."
        ExactFit "exact_fit" "Over exactly one slot."
        Spanning "spanning" "Over more than one leaf."
        Split "split" "The leaf is too full."
        Rebalance "rebalance" "The leaf becomes too empty."
        Append "append" "At the end of the leaf."
        NodeStore "node_store" "The leaf is written anew."
        SlotStore "slot_store" "Into slots of the leaf."
    }
}

impl StoreType {
    fn from_number(number: u8) -> Result<Self, String> {
        let found = usize::from(number).checked_sub(1).and_then(|at| Self::ALL.get(at));
        found.copied().ok_or_else(|| format!("unknown store type {number}"))
    }
}

/// What kind of tree it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeFlags {
    /// It tracks gaps.
    pub alloc: bool,
    /// It has readers that take no lock.
    pub rcu: bool,
}

impl TreeFlags {
    pub(super) fn from_meta(meta: u8) -> Self {
        Self { alloc: meta & 0x10 != 0, rcu: meta & 0x20 != 0 }
    }
}

/// The kernel's reckoning before a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calculation {
    /// How often it was made: 2 where the first allocation had failed.
    pub times: u32,
    /// The lowest level above the leaf with a free slot, 1 for the root; 0 for none.
    pub vacant_height: u8,
    /// The lowest level above the leaf with entries to spare, 1 for the root; 0 for none, and always in 6.12.
    pub sufficient_height: u8,
    /// The nodes that this version asks for.
    pub requested: u8,
    /// The nodes that the formula of 6.12 asks for.
    pub requested_6_12: u8,
    /// The range as asked for, before it was widened over neighbouring gaps.
    pub asked: Span,
}

/// What a store did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Nodes taken.
    pub taken: u64,
    /// Old nodes handed back.
    pub handed_back: u64,
    /// Height afterwards.
    pub height: u8,
}

/// A store or the calculation for one. Values are not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamWrite {
    /// How the tree changes.
    pub store_type: StoreType,
    /// The tree's kind at this moment.
    pub flags: TreeFlags,
    /// Whether nothing is stored.
    pub null: bool,
    /// Whether the tree is in bulk mode.
    pub bulk: bool,
    /// Height before.
    pub height: u8,
    /// The range, widened over neighbouring gaps where nothing is stored; as asked for where the type is
    /// spanning or store root.
    pub span: Span,
    /// The reckoning; `None` for a store without one.
    pub calculation: Option<Calculation>,
    /// What was done; `None` for a reckoning alone.
    pub used: Option<Used>,
}

impl StreamWrite {
    /// Reads what follows op code `code`: 4, 5, 9 or 10. `expected` is the index after the write before.
    pub(super) fn read(columns: &mut Columns, code: u8, expected: u64) -> Result<Self, String> {
        let meta = columns.meta.byte()?;
        let height = columns.height.byte()?;
        let first = expected.wrapping_add(columns.first.signed()?.cast_unsigned());
        let last = first.checked_add(columns.len.unsigned()?).ok_or("the range passes 2^64")?;
        let span = Span::new(first, last).ok_or("the range is empty")?;
        let calculation = match code {
            5 => None,
            10 => Some(calculation(columns, 2, span)?),
            _ => Some(calculation(columns, 1, span)?),
        };
        let used = if code == 4 { None } else { Some(used(columns, height)?) };
        Ok(Self {
            store_type: StoreType::from_number(meta & 0xf)?,
            flags: TreeFlags::from_meta(meta),
            null: meta & 0x40 != 0,
            bulk: meta & 0x80 != 0,
            height,
            span,
            calculation,
            used,
        })
    }
}

fn calculation(columns: &mut Columns, times: u32, span: Span) -> Result<Calculation, String> {
    let heights = columns.vacsuf.byte()?;
    let (requested, requested_6_12) = (columns.req.byte()?, columns.req.byte()?);
    let first = span.first().checked_add(columns.ext.unsigned()?);
    let last = span.last().checked_sub(columns.ext.unsigned()?);
    let asked = first.zip(last).and_then(|(first, last)| Span::new(first, last));
    Ok(Calculation {
        times,
        vacant_height: heights >> 4,
        sufficient_height: heights & 0xf,
        requested,
        requested_6_12,
        asked: asked.ok_or("what was asked for is not within the range")?,
    })
}

fn used(columns: &mut Columns, height: u8) -> Result<Used, String> {
    let (taken, handed_back) = (columns.used.unsigned()?, columns.used.unsigned()?);
    let after = i64::from(height).checked_add(columns.hafter.signed()?);
    let height = after.and_then(|after| u8::try_from(after).ok()).ok_or("no tree has that height")?;
    Ok(Used { taken, handed_back, height })
}
