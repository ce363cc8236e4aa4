//! What is being done, for people who wait.

use crate::stop;
use crate::view::plain;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Tells on standard error what is being done, once it has taken more than a second.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: bool,
    /// Which of several files it is about.
    part: String,
    /// Nobody is told.
    silent: bool,
}

impl Default for Progress {
    fn default() -> Self {
        let bar = ProgressBar::hidden();
        bar.set_style(ProgressStyle::default_spinner());
        Self { bar, started: Instant::now(), shown: false, part: String::new(), silent: false }
    }
}

impl Progress {
    /// What follows is about the file `at` of so many.
    pub fn part(&mut self, at: usize, of: usize) {
        self.part = if of > 1 { format!("{} of {of}: ", at + 1) } else { String::new() };
    }

    /// One that nobody is told of.
    pub fn silent() -> Self {
        let mut progress = Self::default();
        progress.silent = true;
        progress
    }

    /// There is progress, of this kind. A run that shall end does so here.
    pub fn tick(&mut self, what: &str) {
        stop::check();
        if !self.silent && !self.shown && self.started.elapsed() > Duration::from_secs(1) {
            self.shown = true;
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        self.bar.set_message(plain(&format!("{}{what}", self.part)));
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
