//! Records the kernel's events by an instance of tracefs that is ours alone.
//!
//! 1. An instance `freehold.PID` is made. Other tracing on the machine is not touched. Instances of processes that are gone are removed.
//! 2. Its clock is `mono`, that of `clock_gettime`, so the times of snapshots need no marks. It drops the newest events when it is full, so
//!    the start is never lost.
//! 3. For kva the kernel's pools of freed areas are emptied, so that all that is neither in the first snapshot nor freed lazily is free.
//! 4. Events are turned on, the first snapshot is taken, the workload runs, the last snapshot is taken, events are turned off. Of a command's
//!    mappings (vma) no event tells those that programs start with, and it has none after its end: it is stopped by [`super::ptrace`] where it
//!    makes a task, executes a program or ends, and at no other call.
//! 5. Buffers are emptied, counts of lost events are read, the instance is removed: at the end, on errors, and on signals.
//!
//! Cost: 0.1 to 0.2 microseconds of the workload for an event; 64 MiB for each CPU, at most a 16th of memory for all.
//!
//! Source: the kernel's documentation of ftrace and of the ring buffer's format.

use super::events::{self, PURGES, Wanted};
use super::failure::Failure;
use super::hands::Hands;
use super::machine::{Machine, online};
use super::ptrace::{Recorder, makers};
use super::readers::{Pipe, Readers};
use super::workload::Workload;
use super::{Recorded, write_meta};
use crate::event::{CLONE_THREAD, CLONE_VM, Event, What};
use crate::folder::{Meta, Origin, Pools, format_file, lost_events, maps_file, raw_file, stats_file};
use crate::log::{self, EVENTS_LOG};
use crate::raw::{Layout, Symbols};
use crate::recording::CALLS;
use freehold_harness::child::Child;
use freehold_harness::signals::{Signal, Signals};
use freehold_harness::threads::monotonic_ns;
use freehold_trace::Kind;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// KiB of a CPU's buffer, if memory allows; the part of memory that all buffers may take; and what a buffer has at least.
const BUFFER_KIB: u64 = 64 << 10;
const MEMORY_PART: u64 = 16;
const LEAST_BUFFER_KIB: u64 = 1 << 10;
/// How often the threads of a process are listed until none has come meanwhile, at most.
const MOST_LISTINGS: usize = 8;

/// What to record.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which events.
    pub kind: Kind,
    /// What runs meanwhile.
    pub workload: Workload,
    /// A process to record rather than a command (vma and mt).
    pub pid: Option<u32>,
    /// The kernel's pools of areas stay as they are (kva).
    pub keep_pools: bool,
    /// When purges begin and end is recorded, too (kva).
    pub purge_times: bool,
}

/// Records into a folder, which is there. Blocks until the workload ends or one of `signals` comes.
///
/// # Errors
/// The machine or this user lacks something, or a file cannot be read or written. What was changed is put back.
pub fn record(
    request: &Request,
    machine: &Machine,
    folder: &Path,
    signals: &Signals,
) -> Result<Recorded, Failure> {
    let mut session = Session::new(request, machine, folder, false)?;
    let held = Held::new(request, folder)?;
    let readers = session.set_up(held.pid())?;
    session.turn_on()?;
    let (ended, signal, foreign) = match held {
        Held::Traced(tasks) => {
            let followed = tasks.follow(signals, &session.meta.command)?;
            session.warnings.extend(followed.warnings);
            (followed.ended, followed.signal, followed.foreign)
        }
        Held::Child(child) => {
            let (ended, signal) = request.workload.run(child, signals)?;
            (ended, signal, 0)
        }
    };
    session.turn_off()?;
    session.finish(readers)?;
    // No event tells them.
    *session.meta.lost.entry(0).or_default() += foreign;
    session.hands.undo()?;
    write_meta(&session.meta, folder)?;
    Ok(Recorded {
        meta: session.meta.clone(),
        warnings: std::mem::take(&mut session.warnings),
        ended,
        signal: signal.map(Signal::name),
    })
}

/// What [`record`] would do to the machine, step by step. Does nothing.
///
/// # Errors
/// As [`record`], as far as it is known before.
pub fn plan(request: &Request, machine: &Machine) -> Result<Vec<String>, Failure> {
    let mut session = Session::new(request, machine, Path::new(""), true)?;
    for mounted in machine.mounted() {
        session.hands.planned(|| format!("mount   {mounted}, for this process alone"));
    }
    session.set_up(None)?;
    session.turn_on()?;
    session.hands.planned(|| format!("run     {}", session.meta.command));
    if request.kind == Kind::Vma && matches!(request.workload, Workload::Command(_)) {
        session.hands.planned(|| "stop    it where a task is made, executes a program or ends".to_owned());
    }
    session.turn_off()?;
    let hands = std::mem::replace(&mut session.hands, Hands::new(machine, true));
    let mut lines = hands.into_plan();
    lines.extend(session.warnings.iter().map(|warning| format!("note    {warning}")));
    Ok(lines)
}

