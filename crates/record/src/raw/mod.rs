//! Raw sub-buffers of all CPUs as one sequence of events.
//!
//! Events come by (time, CPU, order within the CPU). Cost: a logarithm of the CPUs and the event's fields for each; memory for
//! one sub-buffer of each CPU, the format files and the names.

mod format;
mod page;

pub(crate) use format::{Field, Format, MOST_BYTES, RawRecord, Symbols};
pub(crate) use page::{Layout, word32, word64};

use crate::Error;
use crate::decode::Decoder;
use crate::event::{Event, What};
use crate::source::Source;
use page::Page;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

/// What the records of a recording mean.
#[derive(Default)]
pub(crate) struct Meaning {
    /// Events by the number that their records have.
    pub(crate) formats: HashMap<u16, Format>,
    /// Functions of the kernel.
    pub(crate) symbols: Symbols,
    /// Names of tasks.
    pub(crate) tasks: HashMap<u32, Rc<str>>,
}

impl Meaning {
    /// Whether the event was described.
    pub(crate) fn has(&self, event: &str) -> bool {
        self.formats.values().any(|format| &*format.name == event)
    }

    /// Reads the names of tasks, `TID NAME` a line.
    pub(crate) fn read_tasks(&mut self, text: &str) {
        let named = text.lines().filter_map(|line| {
            let (tid, name) = line.trim_start().split_once(' ')?;
            Some((tid.parse().ok()?, Rc::from(name)))
        });
        self.tasks.extend(named);
    }

    /// An event of a task, with its name if that is known.
    pub(crate) fn event(&self, at: u64, cpu: u32, tid: u32, what: What) -> Event {
        Event { at, cpu, tid, comm: self.tasks.get(&tid).cloned(), what }
    }

    /// What a record of this moment and CPU says, if that is of use.
    pub(crate) fn decode(
        &self,
        decoder: &mut Decoder,
        at: u64,
        cpu: u32,
        data: &[u8],
    ) -> Result<Option<Event>, String> {
        let id = data.first_chunk().ok_or("a record without an event's number")?;
        let Some(format) = self.formats.get(&u16::from_le_bytes(*id)) else { return Ok(None) };
        let tid =
            format.number("common_pid", data).ok_or_else(|| format!("{} has no common_pid", format.name))?;
        let (tid, record) = (tid as u32, RawRecord { format, data, symbols: &self.symbols });
        Ok(decoder.decode(tid, &format.name, &record)?.map(|what| self.event(at, cpu, tid, what)))
    }
}

/// The sub-buffers of one CPU.
struct Cpu {
    cpu: u32,
    file: PathBuf,
    reader: Box<dyn Read>,
    bytes: Vec<u8>,
    page: Option<Page>,
    /// The number of the sub-buffer, from 1.
    number: u64,
    /// Events lost before the record that is next.
    lost: Option<Option<u64>>,
    next: Option<(u64, Range<usize>)>,
}

impl Cpu {
    /// Finds the next record, in the next sub-buffers if need be.
    fn advance(&mut self, layout: Layout) -> Result<(), Error> {
        loop {
            if let Some(page) = &mut self.page {
                let next = page.next(&self.bytes);
                self.next = next.map_err(|what| Error::record(&self.file, self.number, what))?;
                if self.next.is_some() {
                    return Ok(());
                }
            }
            self.number += 1;
            self.bytes.clear();
            let read = self.reader.by_ref().take(layout.size as u64).read_to_end(&mut self.bytes);
            read.map_err(|error| Error::record(&self.file, self.number, format!("cannot be read: {error}")))?;
            if self.bytes.is_empty() {
                self.page = None;
                return Ok(());
            }
            let page = Page::new(&self.bytes, layout);
            let page = page.map_err(|what| Error::record(&self.file, self.number, what))?;
            if let Some(lost) = page.lost {
                self.lost = Some(self.lost.flatten().zip(lost).map(|(a, b)| a.saturating_add(b)).or(lost));
            }
            self.page = Some(page);
        }
    }
}

/// The events of all CPUs.
pub(crate) struct Raw {
    cpus: Vec<Cpu>,
    layout: Layout,
    /// The next record of each CPU: its time, its CPU, its place in `cpus`.
    heap: BinaryHeap<Reverse<(u64, u32, usize)>>,
    meaning: Meaning,
    decoder: Decoder,
}

impl Raw {
    /// Reads these CPUs' sub-buffers; each has a name for errors.
    ///
    /// # Errors
    /// A first sub-buffer is damaged.
    pub(crate) fn new(
        cpus: impl IntoIterator<Item = (u32, PathBuf, Box<dyn Read>)>,
        layout: Layout,
        meaning: Meaning,
        decoder: Decoder,
    ) -> Result<Self, Error> {
        let mut raw = Self { cpus: Vec::new(), layout, heap: BinaryHeap::new(), meaning, decoder };
        for (cpu, file, reader) in cpus {
            let (bytes, page, lost, next) = (Vec::new(), None, None, None);
            raw.cpus.push(Cpu { cpu, file, reader, bytes, page, number: 0, lost, next });
            raw.advance(raw.cpus.len() - 1)?;
        }
        Ok(raw)
    }

    fn advance(&mut self, at: usize) -> Result<(), Error> {
        let Some(cpu) = self.cpus.get_mut(at) else { return Ok(()) };
        cpu.advance(self.layout)?;
        if let Some((time, _)) = cpu.next {
            self.heap.push(Reverse((time, cpu.cpu, at)));
        }
        Ok(())
    }
}

impl Source for Raw {
    fn read(&mut self) -> Result<Option<Event>, Error> {
        while let Some(Reverse((time, number, at))) = self.heap.pop() {
            let Some(cpu) = self.cpus.get_mut(at) else { break };
            if let Some(count) = cpu.lost.take() {
                self.heap.push(Reverse((time, number, at)));
                let what = What::Lost { count };
                return Ok(Some(Event { at: time, cpu: number, tid: 0, comm: None, what }));
            }
            let data = cpu.next.take().and_then(|(_, place)| cpu.bytes.get(place)).unwrap_or_default();
            let decoded = self.meaning.decode(&mut self.decoder, time, number, data);
            let decoded = decoded.map_err(|what| Error::record(&cpu.file, cpu.number, what))?;
            self.advance(at)?;
            if decoded.is_some() {
                return Ok(decoded);
            }
        }
        Ok(None)
    }

    fn warnings(&self) -> Vec<String> {
        self.decoder.warnings()
    }
}
