//! Sources of events, and what is read of them.

use crate::Error;
use crate::event::Event;
use std::collections::VecDeque;

/// What makes events.
pub(crate) trait Source {
    /// The next event in order of time; nothing after the last one.
    ///
    /// # Errors
    /// What is there is damaged. Nothing is read after an error.
    fn read(&mut self) -> Result<Option<Event>, Error>;

    /// What was missing or odd so far, a sentence each.
    fn warnings(&self) -> Vec<String>;
}

/// The events of a source. Nothing follows an error.
pub(crate) struct Events {
    source: Box<dyn Source>,
    /// Events that were looked at before they are handed out.
    ahead: VecDeque<Event>,
    ended: bool,
}

impl Events {
    /// All events of this source.
    pub(crate) fn new(source: impl Source + 'static) -> Self {
        Self { source: Box::new(source), ahead: VecDeque::new(), ended: false }
    }

    /// What the first event that tells it says, without taking that event; nothing if none of the next `most` does.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn find<T>(
        &mut self,
        most: usize,
        told: impl Fn(&Event) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        for _ in 0..most {
            let Some(event) = self.next_of_source().transpose()? else { break };
            let found = told(&event);
            self.ahead.push_back(event);
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// What was missing or odd so far, a sentence each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.source.warnings()
    }

    fn next_of_source(&mut self) -> Option<Result<Event, Error>> {
        if self.ended {
            return None;
        }
        let event = self.source.read().transpose();
        self.ended = !matches!(event, Some(Ok(_)));
        event
    }
}

impl Iterator for Events {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.ahead.pop_front().map(Ok).or_else(|| self.next_of_source())
    }
}