/// A command that waits, if there is one.
enum Held<'a> {
    /// One whose tasks are followed.
    Traced(Box<Recorder<'a>>),
    Child(Option<Child>),
}

impl<'a> Held<'a> {
    fn new(request: &Request, folder: &'a Path) -> Result<Self, Failure> {
        match &request.workload {
            Workload::Command(command) if request.kind == Kind::Vma => {
                let makers: Vec<_> = makers().collect();
                let mut tasks = Recorder::hold(command, &makers, folder)?;
                tasks.begin()?;
                Ok(Self::Traced(Box::new(tasks)))
            }
            workload => workload.hold().map(Self::Child),
        }
    }

    fn pid(&self) -> Option<u32> {
        match self {
            Self::Traced(tasks) => Some(tasks.pid()),
            Self::Child(child) => child.as_ref().map(Child::pid),
        }
    }
}

/// A recording that is under way.
struct Session<'a> {
    request: &'a Request,
    hands: Hands<'a>,
    folder: &'a Path,
    instance: PathBuf,
    cpus: Vec<u32>,
    meta: Meta,
    warnings: Vec<String>,
}

impl<'a> Session<'a> {
    fn new(
        request: &'a Request,
        machine: &'a Machine,
        folder: &'a Path,
        only_plan: bool,
    ) -> Result<Self, Failure> {
        let follows = matches!(request.kind, Kind::Vma | Kind::Mt);
        let has_command = matches!(request.workload, Workload::Command(_));
        if follows && has_command == request.pid.is_some() {
            return Err(Failure::Usage("records either a command or a process (--pid)".to_owned()));
        }
        if !follows && request.pid.is_some() {
            return Err(Failure::Usage(
                "records the whole machine: most areas and objects are freed by other tasks than a process's own".to_owned(),
            ));
        }
        if follows {
            machine.check_pids()?;
        }
        let mut meta = machine.meta(request.kind, Origin::Tracefs);
        meta.command = match request.pid {
            Some(pid) => request.workload.name_of(&format!("process {pid}")),
            None => request.workload.name(),
        };
        meta.pid = request.pid;
        let instance = machine.tracefs(&format!("instances/freehold.{}", std::process::id()))?;
        let hands = Hands::new(machine, only_plan);
        Ok(Self { request, hands, folder, instance, cpus: online(), meta, warnings: Vec::new() })
    }

    /// Makes the instance, with all that is recorded turned off, and the threads that read it.
    fn set_up(&mut self, child: Option<u32>) -> Result<Option<Readers>, Failure> {
        let events = self.events()?;
        self.remove_left()?;
        self.hands.make_instance(&self.instance.clone())?;
        self.set("tracing_on", "0")?;
        self.set("trace_clock", "mono")?;
        self.set("options/overwrite", "0")?;
        self.set_buffer()?;
        if matches!(self.request.kind, Kind::Vma | Kind::Mt) {
            self.follow(child)?;
        }
        self.save_from(&self.instance.join("events/header_page"), "events/header_page")?;
        for event in &events {
            let folder = event.folder();
            if !event.filter.is_empty() {
                self.set(&format!("{folder}/filter"), &event.filter)?;
            }
            let format = self.hands.machine.tracefs(&format!("{folder}/format"))?;
            let to = format_file(self.folder, event.system, &event.name);
            self.hands.save(&format, &to)?;
            self.set(&format!("{folder}/enable"), "1")?;
        }
        if self
            .hands
            .planned(|| "read    per_cpu/cpuN/trace_pipe_raw of the instance, as long as it lasts".to_owned())
        {
            return Ok(None);
        }
        let pipe = |&cpu: &u32| {
            let from = self.instance.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            Pipe { cpu, shown: self.hands.machine.shown(&from), from, to: raw_file(self.folder, cpu) }
        };
        let pipes = self.cpus.iter().map(pipe).collect();
        Ok(Some(Readers::start(pipes, self.sub_buffer()?)?))
    }

    /// Empties the pools, turns events on, takes the first snapshot.
    fn turn_on(&mut self) -> Result<(), Failure> {
        if self.request.kind == Kind::Kva && !self.request.keep_pools {
            // Runs the shrinkers, that of the pools among them. Caches of names and inodes go, too.
            self.hands.write(&self.hands.machine.proc("sys/vm/drop_caches"), "2")?;
            self.meta.pools = Pools::Drained;
        }
        self.set("tracing_on", "1")?;
        self.meta.start_ns = monotonic_ns()?;
        let process = self.request.pid.filter(|_| self.request.kind == Kind::Vma && !self.hands.only_plan());
        process.map_or(Ok(()), |pid| self.tell_threads(pid))?;
        self.meta.snapshot_start = self.snapshot(false)?;
        Ok(())
    }

