//! perf.data: samples of tracepoints are the kernel's raw records; other records tell of tasks, mappings and lost events.
//!
//! The file is taken apart by `tracepoint_perf`. Before, the places that its header names are held against its length, since they
//! decide how much memory is taken. Cost: what perf wrote between two of its rounds is in memory, to be sorted by time.

use crate::Error;
use crate::decode::Decoder;
use crate::event::{Event, Mapping, What};
use crate::folder::{Meta, Origin};
use crate::raw::{Field, Format, MOST_BYTES, Meaning, Symbols, word32, word64};
use crate::recording::Recording;
use crate::snapshot::Snapshots;
use crate::source::{Events, Source};
use crate::text::maps;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tracepoint_decode::{PerfEventFormat, PerfEventHeaderType};
use tracepoint_perf::{PerfDataFileEventOrder, PerfDataFileReader, PerfHeaderIndex};

/// How a file begins.
pub(crate) const MAGIC: &[u8] = b"PERFILE2";
/// A program was started, as `misc` of a name says.
const MISC_EXEC: u16 = 1 << 13;
/// A mapping is told with the build's number in place of device and inode.
const MISC_BUILD_ID: u16 = 1 << 14;
/// Samples were dropped by a filter, as `misc` of lost ones says.
const MISC_BPF: u16 = 1 << 15;

/// Opens a file.
///
/// # Errors
/// It cannot be read as what it is.
pub(crate) fn open(file: &Path) -> Result<Recording, Error> {
    let opened = fs::File::open(file).map_err(Error::open(file))?;
    check_places(opened).map_err(|error| Error::unfit(file, format!("perf.data: {error}")))?;
    let name = file.to_str().ok_or_else(|| Error::unfit(file, "the name is not UTF-8"))?;
    let mut reader = PerfDataFileReader::new();
    let opened = guarded(|| reader.open_file(name, PerfDataFileEventOrder::Time));
    opened.map_err(|error| Error::unfit(file, format!("perf.data: {error}")))?;
    if !reader.header(PerfHeaderIndex::Compressed).is_empty() {
        return Err(Error::unfit(file, "perf.data: its records are compressed: record without -z"));
    }
    let mut meta = Meta::unknown(Origin::Perf);
    let header = |index| String::from_utf8_lossy(reader.header_string(index)).into_owned();
    for (index, into) in
        [(PerfHeaderIndex::OSRelease, &mut meta.release), (PerfHeaderIndex::Arch, &mut meta.arch)]
    {
        Some(header(index)).filter(|text| !text.is_empty()).into_iter().for_each(|text| *into = text);
    }
    let cpus = reader.header(PerfHeaderIndex::NrCpus);
    (meta.online, meta.possible) = (word32(cpus, 0).unwrap_or(0), word32(cpus, 4).unwrap_or(0));
    let page = reader.tracing_data_page_size();
    meta.page_bytes = if page > 0 { u64::from(page) } else { 4096 };
    let functions = String::from_utf8_lossy(reader.tracing_data_kallsyms());
    let (meaning, decoder) =
        (Meaning { symbols: Symbols::parse(&functions), ..Meaning::default() }, Decoder::default());
    let events = Events::new(Samples { file: file.to_owned(), reader, number: 0, meaning, decoder });
    Ok(Recording { meta, snapshots: Snapshots::default(), events })
}

/// What the crate does with a file that is damaged on purpose is not ours to promise: a panic is an error, too.
fn guarded<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let odd = || io::Error::new(io::ErrorKind::InvalidData, "the file is damaged");
    freehold_trace::guarded(read).unwrap_or_else(|| Err(odd()))
}

/// Whether all parts that the file's header names lie within the file.
fn check_places(mut file: fs::File) -> io::Result<()> {
    let odd = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let len = file.metadata()?.len();
    let mut header = [0u8; 104];
    file.read_exact(&mut header)?;
    let word = |bytes: &[u8], at: usize| word64(bytes, at).unwrap_or(u64::MAX);
    if word(&header, 8) != header.len() as u64 {
        return Err(odd("a file that was piped, or of a big-endian machine: record it with -o FILE"));
    }
    let within =
        |bytes: &[u8], at: usize| word(bytes, at).checked_add(word(bytes, at + 8)).filter(|end| *end <= len);
    let cut_off = "a part lies beyond the end of the file";
    let ends = [within(&header, 24), within(&header, 40)];
    let [Some(_), Some(data_end)] = ends else { return Err(odd(cut_off)) };
    let parts: u32 = (72..104).step_by(8).map(|at| word(&header, at).count_ones()).sum();
    file.seek(SeekFrom::Start(data_end))?;
    let mut table = Vec::new();
    file.take(u64::from(parts) * 16).read_to_end(&mut table)?;
    let whole = table.len() == parts as usize * 16;
    let fits = (0..table.len()).step_by(16).all(|at| within(&table, at).is_some());
    if whole && fits { Ok(()) } else { Err(odd(cut_off)) }
}

