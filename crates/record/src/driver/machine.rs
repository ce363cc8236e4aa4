//! Where the kernel's files are, and what they say of the machine.

use super::failure::Failure;
use crate::folder::{Meta, Origin};
use freehold_harness::mounts::Mount;
use freehold_sys::{machine, page_bytes, topology};
use freehold_trace::Kind;
use std::fs;
use std::path::{Path, PathBuf};

/// Where `/proc/self/ns/pid` leads outside of all containers: `PID_NS_INIT_INO` of Linux's user interface.
const FIRST_PIDS: &str = "pid:[4026531836]";

/// The kernel's files.
#[derive(Debug)]
pub struct Machine {
    /// tracefs, if it was looked for.
    tracefs: Option<PathBuf>,
    proc: PathBuf,
    debugfs: Option<PathBuf>,
    /// What an instance is made of, where no kernel makes it.
    pub(crate) template: Option<PathBuf>,
    /// They end with this.
    _mounts: Vec<Mount>,
}

impl Machine {
    /// This one, without tracefs: what a recording by ptrace needs.
    #[must_use]
    pub fn here() -> Self {
        Self {
            tracefs: None,
            proc: PathBuf::from("/proc"),
            debugfs: None,
            template: None,
            _mounts: Vec::new(),
        }
    }

    /// This one, with tracefs: where it is mounted, else mounted for this process alone.
    ///
    /// # Errors
    /// `Lacking`: this user may not use it, or the kernel has none.
    pub fn with_tracefs() -> Result<Self, Failure> {
        let mut machine = Self::here();
        match machine::tracefs() {
            Some(mounted) => machine.tracefs = Some(PathBuf::from(mounted)),
            None => {
                let mount = Mount::new(c"tracefs").map_err(|error| {
                    Failure::Lacking(format!(
                        "tracefs is not mounted or not for this user, and cannot be mounted ({error}): run as root"
                    ))
                })?;
                machine.tracefs = Some(mount.path());
                machine._mounts.push(mount);
            }
        }
        let debugfs = Path::new("/sys/kernel/debug");
        if debugfs.join("percpu_stats").exists() {
            machine.debugfs = Some(debugfs.to_owned());
        } else if let Ok(mount) = Mount::new(c"debugfs") {
            machine.debugfs = Some(mount.path());
            machine._mounts.push(mount);
        }
        Ok(machine)
    }

    /// A folder of plain files, for tests: the files of tracefs, `proc` and `debug` for what else is used, and `instance` for what the
    /// kernel makes in a new instance. An instance gets links to these, so that they show what was written to it.
    #[must_use]
    pub fn folder(folder: &Path) -> Self {
        Self {
            tracefs: Some(folder.to_owned()),
            proc: folder.join("proc"),
            debugfs: Some(folder.join("debug")),
            template: Some(folder.join("instance")),
            _mounts: Vec::new(),
        }
    }

    /// A file of tracefs.
    pub(crate) fn tracefs(&self, name: &str) -> Result<PathBuf, Failure> {
        let tracefs = self.tracefs.as_ref();
        let tracefs = tracefs.ok_or_else(|| Failure::Usage("this recording has no tracefs".to_owned()))?;
        Ok(tracefs.join(name))
    }

    /// A file by the name that people know it by: a mount of ours has none.
    pub(crate) fn shown(&self, file: &Path) -> PathBuf {
        let known = [(&self.tracefs, "/sys/kernel/tracing"), (&self.debugfs, "/sys/kernel/debug")];
        let shown = known.into_iter().find_map(|(mounted, usual)| {
            let mounted = mounted.as_ref().filter(|mounted| is_ours(mounted))?;
            Some(Path::new(usual).join(file.strip_prefix(mounted).ok()?))
        });
        shown.unwrap_or_else(|| file.to_owned())
    }

    /// What is mounted for this process alone.
    pub(crate) fn mounted(&self) -> impl Iterator<Item = &'static str> {
        let mounts = [("tracefs", &self.tracefs), ("debugfs", &self.debugfs)];
        mounts.into_iter().filter(|(_, place)| place.as_deref().is_some_and(is_ours)).map(|(name, _)| name)
    }

    /// A file of `/proc`.
    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        self.proc.join(name)
    }

    /// That tasks have the same numbers for this process as in the kernel's events.
    ///
    /// # Errors
    /// It is in a PID namespace: the events of other tasks would be recorded.
    pub(crate) fn check_pids(&self) -> Result<(), Failure> {
        if fs::read_link(self.proc("self/ns/pid")).is_ok_and(|pids| pids != Path::new(FIRST_PIDS)) {
            let what = "the kernel's events number tasks in another way than this PID namespace: run outside of the container";
            return Err(Failure::Lacking(what.to_owned()));
        }
        Ok(())
    }

    /// The statistics of per-CPU memory, if the kernel has them.
    pub(crate) fn percpu_stats(&self) -> Option<PathBuf> {
        self.debugfs.as_ref().map(|debugfs| debugfs.join("percpu_stats")).filter(|file| file.exists())
    }

    /// The text of a file of `/proc`, without white space around it.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.proc(name)).ok().map(|text| text.trim().to_owned())
    }

    /// KiB of a figure of `meminfo`.
    pub(crate) fn memory_kib(&self) -> Option<u64> {
        let meminfo = self.text("meminfo")?;
        let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    }

    /// What is known of the machine before anything is recorded.
    pub(crate) fn meta(&self, kind: Kind, source: Origin) -> Meta {
        let mut meta = Meta::unknown(source);
        meta.kind = Some(kind);
        let release = self.text("sys/kernel/osrelease");
        meta.release = release.unwrap_or(meta.release);
        meta.arch = self.text("sys/kernel/arch").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
        meta.page_bytes = page_bytes() as u64;
        meta.possible = topology::possible_cpus();
        meta.online = online().len() as u32;
        meta.cmdline = self.text("cmdline").unwrap_or_default();
        if kind == Kind::Vma {
            let number = |name: &str| self.text(name)?.parse().ok();
            meta.overcommit = number("sys/vm/overcommit_memory");
            meta.mmap_min_addr = number("sys/vm/mmap_min_addr");
            meta.stack_limit = self.text("self/limits").and_then(|limits| stack_limit(&limits));
        }
        meta
    }
}

/// Whether a mount is of this process alone.
fn is_ours(mounted: &Path) -> bool {
    mounted.starts_with("/proc/self/fd")
}

/// The CPUs that are running; the first one if the kernel does not say.
pub(crate) fn online() -> Vec<u32> {
    topology::online_cpus().filter(|cpus| !cpus.is_empty()).unwrap_or_else(|| vec![0])
}

/// The soft limit of stacks in bytes, from `/proc/self/limits`; `None` if there is none.
fn stack_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max stack size"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let text = "Limit   Soft Limit  Hard Limit  Units\nMax stack size            8388608              unlimited            bytes\n";
        assert_eq!(stack_limit(text), Some(8 << 20));
        assert_eq!(stack_limit("Max stack size            unlimited   unlimited   bytes"), None);
    }

    #[test]
    fn this_machine_tells() {
        let meta = Machine::here().meta(Kind::Vma, Origin::Ptrace);
        assert!(meta.possible >= meta.online && meta.online > 0 && meta.release != "unknown");
        assert!(Machine::here().memory_kib().is_some_and(|kib| kib > 0));
    }
}
