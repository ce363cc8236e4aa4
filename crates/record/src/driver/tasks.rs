//! Tasks that are traced, and the address spaces that they share.
//!
//! One task of an address space at a time is in a call that changes it, or copies it. The others wait before theirs. So the order in which
//! calls return is the order in which the kernel did them.
//!
//! Cost: constant for each event.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A task.
#[derive(Clone, Debug)]
pub(crate) struct Task<C> {
    /// The process that it is a thread of.
    pub(crate) process: u32,
    /// What it makes is of this kind (`CLONE_*`), once it has said so.
    pub(crate) making: u64,
    /// The call that it is in, or waits for.
    pub(crate) call: Option<C>,
    /// That it ends was written.
    pub(crate) is_told: bool,
    /// Its address space; `None` once it has left it.
    space: Option<u32>,
}

impl<C> Task<C> {
    fn new(process: u32, space: u32) -> Self {
        Self { process, making: 0, call: None, is_told: false, space: Some(space) }
    }
}

/// An address space.
#[derive(Debug, Default)]
struct Space {
    tasks: u32,
    /// The task that is in a call.
    busy: Option<u32>,
    waiting: VecDeque<u32>,
}

/// What becomes of an address space that a task leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It was the last one: nobody has this space any more.
    Last,
    /// Others have it. The call of this task, if there is one, may be done now.
    Others(Option<u32>),
}

/// The numbers of the processes that there are, for another thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Living(Arc<Mutex<BTreeSet<u32>>>);

