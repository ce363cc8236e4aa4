//! The heap of a runtime with two generations: chunks of 1 MiB, each at a multiple of 1 MiB, so that an object's address says
//! which chunk it is in; a table of cards, a byte for each 512 bytes of heap, which says where old objects were written; and
//! a table of chunks whose own memory comes from the same reservation.
//!
//! `cargo run -p freehold-vmalloc --release --example gc_heap`
//!
//! To copy it: `freehold-vmalloc` with the feature `allocator-api2`, and `hashbrown` 0.16 with its feature of that name, for the
//! table of chunks. A field is read and written without `unsafe`, so each access looks its chunk up in that table; a runtime would
//! use the object's address as a pointer.

use freehold_vmalloc::{Slot, SlotLayout, Slots, VirtualMemory, VmVec};
use hashbrown::{DefaultHashBuilder, HashMap};
use std::error::Error;

const CHUNK_BYTES: usize = 1 << 20;
const CARD_BYTES: usize = 512;
const CHUNKS: usize = 64;
/// An object: where it has moved to, two references, a number.
const OBJECT_BYTES: usize = 32;
const MOVED_TO: usize = 0;
const REFERENCES: [usize; 2] = [8, 16];
const NUMBER: usize = 24;

/// The address of an object; `None` is no reference.
type Object = Option<u64>;

struct Chunk<'a> {
    memory: Slot<'a>,
    used: usize,
}

struct Heap<'a> {
    slots: &'a Slots<'a>,
    /// The first one is for new objects.
    chunks: Vec<Chunk<'a>>,
    by_base: HashMap<u64, usize, DefaultHashBuilder, &'a VirtualMemory>,
    cards: VmVec<'a, u8>,
    collections: u32,
    promoted: u64,
    /// Cards that collections looked at.
    dirty: u64,
}

impl<'a> Heap<'a> {
    fn new(vm: &'a VirtualMemory, slots: &'a Slots<'a>) -> Result<Self, Box<dyn Error>> {
        let mut heap = Self {
            slots,
            chunks: Vec::new(),
            by_base: HashMap::new_in(vm),
            cards: VmVec::with_reserve(vm, CHUNKS * CHUNK_BYTES / CARD_BYTES)?,
            collections: 0,
            promoted: 0,
            dirty: 0,
        };
        heap.add_chunk()?;
        heap.add_chunk()?;
        Ok(heap)
    }

    fn add_chunk(&mut self) -> Result<(), Box<dyn Error>> {
        let memory = self.slots.get()?;
        self.by_base.insert(base_of(&memory), self.chunks.len());
        self.chunks.push(Chunk { memory, used: 0 });
        self.cards.resize_zeroed(self.chunks.len() * CHUNK_BYTES / CARD_BYTES)?;
        Ok(())
    }

    /// The chunk of an object, and its place there.
    fn place(&self, object: u64) -> Option<(usize, usize)> {
        let offset = object % CHUNK_BYTES as u64;
        self.by_base.get(&(object - offset)).map(|&chunk| (chunk, offset as usize))
    }

