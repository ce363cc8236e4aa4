//! A recording that was opened: what is known of it, and its events in order of time.

use crate::Error;
use crate::decode::Decoder;
use crate::event::Event;
use crate::folder::{self, Meta};
use crate::log::{EVENTS_LOG, Log};
use crate::raw::{Format, Layout, MOST_BYTES, Meaning, Raw, Symbols};
use crate::snapshot::{Snapshot, Snapshots};
use crate::source::{Events, Source};
use crate::text::{maps, percpu_stats, vmallocinfo};
use freehold_trace::{Kind, Lines, read_text, read_text_lossy};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of the names of all functions at most.
pub(crate) const MOST_SYMBOLS: u64 = 64 << 20;
/// Events that are described, at most.
const MOST_EVENTS: usize = 1 << 14;

/// The kernel's events, and beside them what ptrace saw of the same tasks.
struct Beside {
    raw: Raw,
    log: Log,
    /// The next of each.
    next: [Option<Event>; 2],
}

impl Source for Beside {
    fn read(&mut self) -> Result<Option<Event>, Error> {
        let [seen, told] = &mut self.next;
        if seen.is_none() {
            *seen = self.raw.read()?;
        }
        if told.is_none() {
            *told = self.log.read()?;
        }
        let is_earlier = told.as_ref().is_some_and(|told| seen.as_ref().is_none_or(|seen| told.at < seen.at));
        Ok(if is_earlier { told.take() } else { seen.take() })
    }

    fn warnings(&self) -> Vec<String> {
        self.raw.warnings()
    }
}

/// An opened recording.
pub(crate) struct Recording {
    pub(crate) meta: Meta,
    pub(crate) snapshots: Snapshots,
    pub(crate) events: Events,
}

/// The kernel's events of each kind of recording, by system and name, besides those of calls; and the first kernel that has
/// one which the kind cannot do without.
pub(crate) const EVENTS: [(Kind, &str, &str, Option<&str>); 20] = [
    (Kind::Kva, "vmalloc", "alloc_vmap_area", Some("6.2")),
    (Kind::Kva, "vmalloc", "free_vmap_area_noflush", Some("6.2")),
    (Kind::Kva, "vmalloc", "purge_vmap_area_lazy", None),
    // Areas of chunks have no event of their own.
    (Kind::Kva, "percpu", "percpu_create_chunk", None),
    (Kind::Kva, "percpu", "percpu_destroy_chunk", None),
    (Kind::Pcpu, "percpu", "percpu_alloc_percpu", Some("4.14")),
    (Kind::Pcpu, "percpu", "percpu_alloc_percpu_fail", None),
    (Kind::Pcpu, "percpu", "percpu_free_percpu", Some("4.14")),
    (Kind::Pcpu, "percpu", "percpu_create_chunk", None),
    (Kind::Pcpu, "percpu", "percpu_destroy_chunk", None),
    (Kind::Vma, "sched", "sched_process_exec", None),
    (Kind::Vma, "sched", "sched_process_exit", None),
    (Kind::Vma, "sched", "sched_process_fork", None),
    // Its flags tell a thread from a process.
    (Kind::Vma, "task", "task_newtask", None),
    (Kind::Vma, "mmap", "vm_unmapped_area", None),
    (Kind::Vma, CALLS, "sys_enter_mmap", Some("2.6.33 (built with FTRACE_SYSCALLS)")),
    (Kind::Vma, CALLS, "sys_exit_mmap", Some("2.6.33 (built with FTRACE_SYSCALLS)")),
    (Kind::Mt, "maple_tree", "ma_op", None),
    (Kind::Mt, "maple_tree", "ma_read", None),
    (Kind::Mt, "maple_tree", "ma_write", Some("6.1")),
];
/// The system of calls' events.
pub(crate) const CALLS: &str = "syscalls";

/// Refuses a recording without an event that its kind cannot do without.
///
/// # Errors
/// The first event that is missing.
pub(crate) fn check_events(
    kind: Kind,
    file: &Path,
    meta: &Meta,
    has: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    for (of, system, name, since) in EVENTS {
        if let Some(since) = since
            && of == kind
            && !has(name)
        {
            let (file, release) = (file.to_owned(), meta.release.clone());
            return Err(Error::MissingEvent { file, event: format!("{system}:{name}"), since, release });
        }
    }
    Ok(())
}

