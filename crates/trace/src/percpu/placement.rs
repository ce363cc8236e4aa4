//! Where the objects of a vector file went: resolves the short forms of answers and the names of objects.
//!
//! Invariants: chunks are numbered in the order of their first object; an object ends within its unit; only a
//! live object is freed. Cost: one byte per object.

use super::{Answer, Op};
use crate::Fields;
use freehold_units::Align;

/// Objects take whole multiples of this, in bytes.
const GRAIN_BYTES: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    Live,
    Failed,
    Freed,
}

/// The last successful allocation.
#[derive(Clone, Copy)]
struct Previous {
    chunk: u32,
    end: u64,
}

/// What is known of a file's objects so far.
pub(super) struct Placement {
    unit_bytes: u64,
    objects: Vec<Object>,
    live: u64,
    chunks: u32,
    previous: Option<Previous>,
}

impl Placement {
    /// An allocator that has `chunks` chunks of units of `unit_bytes` already.
    pub(super) fn new(unit_bytes: u64, chunks: u32) -> Self {
        Self { unit_bytes, objects: Vec::new(), live: 0, chunks, previous: None }
    }

    /// The number of allocations so far, failed ones included.
    pub(super) fn allocs(&self) -> u64 {
        self.objects.len() as u64
    }

    /// The number of objects that are live.
    pub(super) fn live(&self) -> u64 {
        self.live
    }

    /// `CHUNK OFF`, `+` or `!`, for an object of this size and alignment.
    pub(super) fn alloc(
        &mut self,
        fields: &mut Fields<'_>,
        size_bytes: u64,
        align: Align,
        atomic: bool,
    ) -> Result<(Op, Answer), String> {
        let object = u32::try_from(self.objects.len()).map_err(|_| "more than 2^32 objects")?;
        if size_bytes == 0 {
            return Err("the size is 0".to_owned());
        }
        let place = match fields.text("CHUNK")? {
            "!" => None,
            "+" => {
                let previous = self.previous.ok_or("`+` without a previous object")?;
                let offset = align.up(previous.end).ok_or("the offset passes 2^64")?;
                Some((previous.chunk, offset))
            }
            chunk => {
                let chunk = chunk.parse().map_err(|_| format!("unreadable CHUNK {chunk:?}"))?;
                Some((chunk, fields.value("OFF")?))
            }
        };
        let answer = match place {
            Some((chunk, offset_bytes)) => self.place(chunk, offset_bytes, size_bytes, align)?,
            None => {
                self.objects.push(Object::Failed);
                Answer::NoRoom
            }
        };
        Ok((Op::Alloc { object, size_bytes, align, atomic }, answer))
    }

    fn place(
        &mut self,
        chunk: u32,
        offset_bytes: u64,
        size_bytes: u64,
        align: Align,
    ) -> Result<Answer, String> {
        if chunk > self.chunks {
            return Err(format!("chunk {chunk} before chunk {}", self.chunks));
        }
        if !align.divides(offset_bytes) {
            return Err(format!("offset {offset_bytes} is not a multiple of {}", align.bytes()));
        }
        let end =
            size_bytes.checked_next_multiple_of(GRAIN_BYTES).and_then(|size| offset_bytes.checked_add(size));
        let end = end.filter(|end| *end <= self.unit_bytes);
        let end = end.ok_or_else(|| format!("the object passes the end of its unit, {}", self.unit_bytes))?;
        self.chunks = self.chunks.max(chunk.saturating_add(1));
        self.previous = Some(Previous { chunk, end });
        self.objects.push(Object::Live);
        self.live += 1;
        Ok(Answer::At { chunk, offset_bytes })
    }

    /// Frees the object; one whose allocation failed is not live.
    pub(super) fn free(&mut self, object: u32) -> Result<(Op, Answer), String> {
        let known = self.objects.get_mut(object as usize);
        let known = known.ok_or_else(|| format!("object {object} was never allocated"))?;
        let answer = match *known {
            Object::Live => {
                self.live -= 1;
                Answer::Freed
            }
            Object::Failed => Answer::NotLive,
            Object::Freed => return Err(format!("object {object} was freed before")),
        };
        *known = Object::Freed;
        Ok((Op::Free { object }, answer))
    }
}
