//! Records the calls of a command, and of all that it makes, by ptrace: without root, lossless, in order.
//!
//! A filter in the command stops it at calls that change mappings, and at those that make tasks; no other call stops. Mappings that the
//! kernel makes when it executes a program are read from `/proc/PID/maps`, and so are the last ones of each process that no signal ends. It ends when
//! everything has ended that the command made.
//!
//! A recording of tracefs has its tasks followed in the same way, without a stop at the calls that its events tell.
//!
//! Not recorded: calls of 32-bit programs, which are counted as lost; growth of stacks.
//!
//! Cost: some 20 microseconds of the command for a call that is recorded, nothing for others; a line of the file each.

use super::failure::Failure;
use super::machine::Machine;
use super::passing::{self, Progress};
use super::tasks::{Left, Tasks};
use super::workload::Workload;
use super::{Recorded, write_meta};
use crate::event::{CLONE_THREAD, CLONE_VM, Call, Event, File, What};
use crate::folder::{Origin, maps_file};
use crate::log::{self, EVENTS_LOG};
use crate::text::maps;
use freehold_harness::child::Ended;
use freehold_harness::ptrace::{Event as Stopped, Tracer, Until};
use freehold_harness::signals::{Signal, Signals};
use freehold_harness::threads::monotonic_ns;
use freehold_trace::Kind;
use std::ffi::OsString;
use std::fs;
use std::io::{BufWriter, Write};
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

/// What `fork` asks of `clone`, and what `vfork` asks beside sharing the address space: that the maker waits. Other architectures have
/// neither call.
#[cfg(target_arch = "x86_64")]
const SIGCHLD: u64 = 17;
#[cfg(target_arch = "x86_64")]
const CLONE_VFORK: u64 = 0x4000;
/// `MAP_ANONYMOUS`.
const ANONYMOUS: u64 = 0x20;
/// Advices that cannot change mappings, as in the filter of tracefs.
const OTHER_ADVICES: std::ops::Range<u64> = 3..10;
/// `SYS_mseal`, the same on all architectures.
const SYS_MSEAL: libc::c_long = 462;

/// The number of a call.
fn number(call: Call) -> libc::c_long {
    match call {
        Call::Mmap => libc::SYS_mmap,
        Call::Munmap => libc::SYS_munmap,
        Call::Mprotect => libc::SYS_mprotect,
        Call::Mremap => libc::SYS_mremap,
        Call::Brk => libc::SYS_brk,
        Call::Madvise => libc::SYS_madvise,
        Call::ProcessMadvise => libc::SYS_process_madvise,
        Call::Shmat => libc::SYS_shmat,
        Call::Shmdt => libc::SYS_shmdt,
        Call::RemapFilePages => libc::SYS_remap_file_pages,
        Call::Mseal => SYS_MSEAL,
    }
}

/// The calls that make tasks, with the kind of task where no argument tells it.
const MAKERS: &[(libc::c_long, Option<u64>)] = &[
    (libc::SYS_clone, None),
    (libc::SYS_clone3, None),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_fork, Some(SIGCHLD)),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_vfork, Some(CLONE_VM | CLONE_VFORK | SIGCHLD)),
];

/// What a command does to its mappings is recorded into a folder, which is there. Blocks until the command and all that it made have
/// ended. The first of `signals` goes to the command; a second one kills it and all that it made.
///
/// # Errors
/// This user or a container may not trace its own children, the command cannot be run, or a file cannot be written.
pub fn record(command: &[OsString], folder: &Path, signals: &Signals) -> Result<Recorded, Failure> {
    let machine = Machine::here();
    let mut meta = machine.meta(Kind::Vma, Origin::Ptrace);
    meta.command = Workload::Command(command.to_vec()).name();
    meta.start_ns = monotonic_ns()?;
    let recorder = Recorder::hold(command, &watched(), folder)?;
    meta.pid = Some(recorder.pid());
    let followed = recorder.follow(signals, &meta.command)?;
    meta.end_ns = monotonic_ns()?;
    meta.lost.insert(0, followed.foreign);
    write_meta(&meta, folder)?;
    let (warnings, ended) = (followed.warnings, followed.ended);
    Ok(Recorded { warnings, meta, ended, signal: followed.signal.map(Signal::name) })
}

