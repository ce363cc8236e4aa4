//! Runs operations on the address spaces of several processes, each a map of its own.

use super::{AddressSpace, Answer, AreaMap, Call, Change, Fault, Kind, Kinds, Nodes, Op};
use crate::maple::Digest;
use crate::{Drive, Driven};
use freehold_units::{Probe, Span};

/// What spaces take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Spaces that exist.
    pub spaces: u64,
    /// Areas of all of them.
    pub areas: u64,
    /// Areas of the largest.
    pub areas_most: u64,
    /// Nodes of all of them, and the height of the highest; 0 where a map does not tell.
    pub nodes: Nodes,
    /// Bytes that the maps hold.
    pub bytes: u64,
}

/// Areas beyond which no fork copies more: a file of a few MiB could ask for more than memory holds.
const MOST_COPIED: u64 = 1 << 22;

/// Address spaces by number.
#[derive(Clone, Debug)]
pub struct Spaces<M> {
    spaces: Vec<Option<AddressSpace<M>>>,
    kinds: Kinds,
    /// Nodes taken by spaces that are gone.
    taken_before: u64,
    /// Areas of all spaces when they were counted last, and what forks have copied since.
    copied: u64,
}

impl<M: AreaMap> Spaces<M> {
    /// None yet; areas are of these kinds, and of what becomes of them.
    pub fn new(kinds: Kinds) -> Self {
        Self { spaces: Vec::new(), kinds, taken_before: 0, copied: 0 }
    }

    /// Kinds by their numbers.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// A space, if it exists.
    pub fn space(&self, space: u32) -> Option<&AddressSpace<M>> {
        self.spaces.get(space as usize)?.as_ref()
    }

    /// The same, to play with.
    pub fn space_mut(&mut self, space: u32) -> Option<&mut AddressSpace<M>> {
        self.spaces.get_mut(space as usize)?.as_mut()
    }

    /// The spaces that exist, with their numbers.
    pub fn spaces(&self) -> impl Iterator<Item = (u32, &AddressSpace<M>)> {
        (0u32..).zip(&self.spaces).filter_map(|(number, space)| Some((number, space.as_ref()?)))
    }

    fn appear(&mut self, number: u32, space: AddressSpace<M>) -> Answer {
        let at = number as usize;
        if self.spaces.len() <= at {
            self.spaces.resize_with(at + 1, || None);
        }
        let slot = self.spaces.get_mut(at);
        let taken = slot.as_ref().is_none_or(|slot| slot.is_some());
        if let Some(slot) = slot {
            *slot = Some(space);
        }
        Answer { fault: taken.then_some(Fault::NoSpace), ..Answer::default() }
    }

    /// A space too many is refused.
    fn fork(&mut self, parent: u32, into: u32, probe: &mut impl Probe) -> Answer {
        let refused = Answer { fault: Some(Fault::NoSpace), ..Answer::default() };
        let Some((child, copied)) = self.space(parent).map(|parent| parent.fork(&self.kinds, probe)) else {
            return refused;
        };
        if self.copied + copied > MOST_COPIED {
            self.copied = self.spaces().map(|(_, space)| space.areas().areas()).sum();
        }
        if self.copied + copied > MOST_COPIED {
            return refused;
        }
        self.copied += copied;
        self.appear(into, child)
    }

    fn destroy(&mut self, number: u32) -> Answer {
        let gone = self.spaces.get_mut(number as usize).and_then(Option::take);
        if let Some(nodes) = gone.as_ref().and_then(|space| space.areas().nodes()) {
            self.taken_before += nodes.taken;
        }
        Answer { fault: gone.is_none().then_some(Fault::NoSpace), ..Answer::default() }
    }
}

impl<M: AreaMap> Drive for Spaces<M> {
    type Op = Op;
    type Answer = Answer;

    #[inline]
    fn run(&mut self, op: &Op, probe: &mut impl Probe) -> Answer {
        let space = self.spaces.get_mut(op.space as usize).and_then(Option::as_mut);
        match (op.call, space) {
            (Call::Exec, _) => self.appear(op.space, AddressSpace::default()),
            (Call::Destroy, _) => self.destroy(op.space),
            (Call::Fork { into }, _) => self.fork(op.space, into, probe),
            (_, None) => Answer { fault: Some(Fault::NoSpace), ..Answer::default() },
            (Call::Map { span, kind, replaces, .. }, Some(space)) => space.map(span, kind, replaces, probe),
            (Call::Unmap { span, .. }, Some(space)) => space.unmap(span, probe),
            (Call::Protect { span, prot, whole }, Some(space)) => {
                space.change(span, Change::Protect(prot), whole, &mut self.kinds, probe)
            }
            (Call::Advise { span, advice }, Some(space)) => {
                space.change(span, Change::Advise(advice), true, &mut self.kinds, probe)
            }
            (Call::Remap { from, to, replaces, keeps }, Some(space)) => {
                space.remap(from, to, [replaces, keeps], &mut self.kinds, probe)
            }
            (Call::Search { size, window, highest, found }, Some(space)) => {
                space.search(size, window, highest, found)
            }
            (Call::Store { span, value }, Some(space)) => space.put(span, value, probe),
            (Call::Load { index }, Some(space)) => space.load(index),
            (Call::Find { index }, Some(space)) => space.find(index, probe),
        }
    }

    /// Spaces are named by numbers below this.
    fn expect_objects(&mut self, objects: u32) {
        self.spaces.reserve((objects as usize).saturating_sub(self.spaces.len()));
    }

    fn metadata_bytes(&self) -> usize {
        self.spaces().map(|(_, space)| space.areas().bytes()).sum()
    }

    fn validate(&self) -> Result<(), String> {
        self.spaces().try_for_each(|(number, space)| {
            space.areas().validate().map_err(|broken| format!("space {number}: {broken}"))
        })
    }
}

/// Address spaces at work.
pub trait Session: Driven<Op, Answer> {
    /// What they take now.
    fn footprint(&self) -> Footprint;

    /// A hash of every area of every space.
    fn digest(&self) -> u64;

    /// Shows every area of a space in ascending order.
    fn visit(&self, space: u32, see: &mut dyn FnMut(Span, &Kind));
}

impl<M: AreaMap + 'static> Session for Spaces<M> {
    fn footprint(&self) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.nodes.taken = self.taken_before;
        for (_, space) in self.spaces() {
            let (areas, nodes) = (space.areas(), space.areas().nodes().unwrap_or_default());
            footprint.spaces += 1;
            footprint.areas += areas.areas();
            footprint.areas_most = footprint.areas_most.max(areas.areas());
            footprint.nodes.in_use += nodes.in_use;
            footprint.nodes.taken += nodes.taken;
            footprint.nodes.height = footprint.nodes.height.max(nodes.height);
            footprint.bytes += areas.bytes() as u64;
        }
        footprint
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        for (number, space) in self.spaces() {
            for (first, last, kind) in space.areas().iter() {
                [u64::from(number), first, last, kind].into_iter().for_each(|word| digest.push(word));
            }
        }
        digest.value()
    }

    fn visit(&self, space: u32, see: &mut dyn FnMut(Span, &Kind)) {
        let Some(space) = self.space(space) else { return };
        for (first, last, kind) in space.areas().iter() {
            if let Some((span, kind)) = Span::new(first, last).zip(self.kinds().get(kind)) {
                see(span, kind);
            }
        }
    }
}
