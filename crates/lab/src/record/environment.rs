//! Where and with what a run was made.

use freehold::units::Bytes;
use serde::Serialize;
use std::fs::read_to_string;

/// The machine and the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Environment {
    /// Version of the program.
    pub version: &'static str,
    /// Whether it was built with optimisation; times of a debug build mean nothing.
    pub optimised: bool,
    /// The processor's name.
    pub cpu: String,
    /// CPUs that the program may use.
    pub cpus: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Operating system and its release.
    pub system: String,
    /// Architecture.
    pub architecture: &'static str,
}

impl Environment {
    /// Looks at this machine; what it does not tell is `unknown`.
    #[must_use]
    pub fn here() -> Self {
        let line = |file: &str, name: &str| {
            let text = read_to_string(file).unwrap_or_default();
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
            value.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
        };
        let release = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_else(|_| "unknown".to_owned());
        let memory = line("/proc/meminfo", "MemTotal");
        let kib: u64 = memory.trim_end_matches(" kB").parse().unwrap_or(0);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            optimised: !cfg!(debug_assertions),
            cpu: line("/proc/cpuinfo", "model name"),
            cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_bytes: kib.saturating_mul(1024),
            system: format!("{} {}", std::env::consts::OS, release.trim()),
            architecture: std::env::consts::ARCH,
        }
    }

    /// The machine in a line.
    #[must_use]
    pub fn line(&self) -> String {
        let unoptimised =
            if self.optimised { "" } else { ", built without optimisation: the times mean nothing" };
        format!("freehold {} · {}, {} CPUs{unoptimised}", self.version, self.cpu, self.cpus)
    }

    /// The same for people.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let memory = Bytes::from(self.memory_bytes);
        let mut lines = vec![
            format!("freehold {}, {}, {}", self.version, self.system, self.architecture),
            format!("{}, {} CPUs, {memory} of memory", self.cpu, self.cpus),
        ];
        if !self.optimised {
            lines.push("built without optimisation: the times mean nothing".to_owned());
        }
        lines
    }
}
