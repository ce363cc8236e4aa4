//! Where and with what a run was made.

use freehold::units::Bytes;
use serde::{Deserialize, Serialize};
use std::fs::read_to_string;
use std::time::{Duration, Instant};

/// What is said of what a machine does not tell.
const UNKNOWN: &str = "unknown";
const UNOPTIMISED: &str = "built without optimisation: the times mean nothing";

/// The machine and the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of the program.
    pub version: String,
    /// What it was built of, if it was built with optimisation in a repository.
    pub commit: String,
    /// What it was built with.
    pub compiler: String,
    /// Whether it was built with optimisation; times of a debug build mean nothing.
    pub optimised: bool,
    /// The processor's name.
    pub cpu: String,
    /// CPUs that the program may use.
    pub cpus: usize,
    /// Who decides on the processor's frequency.
    pub governor: String,
    /// The least that the clock can tell apart, in nanoseconds.
    pub clock_step_ns: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Operating system and its release.
    pub system: String,
    /// Architecture.
    pub architecture: String,
}

impl Environment {
    /// Looks at this machine; what it does not tell is `unknown`.
    pub fn here() -> Self {
        let file = |name: &str| {
            read_to_string(name).map_or_else(|_| UNKNOWN.to_owned(), |text| text.trim().to_owned())
        };
        let line = |name: &str, of: &str| {
            let text = read_to_string(name).unwrap_or_default();
            let value = text.lines().find_map(|line| line.strip_prefix(of)?.split_once(':'));
            value.map_or_else(|| UNKNOWN.to_owned(), |(_, value)| value.trim().to_owned())
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: env!("FREEHOLD_COMMIT").to_owned(),
            compiler: env!("FREEHOLD_COMPILER").to_owned(),
            optimised: !cfg!(debug_assertions),
            cpu: line("/proc/cpuinfo", "model name"),
            cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            governor: file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            clock_step_ns: clock_step_ns(),
            memory_bytes: told_bytes(&file("/proc/meminfo"), "MemTotal:").unwrap_or(0),
            system: format!("{} {}", std::env::consts::OS, file("/proc/sys/kernel/osrelease")),
            architecture: std::env::consts::ARCH.to_owned(),
        }
    }

    /// What of machine and build is another there, each with both: times of the two do not compare.
    pub fn differences(&self, there: &Self) -> Vec<String> {
        let told = |of: &Self| {
            let build = if of.optimised { "with optimisation" } else { "without optimisation" };
            [
                ("built", build.to_owned()),
                ("processor", of.cpu.clone()),
                ("CPUs", of.cpus.to_string()),
                ("frequency governor", of.governor.clone()),
                ("system", of.system.clone()),
                ("architecture", of.architecture.clone()),
            ]
        };
        let pairs = told(self).into_iter().zip(told(there));
        let differ = pairs.filter(|(here, there)| here != there);
        differ.map(|((name, here), (_, there))| format!("{name}: {here}, then {there}")).collect()
    }

    /// The machine in a line.
    pub fn line(&self) -> String {
        let Self { version, cpu, cpus, clock_step_ns, .. } = self;
        let unoptimised = if self.optimised { String::new() } else { format!(", {UNOPTIMISED}") };
        format!(
            "freehold {version} · {cpu}, {cpus} CPUs · the clock goes in steps of {clock_step_ns} ns{unoptimised}"
        )
    }

    /// The same for people.
    pub fn lines(&self) -> Vec<String> {
        let Self {
            version, commit, compiler, cpu, cpus, governor, clock_step_ns, system, architecture, ..
        } = self;
        let memory = Bytes::from(self.memory_bytes);
        let mut lines = vec![
            format!("freehold {version}, commit {commit}, {compiler}"),
            format!("{system}, {architecture}; {cpu}, {cpus} CPUs, {memory} of memory"),
            format!("frequency governor: {governor}; clock step: {clock_step_ns} ns"),
        ];
        lines.extend((!self.optimised).then(|| UNOPTIMISED.to_owned()));
        lines
    }
}

/// The least difference between two readings of the clock that is not nothing.
fn clock_step_ns() -> u64 {
    let mut least = Duration::MAX;
    let mut before = Instant::now();
    for _ in 0..10_000 {
        let after = Instant::now();
        if after > before {
            least = least.min(after - before);
        }
        before = after;
    }
    u64::try_from(least.as_nanos()).unwrap_or(u64::MAX)
}

/// The bytes that a file of the kernel has behind a name.
pub fn told_bytes(told: &str, name: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
