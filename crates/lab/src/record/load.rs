//! What other programs did with the CPUs during a run: its times are theirs, too.

use std::fs::read_to_string;

/// Their share in percent from which a run says so.
const BUSY_PERCENT: u64 = 10;

/// CPU time since the machine started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Of all CPUs, idle or not.
    all: u64,
    /// Of these, what any program or another machine on the same CPUs had.
    busy: u64,
    /// Of these, what this program and its children had.
    own: u64,
}

impl Load {
    /// Until now; `None` where the system does not say.
    pub fn now() -> Option<Self> {
        Self::told(&read_to_string("/proc/stat").ok()?, &read_to_string("/proc/self/stat").ok()?)
    }

    /// From the texts of `/proc/stat` and `/proc/self/stat`.
    pub fn told(stat: &str, own: &str) -> Option<Self> {
        // user nice system idle iowait irq softirq steal; what guests had is in the first two.
        let ticks = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            ticks.split_whitespace().map_while(|ticks| ticks.parse().ok()).take(8).collect();
        let all: u64 = ticks.iter().sum();
        let busy = all.checked_sub(ticks.get(3)? + ticks.get(4)?)?;
        // Behind the name in parentheses: the fields from the third on, of which utime, stime, cutime and cstime are 14 to 17.
        let fields: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
        let own = fields.get(11..15)?.iter().map(|ticks| ticks.parse::<u64>().ok()).sum::<Option<u64>>()?;
        Some(Self { all, busy, own })
    }

    /// What to say of a run that began with this load and ends with another, if other programs were busy.
    pub fn note(self, end: Self) -> Option<String> {
        let all = end.all.checked_sub(self.all).filter(|&all| all > 0)?;
        let others = end.busy.saturating_sub(self.busy).saturating_sub(end.own.saturating_sub(self.own));
        let percent = 100 * others / all;
        (percent >= BUSY_PERCENT).then(|| {
            format!(
                "{BUSY}other programs had {percent} % of the CPUs meanwhile; times are longer for them, and unequally: \
                 counts alone compare"
            )
        })
    }
}

/// How the note begins. It comes before any figure.
pub(super) const BUSY: &str = "BUSY: ";