    fn read(&self, object: u64, field: usize) -> Option<u64> {
        let (chunk, offset) = self.place(object)?;
        let bytes = self.chunks[chunk].memory.get(offset + field..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    fn write(&mut self, object: u64, field: usize, value: u64) {
        let Some((chunk, offset)) = self.place(object) else { return };
        let bytes = &mut self.chunks[chunk].memory[offset + field..][..8];
        bytes.copy_from_slice(&value.to_le_bytes());
        // The write barrier: a collection looks at the cards of old chunks that were written.
        if chunk > 0 {
            self.cards[(chunk * CHUNK_BYTES + offset) / CARD_BYTES] = 1;
        }
    }

    /// A new object; `None` if the first chunk is full.
    fn alloc(&mut self, number: u64) -> Object {
        let object = self.bump(0)?;
        self.write(object, NUMBER, number);
        Some(object)
    }

    fn bump(&mut self, chunk: usize) -> Object {
        let Chunk { memory, used } = &mut self.chunks[chunk];
        let object = (*used + OBJECT_BYTES <= CHUNK_BYTES).then(|| base_of(memory) + *used as u64)?;
        *used += OBJECT_BYTES;
        Some(object)
    }

    /// Moves what is reachable out of the first chunk, whose slot then goes back and comes again with zeros.
    fn collect(&mut self, roots: &mut [Object]) -> Result<(), Box<dyn Error>> {
        let mut moved = Vec::new();
        for root in roots {
            *root = self.keep(*root, &mut moved)?;
        }
        for card in CHUNK_BYTES / CARD_BYTES..self.cards.len() {
            if std::mem::take(&mut self.cards[card]) == 1 {
                self.dirty += 1;
                let chunk = base_of(&self.chunks[card * CARD_BYTES / CHUNK_BYTES].memory);
                let first = chunk + (card * CARD_BYTES % CHUNK_BYTES) as u64;
                for object in (first..first + CARD_BYTES as u64).step_by(OBJECT_BYTES) {
                    self.keep_references(object, &mut moved)?;
                }
            }
        }
        while let Some(object) = moved.pop() {
            self.keep_references(object, &mut moved)?;
        }
        // What was just moved is written, but has references to old objects alone.
        self.cards.fill(0);
        self.by_base.remove(&base_of(&self.chunks[0].memory));
        let fresh = Chunk { memory: self.slots.get()?, used: 0 };
        assert!(fresh.memory.iter().all(|&byte| byte == 0), "a slot comes with zeros");
        self.by_base.insert(base_of(&fresh.memory), 0);
        self.chunks[0] = fresh;
        self.collections += 1;
        Ok(())
    }

    fn keep_references(&mut self, object: u64, moved: &mut Vec<u64>) -> Result<(), Box<dyn Error>> {
        for field in REFERENCES {
            let old = self.read(object, field).filter(|&old| old != 0);
            if let Some(new) = self.keep(old, moved)? {
                self.write(object, field, new);
            }
        }
        Ok(())
    }

    /// Where an object is from now on. One of the first chunk moves to an old one.
    fn keep(&mut self, object: Object, moved: &mut Vec<u64>) -> Result<Object, Box<dyn Error>> {
        let Some(old) = object.filter(|&object| self.place(object).is_some_and(|(chunk, _)| chunk == 0))
        else {
            return Ok(object);
        };
        let field = |heap: &Self, field| heap.read(old, field).ok_or("it is in the first chunk");
        match field(self, MOVED_TO)? {
            0 => {}
            new => return Ok(Some(new)),
        }
        let new = match self.bump(self.chunks.len() - 1) {
            Some(new) => new,
            None => {
                self.add_chunk()?;
                self.bump(self.chunks.len() - 1).ok_or("a new chunk has room")?
            }
        };
        for at in REFERENCES.into_iter().chain([NUMBER]) {
            let value = field(self, at)?;
            self.write(new, at, value);
        }
        self.write(old, MOVED_TO, new);
        self.promoted += 1;
        moved.push(new);
        Ok(Some(new))
    }
}

fn base_of(memory: &Slot<'_>) -> u64 {
    memory.as_ptr().addr().get() as u64
}

fn main() -> Result<(), Box<dyn Error>> {
    let vm = VirtualMemory::builder().reserve(1 << 31).build()?;
    let layout = SlotLayout::new(CHUNK_BYTES).align(CHUNK_BYTES).count(CHUNKS as u64);
    let slots = vm.slots(&layout)?;
    let mut heap = Heap::new(&vm, &slots)?;
    assert!(base_of(&heap.chunks[0].memory).is_multiple_of(CHUNK_BYTES as u64));

    // A table of objects that grow old. New objects come and go; one in 64 is stored into the table, over the one before.
    let mut table: Vec<Object> = (0..100).map(|number| heap.alloc(number)).collect();
    heap.collect(&mut table)?;
    let mut stored = vec![None; table.len()];
    for number in 0..1_000_000_u64 {
        let object = match heap.alloc(number) {
            Some(object) => object,
            None => {
                heap.collect(&mut table)?;
                heap.alloc(number).ok_or("the first chunk is empty")?
            }
        };
        if number % 64 == 0 {
            let at = (number / 64 % 100) as usize;
            let holder = table[at].ok_or("the table is full")?;
            // The new one refers to the last, which is old by then, or as new.
            let last = heap.read(holder, REFERENCES[0]).ok_or("the holder is an object")?;
            heap.write(object, REFERENCES[1], last);
            heap.write(holder, REFERENCES[0], object);
            stored[at] = Some((number, stored[at].map(|(last, _): (u64, Option<u64>)| last)));
        }
    }
    heap.collect(&mut table)?;
    for (holder, expected) in table.iter().zip(&stored) {
        let held = holder.and_then(|holder| heap.read(holder, REFERENCES[0])).ok_or("a holder is lost")?;
        let last = heap.read(held, REFERENCES[1]).and_then(|last| heap.read(last, NUMBER));
        assert_eq!(heap.read(held, NUMBER).map(|number| (number, last)), *expected);
    }
    let cards = u64::from(heap.collections) * (heap.cards.len() as u64);
    println!(
        "{} collections moved {} of 1,000,100 objects and looked at {} of {cards} cards; {} chunks are old",
        heap.collections,
        heap.promoted,
        heap.dirty,
        heap.chunks.len() - 1
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
