//! Recordings that are text: what ftrace, `perf script`, `trace-cmd report`, bpftrace and strace print, and files of `/proc`.

pub(crate) mod line;
pub(crate) mod maps;
pub(crate) mod percpu_stats;
mod perf_record;
pub(crate) mod strace;
pub(crate) mod vmallocinfo;

use crate::Error;
use crate::decode::Decoder;
use crate::event::Event;
use crate::source::Source;
use freehold_trace::Lines;
use std::collections::VecDeque;

/// A grammar of lines.
pub(crate) trait Grammar {
    /// Adds what a line says to `events`: nothing if it is a comment, or tells only together with a later one.
    ///
    /// # Errors
    /// What is wrong with it.
    fn line(&mut self, text: &str, decoder: &mut Decoder, events: &mut VecDeque<Event>)
    -> Result<(), String>;
}

/// The events of a text. Cost: linear in the line; memory for one line.
pub(crate) struct Text<G> {
    lines: Lines,
    grammar: G,
    /// What the last line said, as far as it was not handed on.
    events: VecDeque<Event>,
    decoder: Decoder,
}

impl<G: Grammar> Text<G> {
    /// Reads these lines.
    pub(crate) fn new(lines: Lines, grammar: G) -> Self {
        Self { lines, grammar, events: VecDeque::new(), decoder: Decoder::default() }
    }
}

impl<G: Grammar> Source for Text<G> {
    fn read(&mut self) -> Result<Option<Event>, Error> {
        while self.events.is_empty() {
            let Some(text) = self.lines.advance()? else { return Ok(None) };
            let read = self.grammar.line(text, &mut self.decoder, &mut self.events);
            read.map_err(|what| self.lines.error(what))?;
        }
        Ok(self.events.pop_front())
    }

    fn warnings(&self) -> Vec<String> {
        self.decoder.warnings()
    }
}

/// A moment in nanoseconds: seconds with up to nine digits behind a point, or whole nanoseconds without a point.
pub(crate) fn moment(text: &str) -> Option<u64> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((seconds, rest)) if is_number(seconds) && is_number(rest) && rest.len() <= 9 => {
            let seconds: u64 = seconds.parse().ok()?;
            let unit = 10u64.pow(9 - rest.len() as u32);
            seconds.checked_mul(1_000_000_000)?.checked_add(rest.parse::<u64>().ok()? * unit)
        }
        None if is_number(text) => text.parse().ok(),
        _ => None,
    }
}