    /// Takes the last snapshot, turns events off.
    fn turn_off(&mut self) -> Result<(), Failure> {
        self.meta.snapshot_end = self.snapshot(true)?;
        self.meta.end_ns = monotonic_ns()?;
        self.set("tracing_on", "0")
    }

    /// Waits for the readers, and saves what is known of events only at the end.
    fn finish(&mut self, readers: Option<Readers>) -> Result<(), Failure> {
        readers.map_or(Ok(()), Readers::stop)?;
        for cpu in self.cpus.clone() {
            let (from, to) =
                (self.instance.join(format!("per_cpu/cpu{cpu}/stats")), stats_file(self.folder, cpu));
            self.hands.save(&from, &to)?;
            let text = fs::read_to_string(&to).map_err(Failure::file(&to, "read"))?;
            let lost = lost_events(&text).ok_or_else(|| {
                let from = self.hands.machine.shown(&from);
                Failure::Lacking(format!("{} does not say how many events were lost", from.display()))
            })?;
            self.meta.lost.insert(cpu, lost);
        }
        self.save_from(&self.hands.machine.tracefs("saved_cmdlines")?, "saved_cmdlines")?;
        if self.request.kind == Kind::Pcpu || self.request.purge_times {
            self.save_from(&self.hands.machine.proc("kallsyms"), "kallsyms")?;
        }
        if online() != self.cpus {
            self.warnings.push("CPUs went on or off: events of those that came are missing".to_owned());
        }
        Ok(())
    }

    /// The events to record, as far as the kernel has them.
    fn events(&mut self) -> Result<Vec<Wanted>, Failure> {
        let purges = if self.request.purge_times { self.purges()? } else { Vec::new() };
        let mut events = Vec::new();
        for event in events::of(self.request.kind, &purges) {
            let name = format!("{}:{}", event.system, event.name);
            if self.hands.machine.tracefs(&event.folder())?.exists() {
                events.push(event);
            } else if let Some(since) = event.needed {
                let release = &self.meta.release;
                return Err(Failure::Lacking(format!(
                    "the event {name} is missing: Linux has it from {since} on, this is {release}"
                )));
            } else if event.system != CALLS {
                self.warnings.push(format!("the event {name} is missing"));
            }
        }
        Ok(events)
    }

    /// The addresses of the kernel's functions that purge areas.
    fn purges(&mut self) -> Result<Vec<u64>, Failure> {
        let file = self.hands.machine.proc("kallsyms");
        let symbols = fs::read_to_string(&file).map_err(Failure::file(&file, "read"))?;
        let purges = Symbols::parse(&symbols).addresses(&PURGES);
        if purges.is_empty() {
            self.warnings.push("kallsyms does not tell where purges are: their times are missing".to_owned());
        }
        Ok(purges)
    }

