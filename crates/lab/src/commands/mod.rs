//! The commands: each turns its options into a [`Document`](crate::output::Document).

pub mod bench;
pub mod bench_maple;
pub mod bench_percpu;
pub mod doctor;
pub mod inspect;
pub mod instructions;
pub mod main_job;
pub mod replay;
pub mod reproduce;
pub mod stress;
pub mod verify;
pub mod wishes;

use crate::engine::EngineEntry;
use crate::family::Entry;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Tells on standard error what is being done, once it has taken more than a second.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: bool,
}

impl Default for Progress {
    fn default() -> Self {
        let bar = ProgressBar::hidden();
        bar.set_style(ProgressStyle::default_spinner());
        Self { bar, started: Instant::now(), shown: false }
    }
}

impl Progress {
    /// There is progress, of this kind.
    pub fn tick(&mut self, what: &str) {
        if !self.shown && self.started.elapsed() > Duration::from_secs(1) {
            self.shown = true;
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Placement and default mark of an engine, as rows have them.
fn default_mark(entry: &EngineEntry) -> Option<bool> {
    entry.is_default().then_some(true)
}