/// What [`record`] would do.
#[must_use]
pub fn plan(command: &[OsString]) -> Vec<String> {
    let names: Vec<_> = Call::ALL.iter().map(|call| call.name()).collect();
    vec![
        format!("trace   {} and all that it makes", Workload::Command(command.to_vec()).name()),
        format!("stop    at {}", names.join(", ")),
        "stop    where a task is made, executes a program or ends".to_owned(),
        "read    /proc/PID/maps of each, after it has executed a program and before it ends".to_owned(),
        "nothing of the machine is changed".to_owned(),
    ]
}

/// The numbers of all calls that stop.
fn watched() -> Vec<libc::c_long> {
    Call::ALL.iter().map(|call| number(*call)).chain(makers()).collect()
}

/// The numbers of those that make tasks.
pub(super) fn makers() -> impl Iterator<Item = libc::c_long> {
    MAKERS.iter().map(|(number, _)| *number)
}

/// What became of a command whose tasks were followed.
pub(super) struct Followed {
    pub(super) warnings: Vec<String>,
    pub(super) ended: Option<Ended>,
    pub(super) signal: Option<Signal>,
    /// Calls of other architectures.
    pub(super) foreign: u64,
}

/// A call that is done.
#[derive(Debug)]
enum Pending {
    /// One that is recorded.
    Known(Call, [u64; 6], File),
    /// One that copies the address space.
    Copy,
}

/// What could not be recorded.
#[derive(Default)]
struct Missed {
    /// Calls of other architectures.
    foreign: u64,
    /// Tasks whose makers were killed before they could say so.
    unknown: u64,
    /// Programs whose first mappings could not be read.
    unread: u64,
    /// Calls whose tasks ended before they returned.
    cut_off: u64,
}

impl Missed {
    /// A sentence each.
    fn warnings(&self) -> Vec<String> {
        let Self { foreign, unknown, unread, cut_off } = self;
        let told = [
            (foreign, format!("{foreign} calls of 32-bit programs were not recorded")),
            (unknown, format!("{unknown} tasks came from makers that were killed meanwhile")),
            (
                unread,
                format!("/proc/PID/maps could not be read, times: {unread}; first mappings are missing"),
            ),
            (cut_off, format!("{cut_off} calls are missing: their tasks were killed before they returned")),
        ];
        told.into_iter().filter(|(count, _)| **count > 0).map(|(_, what)| what).collect()
    }
}

/// What records.
pub(super) struct Recorder<'a> {
    tracer: Tracer,
    tasks: Tasks<Pending>,
    folder: &'a Path,
    file: PathBuf,
    out: BufWriter<fs::File>,
    missed: Missed,
    ended: Option<Ended>,
    progress: Arc<Progress>,
}

impl<'a> Recorder<'a> {
    /// A command that waits; it will stop at these calls.
    pub(super) fn hold(
        command: &[OsString],
        calls: &[libc::c_long],
        folder: &'a Path,
    ) -> Result<Self, Failure> {
        let tracer = Tracer::hold(command, calls).map_err(|error| match error.call {
            "ptrace" => Failure::Lacking(format!(
                "a child cannot be traced here ({error}): allow ptrace, by kernel.yama.ptrace_scope or the container's seccomp profile, \
                 and have no other tracer around it, such as strace"
            )),
            _ => error.into(),
        })?;
        let file = folder.join(EVENTS_LOG);
        let out = fs::File::create(&file).map_err(Failure::file(&file, "written"))?;
        let (tasks, out, progress) = (Tasks::new(), BufWriter::new(out), Arc::default());
        let missed = Missed::default();
        Ok(Self { tracer, tasks, folder, file, out, missed, ended: None, progress })
    }