    /// Removes instances whose processes are gone.
    fn remove_left(&mut self) -> Result<(), Failure> {
        let folder = self.hands.machine.tracefs("instances")?;
        let entries = fs::read_dir(&folder).map_err(|reason| {
            let folder = self.hands.machine.shown(&folder);
            Failure::Lacking(format!("{} cannot be read ({reason}): run as root", folder.display()))
        })?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.strip_prefix("freehold.")) else { continue };
            // One of this process's own number was left by an earlier one.
            let is_gone = entry.path() == self.instance || !self.hands.machine.proc(pid).exists();
            if is_gone && pid.parse::<u32>().is_ok() {
                self.hands.remove_instance(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Has only the tasks of a process recorded, and those that they make.
    fn follow(&mut self, child: Option<u32>) -> Result<(), Failure> {
        self.set("options/event-fork", "1")?;
        let command = match (self.request.pid, child) {
            (Some(pid), _) => return self.follow_process(pid),
            (None, Some(child)) => {
                self.meta.pid = Some(child);
                child.to_string()
            }
            (None, None) => "the command's".to_owned(),
        };
        self.set("set_event_pid", &command)
    }

    /// The same for all threads of a process that runs: those that come meanwhile, too.
    fn follow_process(&mut self, pid: u32) -> Result<(), Failure> {
        let mut tasks = self.tasks_of(pid)?;
        for _ in 0..MOST_LISTINGS {
            let numbers: Vec<_> = tasks.iter().map(u32::to_string).collect();
            self.set("set_event_pid", &numbers.join(" "))?;
            let before = std::mem::replace(&mut tasks, self.tasks_of(pid)?);
            if before == tasks {
                break;
            }
        }
        Ok(())
    }

    /// The numbers of a process's threads.
    fn tasks_of(&self, pid: u32) -> Result<Vec<u32>, Failure> {
        let folder = self.hands.machine.proc(&format!("{pid}/task"));
        let entries = fs::read_dir(&folder).map_err(|reason| match reason.kind() {
            ErrorKind::NotFound => Failure::Usage(format!("there is no process {pid}")),
            _ => Failure::file(&folder, "read")(reason),
        })?;
        Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
    }

    /// Tells beside the events which threads a process has: no event says of these that they share its mappings.
    fn tell_threads(&self, pid: u32) -> Result<(), Failure> {
        let (file, mut text) = (self.folder.join(EVENTS_LOG), Vec::new());
        for child in self.tasks_of(pid)?.into_iter().filter(|&task| task != pid) {
            let what = What::Thread { child, flags: CLONE_VM | CLONE_THREAD };
            let event = Event { at: 0, cpu: 0, tid: pid, comm: None, what };
            log::write(&mut text, &event).map_err(Failure::file(&file, "written"))?;
        }
        fs::write(&file, text).map_err(Failure::file(&file, "written"))
    }

    /// Makes the buffers as large as they should be, or as there is memory for.
    fn set_buffer(&mut self) -> Result<(), Failure> {
        let memory = self.hands.machine.memory_kib().map(|kib| kib / MEMORY_PART / self.cpus.len() as u64);
        let mut kib = memory.map_or(BUFFER_KIB, |most| most.clamp(LEAST_BUFFER_KIB, BUFFER_KIB));
        loop {
            match self.set("buffer_size_kb", &kib.to_string()) {
                Err(Failure::File { reason, .. })
                    if reason.raw_os_error() == Some(libc::ENOMEM) && kib / 2 >= LEAST_BUFFER_KIB =>
                {
                    kib /= 2;
                }
                set => break set?,
            }
        }
        if kib < BUFFER_KIB {
            self.warnings
                .push(format!("buffers have {kib} KiB a CPU, for want of memory: bursts may be lost"));
        }
        Ok(())
    }

    /// Bytes of a sub-buffer, as the kernel describes it.
    fn sub_buffer(&self) -> Result<usize, Failure> {
        let file = self.folder.join("events/header_page");
        let text = fs::read_to_string(&file).map_err(Failure::file(&file, "read"))?;
        let layout = Layout::parse(&text);
        layout
            .map(|layout| layout.size)
            .map_err(|what| Failure::Lacking(format!("{}: {what}", file.display())))
    }

    /// What the kernel says of itself; the moments before and after.
    fn snapshot(&mut self, at_end: bool) -> Result<Option<(u64, u64)>, Failure> {
        let when = if at_end { "end" } else { "start" };
        let machine = self.hands.machine;
        match self.request.kind {
            Kind::Kva => {
                let to = self.folder.join(format!("vmallocinfo.{when}"));
                // Root sees addresses if this is 1, and hashes if it is 0.
                let (restrict, areas) =
                    (machine.proc("sys/kernel/kptr_restrict"), machine.proc("vmallocinfo"));
                self.hands.write_during(&restrict, "1", |hands| saved(hands, &areas, &to)).map(Some)
            }
            Kind::Pcpu => match machine.percpu_stats() {
                Some(stats) => {
                    saved(&mut self.hands, &stats, &self.folder.join(format!("percpu_stats.{when}")))
                        .map(Some)
                }
                None => {
                    if !at_end {
                        let what = "the kernel has no percpu_stats (CONFIG_PERCPU_STATS): whether all frees were seen is not known";
                        self.warnings.push(what.to_owned());
                    }
                    Ok(None)
                }
            },
            Kind::Vma => {
                let Some(pid) = self.request.pid else { return Ok(None) };
                let maps = machine.proc(&format!("{pid}/maps"));
                if at_end && !maps.exists() {
                    self.warnings.push(format!("process {pid} has ended: its last mappings are not known"));
                    return Ok(None);
                }
                saved(&mut self.hands, &maps, &maps_file(self.folder, pid, at_end)).map(Some)
            }
            Kind::Mt => Ok(None),
        }
    }

    /// Writes to a file of the instance.
    fn set(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        self.hands.write(&self.instance.join(name), text)
    }

    fn save_from(&mut self, file: &Path, name: &str) -> Result<(), Failure> {
        self.hands.save(file, &self.folder.join(name))
    }
}

/// Saves a file of the kernel: the moments before and after.
fn saved(hands: &mut Hands<'_>, file: &Path, to: &Path) -> Result<(u64, u64), Failure> {
    let before = monotonic_ns()?;
    hands.save(file, to)?;
    Ok((before, monotonic_ns()?))
}
