//! A recording that was opened: what is known of it, and its events in order of time.

use crate::Error;
use crate::event::Event;
use crate::folder::{self, Meta};
use crate::log::{EVENTS_LOG, Log};
use crate::raw::{Format, Layout, MOST_BYTES, Meaning, Raw, Symbols};
use crate::snapshot::{Snapshot, Snapshots};
use crate::source::{Events, Source};
use crate::text::{maps, percpu_stats, vmallocinfo};
use freehold_trace::{Kind, Lines, read_text};
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
    /// Whether `meta` says which kind it is; else the events do.
    pub(crate) has_kind: bool,
    pub(crate) snapshots: Snapshots,
    pub(crate) events: Events,
}

/// Events that a kind of recording cannot do without, and the first kernel that has them.
pub(crate) const NEEDED: [(Kind, &str, &str, &str); 7] = [
    (Kind::Kva, "alloc_vmap_area", "vmalloc:alloc_vmap_area", "6.2"),
    (Kind::Kva, "free_vmap_area_noflush", "vmalloc:free_vmap_area_noflush", "6.2"),
    (Kind::Pcpu, "percpu_alloc_percpu", "percpu:percpu_alloc_percpu", "4.14"),
    (Kind::Pcpu, "percpu_free_percpu", "percpu:percpu_free_percpu", "4.14"),
    (Kind::Mt, "ma_write", "maple_tree:ma_write", "6.1"),
    (Kind::Vma, "sys_enter_mmap", "syscalls:sys_enter_mmap", "2.6.33 (built with FTRACE_SYSCALLS)"),
    (Kind::Vma, "sys_exit_mmap", "syscalls:sys_exit_mmap", "2.6.33 (built with FTRACE_SYSCALLS)"),
];

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
        return Ok(Recording {
            meta,
            has_kind: true,
            snapshots,
            events: Events::new(Log(Lines::open(&log)?)),
        });
    }
    let mut meaning = Meaning::default();
    read_formats(&folder.join("events"), &mut meaning)?;
    for (kind, name, event, since) in NEEDED {
        if kind == meta.kind && !meaning.has(name) {
            let (file, release) = (folder.to_owned(), meta.release.clone());
            return Err(Error::MissingEvent { file, event, since, release });
        }
    }
    if let Some(text) = text_if_there(&folder.join("kallsyms"), MOST_SYMBOLS)? {
        meaning.symbols = Symbols::parse(&text);
    }
    if let Some(text) = text_if_there(&folder.join("saved_cmdlines"), MOST_SYMBOLS)? {
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
    let raw = Raw::new(readers, layout, meaning)?;
    let events = if log.exists() {
        Events::new(Beside { raw, log: Log(Lines::open(&log)?), next: [None, None] })
    } else {
        Events::new(raw)
    };
    Ok(Recording { meta, has_kind: true, snapshots, events })
}

fn snapshot(folder: &Path, moment: &str) -> Result<Snapshot, Error> {
    let mut snapshot = Snapshot::default();
    let areas = folder.join(format!("vmallocinfo.{moment}"));
    if areas.exists() {
        snapshot.areas = Some(vmallocinfo::read(Lines::open(&areas)?)?);
    }
    for (pid, file) in numbered(folder, "maps.", &format!(".{moment}"))? {
        snapshot.maps.insert(pid, maps::read(Lines::open(&file)?)?);
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