/// Opens a folder as the module [`folder`] describes it.
///
/// # Errors
/// A file cannot be read as what it is, or an event is missing.
pub(crate) fn open_folder(folder: &Path) -> Result<Recording, Error> {
    let mut meta = Meta::read(folder)?;
    let snapshots = Snapshots { start: snapshot(folder, "start")?, end: snapshot(folder, "end")? };
    let log = folder.join(EVENTS_LOG);
    let cpus = numbered(folder, "cpu", ".raw")?;
    if log.exists() && cpus.is_empty() {
        return Ok(Recording { meta, snapshots, events: Events::new(Log::open(&log)?) });
    }
    let mut meaning = Meaning::default();
    read_formats(&folder.join("events"), &mut meaning)?;
    meta.kind.map_or(Ok(()), |kind| check_events(kind, folder, &meta, |event| meaning.has(event)))?;
    if let Some(text) = text_if_there(&folder.join("kallsyms"), MOST_SYMBOLS)? {
        meaning.symbols = Symbols::parse(&text);
    }
    let names = folder.join("saved_cmdlines");
    if names.exists() {
        // What tasks call themselves.
        let text = read_text_lossy(&names, MOST_SYMBOLS).map_err(Error::open(&names))?;
        meaning.read_tasks(&text);
    }
    let header = folder.join("events").join("header_page");
    let layout = Layout::parse(&text(&header, MOST_BYTES)?);
    let layout = layout.map_err(|what| Error::line(&header, 1, what))?;
    let mut readers: Vec<(u32, PathBuf, Box<dyn Read>)> = Vec::new();
    for (cpu, file) in cpus {
        let reader = freehold_trace::open(&file).map_err(Error::open(&file))?;
        readers.push((cpu, file, Box::new(reader)));
        let stats = folder::stats_file(folder, cpu);
        if let Some(text) = text_if_there(&stats, MOST_BYTES)? {
            let said = folder::lost_events(&text);
            let said =
                said.ok_or_else(|| Error::unfit(&stats, "it does not say how many events were lost"))?;
            let lost = meta.lost.entry(cpu).or_default();
            *lost = said.max(*lost);
        }
    }
    if readers.is_empty() {
        return Err(Error::unfit(folder, "neither cpuN.raw nor events.log: there are no events"));
    }
    // The folder describes what was recorded, and nothing else.
    let decoder = Decoder::new(meaning.has("sys_enter_mmap"));
    let raw = Raw::new(readers, layout, meaning, decoder)?;
    let events = if log.exists() {
        Events::new(Beside { raw, log: Log::open(&log)?, next: [None, None] })
    } else {
        Events::new(raw)
    };
    Ok(Recording { meta, snapshots, events })
}

fn snapshot(folder: &Path, moment: &str) -> Result<Snapshot, Error> {
    let mut snapshot = Snapshot::default();
    let areas = folder.join(format!("vmallocinfo.{moment}"));
    if areas.exists() {
        snapshot.areas = Some(vmallocinfo::read(Lines::open(&areas)?)?);
    }
    for (pid, file) in numbered(folder, "maps.", &format!(".{moment}"))? {
        snapshot.maps.insert(pid, maps::read(Lines::open(&file)?.lossy())?);
    }
    if let Some(text) = text_if_there(&folder.join(format!("percpu_stats.{moment}")), MOST_BYTES)? {
        snapshot.objects = percpu_stats::read(&text);
    }
    Ok(snapshot)
}

/// Reads `events/SYSTEM/EVENT/format` of all events that are there.
fn read_formats(events: &Path, meaning: &mut Meaning) -> Result<(), Error> {
    for system in listed(events)? {
        if !system.is_dir() {
            continue;
        }
        for event in listed(&system)? {
            let file = event.join("format");
            let Some(text) = text_if_there(&file, MOST_BYTES)? else { continue };
            let format = Format::parse(&text);
            let format = format.map_err(|(line, what)| Error::line(&file, line, what))?;
            if meaning.formats.len() >= MOST_EVENTS {
                return Err(Error::unfit(events, format!("more than {MOST_EVENTS} events")));
            }
            meaning.formats.insert(format.id, format);
        }
    }
    Ok(())
}

/// Files of a folder whose name is a number between these texts, by number.
fn numbered(folder: &Path, before: &str, after: &str) -> Result<Vec<(u32, PathBuf)>, Error> {
    let number = |file: PathBuf| {
        let name = file.file_name()?.to_str()?;
        let name = name.strip_suffix(".zst").unwrap_or(name);
        Some((name.strip_prefix(before)?.strip_suffix(after)?.parse().ok()?, file))
    };
    let mut files: Vec<_> = listed(folder)?.into_iter().filter_map(number).collect();
    files.sort();
    Ok(files)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let files: io::Result<Vec<_>> =
        fs::read_dir(folder).and_then(|files| files.map(|file| Ok(file?.path())).collect());
    let mut files = files.map_err(Error::open(folder))?;
    files.sort();
    Ok(files)
}

fn text(file: &Path, most: u64) -> Result<String, Error> {
    read_text(file, most).map_err(Error::open(file))
}

fn text_if_there(file: &Path, most: u64) -> Result<Option<String>, Error> {
    if file.exists() { text(file, most).map(Some) } else { Ok(None) }
}