    /// Tells that the first process is there, before what other sources tell of it.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        self.write(self.pid(), What::Exec, true)
    }

    pub(super) fn pid(&self) -> u32 {
        self.tracer.pid()
    }

    /// Runs the command, which is called so, until all that it made has ended. Signals go to it.
    pub(super) fn follow(mut self, signals: &Signals, command: &str) -> Result<Followed, Failure> {
        self.tracer.release();
        let (pid, living, progress) = (self.pid(), self.tasks.living(), Arc::clone(&self.progress));
        let (recorder, signal) = thread::scope(|scope| {
            let passing = scope.spawn(|| passing::pass_on(signals, pid, &living, &progress));
            let recorder = self.run();
            progress.over();
            (recorder, passing.join().unwrap_or(Ok(None)))
        });
        let mut recorder = recorder?;
        recorder.tracer.executed().map_err(Failure::command(command))?;
        let (missed, ended) = (recorder.missed, recorder.ended);
        Ok(Followed { warnings: missed.warnings(), ended, signal: signal?, foreign: missed.foreign })
    }

    fn run(mut self) -> Result<Self, Failure> {
        let pid = self.tracer.pid();
        self.tasks.add(pid, pid);
        while let Some(stop) = self.tracer.next()? {
            let task = stop.task;
            if self.tasks.get(task).is_none() && !matches!(stop.event, Stopped::Gone(_)) {
                self.missed.unknown += 1;
                self.tasks.add(task, task);
                self.write_maps(task)?;
            }
            match stop.event {
                Stopped::Call { is_foreign: true, .. } => {
                    self.missed.foreign += 1;
                    self.tracer.resume(task, Until::Next);
                }
                Stopped::Call { number, args, .. } => self.called(task, number, args),
                Stopped::Return(value) => self.returned(task, value)?,
                Stopped::Made(child) => self.made(task, child)?,
                Stopped::Executed { before } => self.executed(task, before)?,
                Stopped::Exiting(how) => self.exiting(task, how)?,
                Stopped::Gone(how) => {
                    if task == pid {
                        self.ended = Some(how);
                    }
                    self.tell_exit(task)?;
                    self.left(task, None)?;
                    self.tasks.remove(task);
                }
            }
        }
        self.out.flush().map_err(Failure::file(&self.file, "written"))?;
        Ok(self)
    }

    /// A task is about to do a call.
    fn called(&mut self, task: u32, called: libc::c_long, args: [u64; 6]) {
        let known = Call::ALL.iter().copied().find(|call| number(*call) == called);
        let pending = match known {
            Some(Call::Madvise) if OTHER_ADVICES.contains(&args[2]) => None,
            Some(call) => Some(Pending::Known(call, args, file_of(task, call, args))),
            None => {
                let told = MAKERS.iter().find(|(number, _)| *number == called).and_then(|(_, flags)| *flags);
                let flags = told.unwrap_or_else(|| match called {
                    // The first field of what the argument points to. If it is not readable, nothing is made.
                    libc::SYS_clone3 => self.tracer.read_word(task, args[0]).unwrap_or(0),
                    _ => args[0],
                });
                if let Some(task) = self.tasks.get(task) {
                    task.making = flags;
                }
                // Its maker may wait for one that shares its space, so it may not hold that one up.
                (flags & CLONE_VM == 0).then_some(Pending::Copy)
            }
        };
        match pending {
            None => self.tracer.resume(task, Until::Next),
            Some(pending) => {
                if self.tasks.begin(task, pending) {
                    self.tracer.resume(task, Until::Return);
                }
            }
        }
    }

    /// A call was done.
    fn returned(&mut self, task: u32, ret: i64) -> Result<(), Failure> {
        let (pending, next) = self.tasks.end(task);
        if let Some(Pending::Known(call, args, file)) = pending {
            self.write(task, What::Call { call, args, ret, file }, false)?;
        }
        self.tracer.resume(task, Until::Next);
        self.go_on(next);
        Ok(())
    }

    /// A task has made another one.
    fn made(&mut self, task: u32, child: u32) -> Result<(), Failure> {
        let Some(maker) = self.tasks.get(task) else { return Ok(()) };
        let (flags, process) = (maker.making, maker.process);
        let is_in_call = maker.call.is_some();
        let process = if flags & CLONE_THREAD == 0 { child } else { process };
        if flags & CLONE_VM == 0 {
            self.tasks.add(child, process);
        } else {
            self.tasks.add_sharing(child, process, task);
        }
        self.write(task, What::made(child, flags), true)?;
        self.tracer.resume(task, if is_in_call { Until::Return } else { Until::Next });
        Ok(())
    }

    /// A task executes another program, in a new address space.
    fn executed(&mut self, task: u32, before: u32) -> Result<(), Failure> {
        let process = self.tasks.get(task).map_or(task, |task| task.process);
        // The process's other threads are gone. The last one was the one that had another number before.
        for other in self.tasks.others(process, task) {
            self.tell_exit(other)?;
            self.left(other, None)?;
            self.tasks.remove(other);
        }
        debug_assert!(before == task || self.tasks.get(before).is_none(), "it was one of them");
        if let Some(Left::Others(next)) = self.tasks.leave(task) {
            self.go_on(next);
        }
        self.tasks.add(task, process);
        self.progress.executed();
        self.write(task, What::Exec, true)?;
        self.write_maps(task)?;
        self.tracer.resume(task, Until::Next);
        Ok(())
    }

    /// A task is about to end.
    fn exiting(&mut self, task: u32, how: Ended) -> Result<(), Failure> {
        self.missed.cut_off += u64::from(matches!(self.tasks.call_of(task), Some(Pending::Known(..))));
        let process = self.tasks.get(task).map(|task| task.process);
        // The first thread is there until the others are gone, and another one may execute a program as it.
        if process != Some(task) || !self.tasks.has_others(task, task) {
            self.tell_exit(task)?;
        }
        // A signal may end it in the middle of executing a program, when its mappings are neither the old ones nor the new.
        self.left(task, process.filter(|_| matches!(how, Ended::Code(_))))?;
        self.tracer.resume(task, Until::Next);
        Ok(())
    }

    /// Writes that a task ends, once.
    fn tell_exit(&mut self, task: u32) -> Result<(), Failure> {
        match self.tasks.get(task).map(|task| std::mem::replace(&mut task.is_told, true)) {
            Some(false) => self.write(task, What::Exit, true),
            _ => Ok(()),
        }
    }

    /// A task leaves its address space. The mappings are saved if it was the last one, for this process.
    fn left(&mut self, task: u32, process: Option<u32>) -> Result<(), Failure> {
        match (self.tasks.leave(task), process) {
            (Some(Left::Others(next)), _) => self.go_on(next),
            (Some(Left::Last), Some(process)) => {
                let to = maps_file(self.folder, process, true);
                // A task that was killed may have none any more.
                if let Ok(maps) = fs::read(format!("/proc/{task}/maps")) {
                    fs::write(&to, maps).map_err(Failure::file(&to, "written"))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Lets a task do the call that it waits for.
    fn go_on(&self, next: Option<u32>) {
        if let Some(next) = next {
            self.tracer.resume(next, Until::Return);
        }
    }

    /// Writes the mappings of a task.
    fn write_maps(&mut self, task: u32) -> Result<(), Failure> {
        let maps = fs::read(format!("/proc/{task}/maps")).unwrap_or_default();
        self.missed.unread += u64::from(maps.is_empty());
        // The kernel shows a page of its own to all processes, which is none of theirs.
        let maps = String::from_utf8_lossy(&maps);
        for mapping in maps.lines().filter(|line| !line.ends_with("[vsyscall]")).filter_map(maps::line) {
            self.write(task, What::KernelMapping(mapping), false)?;
        }
        Ok(())
    }

    fn write(&mut self, task: u32, what: What, is_named: bool) -> Result<(), Failure> {
        let name = || fs::read(format!("/proc/{task}/comm")).ok();
        let comm =
            is_named.then(name).flatten().map(|name| Rc::from(String::from_utf8_lossy(&name).trim_end()));
        // Which CPU it was on is not told.
        let event = Event { at: monotonic_ns()?, cpu: 0, tid: task, comm, what };
        log::write(&mut self.out, &event).map_err(Failure::file(&self.file, "written"))
    }
}

/// What an `mmap` is going to map.
fn file_of(task: u32, call: Call, args: [u64; 6]) -> File {
    if call != Call::Mmap || args[3] & ANONYMOUS != 0 {
        return File::Anonymous;
    }
    // The kernel reads the lower half of the register.
    let descriptor = args[4] as i32;
    match fs::metadata(format!("/proc/{task}/fd/{descriptor}")) {
        Ok(file) => File::Known { dev: device(file.st_dev()), inode: file.st_ino() },
        Err(_) => File::Unknown,
    }
}

/// A device's number as recordings have it, from that of `stat`.
fn device(dev: u64) -> u64 {
    let major = (dev >> 32) & 0xffff_f000 | (dev >> 8) & 0xfff;
    let minor = (dev >> 12) & 0xffff_ff00 | dev & 0xff;
    major << 32 | minor
}
