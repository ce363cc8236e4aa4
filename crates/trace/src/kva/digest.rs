//! The state of a column's engine, by which the files `kva-vectors 1` pin it from time to time.

use super::Column;
use crate::Fields;
use std::fmt;

/// A column's state, in units of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digest {
    /// Of an engine that keeps free blocks.
    Free(FreeDigest),
    /// Of the gap allocator.
    Gap(GapDigest),
}

/// The free blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeDigest {
    /// How many.
    pub blocks: u64,
    /// Their sizes together.
    pub sum: u64,
    /// The largest.
    pub largest: u64,
    /// FNV-1a over (start, length) in address order.
    pub list_hash: u64,
    /// FNV-1a over the tree in preorder, and its depth in nodes; column k alone.
    pub shape: Option<(u64, u64)>,
    /// Start and length of the lowest 16.
    pub first: Vec<(u64, u64)>,
}

/// The busy areas and the four cached values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapDigest {
    /// How many areas.
    pub areas: u64,
    /// Their sizes together.
    pub sum: u64,
    /// FNV-1a over (start, length) in address order.
    pub hash: u64,
    /// The largest hole seen below the cached node.
    pub cached_hole: u64,
    /// The window start of the last request.
    pub cached_vstart: u64,
    /// The alignment of the last request.
    pub cached_align: u64,
    /// Start of the cached node.
    pub cache: Option<u64>,
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free(FreeDigest { blocks, sum, largest, list_hash, shape, first }) => {
                write!(f, "{blocks} free blocks, sum {sum}, largest {largest}, hash {list_hash:x}")?;
                if let Some((hash, depth)) = shape {
                    write!(f, ", shape {hash:x} of depth {depth}")?;
                }
                first.iter().try_for_each(|(start, length)| write!(f, ", {start}+{length}"))
            }
            Self::Gap(GapDigest { areas, sum, hash, cached_hole, cached_vstart, cached_align, cache }) => {
                write!(
                    f,
                    "{areas} areas, sum {sum}, hash {hash:x}, cached hole {cached_hole}, start {cached_vstart}"
                )?;
                write!(f, ", alignment {cached_align}")?;
                cache.map_or(Ok(()), |node| write!(f, ", node {node}"))
            }
        }
    }
}

impl Digest {
    /// What stands behind the column's letter.
    pub(super) fn parse(column: Column, fields: &mut Fields<'_>) -> Result<Self, String> {
        Ok(match column {
            Column::Gap => Self::Gap(GapDigest {
                areas: fields.value("NBUSY")?,
                sum: fields.value("SUMBUSY")?,
                hash: fields.hex("HASH")?,
                cached_hole: fields.value("cached_hole")?,
                cached_vstart: fields.value("cached_vstart")?,
                cached_align: fields.value("cached_align")?,
                cache: match fields.text("CACHESTART")? {
                    "-" => None,
                    start => Some(start.parse().map_err(|_| "unreadable CACHESTART")?),
                },
            }),
            _ => Self::Free(FreeDigest {
                blocks: fields.value("NFREE")?,
                sum: fields.value("SUM")?,
                largest: fields.value("LARGEST")?,
                list_hash: fields.hex("LISTHASH")?,
                shape: match column {
                    Column::Linux => Some((fields.hex("SHAPEHASH")?, fields.value("DEPTH")?)),
                    _ => None,
                },
                first: first_blocks(fields.text("FIRST16")?)?,
            }),
        })
    }
}

fn first_blocks(text: &str) -> Result<Vec<(u64, u64)>, String> {
    if text == "-" {
        return Ok(Vec::new());
    }
    let block = |text: &str| {
        let mut parts = Fields::new(text, '+');
        let block = (parts.value("START")?, parts.value("LEN")?);
        parts.end().map(|()| block)
    };
    text.split(',').map(block).collect()
}