/// The events of a file.
struct Samples {
    file: PathBuf,
    reader: PerfDataFileReader,
    /// The number of the record, from 1.
    number: u64,
    meaning: Meaning,
    decoder: Decoder,
}

impl Source for Samples {
    fn read(&mut self) -> Result<Option<Event>, Error> {
        loop {
            self.number += 1;
            let reader = &mut self.reader;
            match guarded(|| reader.move_next_event()) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => return Err(Error::record(&self.file, self.number, error.to_string())),
            }
            let event = self.event();
            if let Some(event) = event.map_err(|what| Error::record(&self.file, self.number, what))? {
                return Ok(Some(event));
            }
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.decoder.warnings()
    }
}

impl Samples {
    fn event(&mut self) -> Result<Option<Event>, String> {
        let event = self.reader.current_event();
        if event.header.ty != PerfEventHeaderType::Sample {
            let info = self.reader.get_non_sample_event_info(&event);
            let (at, cpu) = info.map_or((0, 0), |info| (info.time, info.cpu));
            let misc = event.header.misc.0;
            let data = event.data.get(8..).unwrap_or_default();
            let said = other_record(event.header.ty, misc, data, &mut self.decoder, &mut self.meaning);
            let Some((tid, what)) = said else { return Ok(None) };
            what.check()?;
            return Ok(Some(self.meaning.event(at, cpu, tid, what)));
        }
        let info = self.reader.get_sample_event_info(&event);
        let info = info.map_err(|error| format!("a sample that cannot be read: {error}"))?;
        let Some(format) = info.format() else { return Ok(None) };
        let id = format.id() as u16;
        self.meaning.formats.entry(id).or_insert_with(|| own_format(format));
        self.meaning.decode(&mut self.decoder, info.time, info.cpu, info.raw_data())
    }
}

fn own_format(format: &PerfEventFormat) -> Format {
    let fields = format.fields().iter().filter_map(|field| {
        let (offset, size) = (usize::from(field.offset()), usize::from(field.size()));
        Field::new(field.field(), offset, size, field.signed().unwrap_or(false))
    });
    let print = format.print_fmt();
    let print = if print.len() as u64 > MOST_BYTES { "" } else { print };
    Format::new(format.id() as u16, format.name(), fields.collect(), print)
}

/// What a record that is no sample says, and of which task.
fn other_record(
    ty: PerfEventHeaderType,
    misc: u16,
    data: &[u8],
    decoder: &mut Decoder,
    meaning: &mut Meaning,
) -> Option<(u32, What)> {
    let (short, long) = (|at: usize| word32(data, at), |at: usize| word64(data, at));
    let name = |at: usize| {
        let bytes = data.get(at..)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    };
    match ty {
        PerfEventHeaderType::Comm => {
            let tid = short(4)?;
            meaning.tasks.insert(tid, Rc::from(name(8)?));
            (misc & MISC_EXEC != 0).then_some((tid, What::Exec))
        }
        PerfEventHeaderType::Fork => {
            let (pid, parent, child, by) = (short(0)?, short(4)?, short(8)?, short(12)?);
            let same = meaning.tasks.get(&by).cloned();
            same.into_iter().for_each(|name| drop(meaning.tasks.insert(child, name)));
            Some((by, What::made_in(child, pid == parent)))
        }
        PerfEventHeaderType::Exit => Some((short(8)?, What::Exit)),
        PerfEventHeaderType::Lost => Some((0, decoder.lost(long(8), false)?)),
        PerfEventHeaderType::LostSamples if misc & MISC_BPF == 0 => Some((0, decoder.lost(long(0), true)?)),
        PerfEventHeaderType::Mmap2 => {
            let (tid, start, len, offset) = (short(4)?, long(8)?, long(16)?, long(24)?);
            let (device, inode) = ([short(32)?, short(36)?], long(40)?);
            let (prot, flags) = (short(56)?, short(60)?);
            let (device, inode) = if misc & MISC_BUILD_ID != 0 { ([0, 0], 0) } else { (device, inode) };
            let (file, source) = maps::shown(device, inode, &name(64)?);
            let offset = if inode == 0 { 0 } else { offset };
            let (end, prot, shared) = (start.checked_add(len)?, prot & 7, flags & 1 != 0);
            let mapping = Mapping { start, end, prot, shared, source, file, offset };
            // The kernel's own mappings are of no task.
            let counts = tid != u32::MAX && decoder.mapping(tid, file);
            counts.then_some((tid, What::KernelMapping(mapping)))
        }
        _ => None,
    }
}