impl Living {
    /// The numbers. The end of a process is waited for before its number is taken out, so for a moment it may be another's.
    pub(crate) fn numbers(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All of them. `C` is what is known of a call while it is done.
#[derive(Debug)]
pub(crate) struct Tasks<C> {
    tasks: BTreeMap<u32, Task<C>>,
    spaces: BTreeMap<u32, Space>,
    made: u32,
    living: Living,
}

impl<C> Tasks<C> {
    /// No tasks.
    pub(crate) fn new() -> Self {
        Self { tasks: BTreeMap::new(), spaces: BTreeMap::new(), made: 0, living: Living::default() }
    }

    /// Adds a task with an address space of its own.
    pub(crate) fn add(&mut self, task: u32, process: u32) {
        self.made += 1;
        self.spaces.insert(self.made, Space { tasks: 1, ..Space::default() });
        self.insert(task, Task::new(process, self.made));
    }

    fn insert(&mut self, number: u32, task: Task<C>) {
        if task.process == number {
            self.living.numbers().insert(number);
        }
        self.tasks.insert(number, task);
    }

    /// Adds a task that shares the address space of another one.
    pub(crate) fn add_sharing(&mut self, task: u32, process: u32, with: u32) {
        match self.tasks.get(&with).and_then(|with| with.space) {
            Some(number) => {
                if let Some(space) = self.spaces.get_mut(&number) {
                    space.tasks += 1;
                }
                self.insert(task, Task::new(process, number));
            }
            None => self.add(task, process),
        }
    }

    /// The numbers of the processes that were added and not removed.
    pub(crate) fn living(&self) -> Living {
        self.living.clone()
    }

    /// A task, if it is known.
    pub(crate) fn get(&mut self, task: u32) -> Option<&mut Task<C>> {
        self.tasks.get_mut(&task)
    }

    /// The other threads of a task's process.
    pub(crate) fn others(&self, process: u32, task: u32) -> Vec<u32> {
        let of =
            |(&number, it): (&u32, &Task<C>)| (it.process == process && number != task).then_some(number);
        self.tasks.iter().filter_map(of).collect()
    }

    /// Whether other threads of a task's process have their memory.
    pub(crate) fn has_others(&self, process: u32, task: u32) -> bool {
        self.others(process, task).iter().any(|other| self.tasks[other].space.is_some())
    }

    /// Begins a call of a task. False if another task of its address space is in one: it waits.
    pub(crate) fn begin(&mut self, task: u32, call: C) -> bool {
        let Some(known) = self.tasks.get_mut(&task) else { return true };
        known.call = Some(call);
        let Some(space) = known.space.and_then(|space| self.spaces.get_mut(&space)) else { return true };
        if space.busy.is_some() {
            space.waiting.push_back(task);
            return false;
        }
        space.busy = Some(task);
        true
    }

    /// The call that a task is in; none if it waits for it.
    pub(crate) fn call_of(&self, task: u32) -> Option<&C> {
        let known = self.tasks.get(&task)?;
        let space = self.spaces.get(&known.space?)?;
        known.call.as_ref().filter(|_| space.busy == Some(task))
    }

    /// Ends a task's call: what is known of it, and the task that may go on with its own.
    pub(crate) fn end(&mut self, task: u32) -> (Option<C>, Option<u32>) {
        let Some(known) = self.tasks.get_mut(&task) else { return (None, None) };
        let call = known.call.take();
        let space = known.space.and_then(|space| self.spaces.get_mut(&space));
        (call, space.and_then(|space| space.release(task)))
    }

    /// A task leaves its address space; `None` if it has left before.
    pub(crate) fn leave(&mut self, task: u32) -> Option<Left> {
        let number = self.tasks.get_mut(&task)?.space.take()?;
        let space = self.spaces.get_mut(&number)?;
        space.tasks -= 1;
        space.waiting.retain(|&waiting| waiting != task);
        if space.tasks == 0 {
            self.spaces.remove(&number);
            return Some(Left::Last);
        }
        Some(Left::Others(space.release(task)))
    }

    /// Forgets a task, which has left its address space.
    pub(crate) fn remove(&mut self, task: u32) {
        self.living.numbers().remove(&task);
        self.tasks.remove(&task);
    }
}

impl Space {
    /// Ends the call that a task is in, if it is in one; the task that is in the next.
    fn release(&mut self, task: u32) -> Option<u32> {
        if self.busy != Some(task) {
            return None;
        }
        self.busy = self.waiting.pop_front();
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_space_are_done_one_after_the_other() {
        let mut tasks = Tasks::new();
        tasks.add(1, 1);
        tasks.add_sharing(2, 1, 1);
        tasks.add_sharing(3, 1, 2);
        tasks.add(4, 4);
        assert!(tasks.begin(1, "a") && !tasks.begin(2, "b") && !tasks.begin(3, "c"));
        assert!(tasks.begin(4, "d"), "another space");
        assert_eq!((tasks.call_of(1), tasks.call_of(2)), (Some(&"a"), None));
        assert_eq!(tasks.end(1), (Some("a"), Some(2)));
        assert_eq!(tasks.end(2), (Some("b"), Some(3)));
        assert_eq!(tasks.end(3), (Some("c"), None));
        assert!(tasks.begin(2, "e"));
    }

    #[test]
    fn a_task_that_ends_holds_nobody_up() {
        let mut tasks = Tasks::new();
        tasks.add(1, 1);
        tasks.add_sharing(2, 1, 1);
        tasks.add_sharing(3, 1, 1);
        tasks.add(4, 4);
        assert!(tasks.living().numbers().iter().eq(&[1, 4]));
        assert!(tasks.begin(1, ()) && !tasks.begin(2, ()) && !tasks.begin(3, ()));
        assert_eq!(tasks.leave(2), Some(Left::Others(None)), "it only waited");
        assert_eq!(tasks.leave(1), Some(Left::Others(Some(3))));
        assert_eq!(tasks.leave(1), None);
        assert!(tasks.has_others(1, 1) && !tasks.has_others(1, 3));
        assert_eq!(tasks.others(1, 3), [1, 2]);
        tasks.remove(1);
        assert_eq!(tasks.others(1, 3), [2]);
        assert!(tasks.living().numbers().iter().eq(&[4]));
        assert_eq!(tasks.leave(3), Some(Left::Last));
    }
}
