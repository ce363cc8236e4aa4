//! What the lists of engines are made of. A new engine is a file with what drives it and an entry in its family's list,
//! which says all that the lab knows of it.

use super::outside::Library;
use crate::failure::{Failure, unknown};
use crate::kind::Suite;
use crate::record::{Field, Key, Origin};
use std::fmt::Debug;
use std::ops::Deref;

/// Where an engine is compared without being named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compared {
    /// In every comparison.
    Always,
    /// In `bench` alone.
    InBench,
    /// Nowhere: it is a model, or says little beside another.
    IfNamed,
}

/// An engine that the lab can drive.
#[derive(Clone, Copy, Debug)]
pub struct Listed<T> {
    /// The engine's name.
    pub engine: &'static str,
    /// Its placement, where it has several.
    pub placement: Option<&'static str>,
    /// What it is, in a line.
    pub about: &'static str,
    /// Whether it is one of ours, which is no rival of the default one.
    pub ours: bool,
    /// Whether it does what today's Linux does, which is what the default one is compared with first.
    pub linux: bool,
    /// Whether its memory cannot be told and is reckoned from what it holds.
    pub estimated: bool,
    /// Where it is compared when nobody says which engines.
    pub compared: Compared,
    /// The shared object that it is in, if it is none of ours to make.
    pub outside: Option<&'static Library>,
    /// What is said of engines of its family alone, and what makes one.
    pub facts: T,
}

/// What is said of the engines of a family.
pub trait Facts: Copy + Debug + 'static {
    /// What an engine is made for.
    type Scene;
    /// An engine at work.
    type Session: ?Sized;
    /// What it answers.
    type Answer: PartialEq;
    /// The family.
    const SUITE: Suite;
    /// Every engine; the first is the one that users get, and what ratios are to.
    const ALL: &'static [Listed<Self>];
    /// What is found by its full name alone.
    const VARIANTS: &'static [Listed<Self>] = &[];
    /// The engine that does no work. It is not in the list, so that it is neither judged nor compared: only tables of
    /// `replay` and `bench` show it, beneath the others.
    const FLOOR: Option<Listed<Self>> = None;

    /// Makes one.
    ///
    /// # Errors
    /// Why it cannot be made for that scene.
    fn start(&self, scene: &Self::Scene) -> Result<Box<Self::Session>, String>;

    /// What is said of an engine from outside, if those of this family can be driven.
    fn outside(library: &Library) -> Option<Self>;

    /// Makes one that is outside.
    ///
    /// # Errors
    /// Why it cannot be made for that scene.
    fn start_outside(library: &'static Library, scene: &Self::Scene) -> Result<Box<Self::Session>, String>;

    /// Whether two fresh engines may give these answers to the same operations.
    fn repeats(&self, first: &[Self::Answer], second: &[Self::Answer]) -> bool {
        first == second
    }
}

/// What every list has: its entries' type, and what its facts are of. The expression makes an engine of facts and a scene.
macro_rules! facts {
    ($facts:ident, $suite:ident: $scene:ty => $session:ty, $answer:ty, $make:expr; $($more:item)*) => {
        /// An engine of the list.
        pub type EngineEntry = $crate::engine::Listed<$facts>;

        impl $crate::engine::Facts for $facts {
            type Scene = $scene;
            type Session = $session;
            type Answer = $answer;
            const SUITE: $crate::kind::Suite = $crate::kind::Suite::$suite;
            const ALL: &'static [EngineEntry] = ENGINES;

            fn start(&self, scene: &$scene) -> Result<Box<$session>, String> {
                let make: fn(&Self, &$scene) -> Result<Box<$session>, String> = $make;
                make(self, scene)
            }

            $($more)*
        }
    };
}
pub(super) use facts;

/// A list of engines, an entry each: its name, its placement where there are several, where it is compared and what else holds
/// for it, what it is, and its facts.
macro_rules! engines {
    ($($name:literal $($placement:literal)? ($compared:ident $($word:ident)*) $about:literal $facts:expr;)*) => {
        &[$($crate::engine::Listed {
            compared: $crate::engine::Compared::$compared,
            $(placement: Some($placement),)?
            $($word: true,)*
            ..$crate::engine::Listed::new($name, $about, $facts)
        }),*]
    };
}
pub(super) use engines;

impl<T> Deref for Listed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.facts
    }
}

impl<T: Copy> Listed<T> {
    /// An engine that is compared always.
    pub(super) const fn new(engine: &'static str, about: &'static str, facts: T) -> Self {
        let (placement, compared) = (None, Compared::Always);
        let (ours, linux, estimated, outside) = (false, false, false, None);
        Self { engine, placement, about, ours, linux, estimated, compared, outside, facts }
    }

    /// The same with other facts.
    pub fn with(self, facts: T) -> Self {
        Self { facts, ..self }
    }

    /// Name and placement, as users write them.
    pub fn label(&self) -> String {
        match self.placement {
            Some(placement) => format!("{}:{placement}", self.engine),
            None => self.engine.to_owned(),
        }
    }
}

impl<T: Facts> Listed<T> {
    /// Makes one.
    ///
    /// # Errors
    /// Why it cannot be made for that scene.
    pub fn start(&self, scene: &T::Scene) -> Result<Box<T::Session>, String> {
        match self.outside {
            Some(library) => T::start_outside(library, scene),
            None => self.facts.start(scene),
        }
    }

    /// The engine of a shared object.
    ///
    /// # Errors
    /// It is of another family, or this one has none from outside.
    pub(crate) fn of_library(library: &'static Library) -> Result<Self, Failure> {
        let family = T::SUITE.name();
        let refused = || {
            Failure::Usage(format!("{}: it is no engine that can be driven as {family} here", library.name))
        };
        let facts = T::outside(library).ok_or_else(refused)?;
        let about = library.about();
        let compared = Compared::IfNamed;
        Ok(Self { outside: Some(library), compared, ..Self::new(library.name, about, facts) })
    }

    /// Where figures of its memory are from.
    pub fn memory(&self) -> Origin {
        if self.estimated || self.outside.is_some() { Origin::Estimated } else { Origin::Measured }
    }

    /// Whether it is the one that users get.
    pub fn is_default(&self) -> bool {
        T::ALL.first().is_some_and(|first| first.label() == self.label())
    }

    /// Whether it is the one that does no work.
    pub fn is_floor(&self) -> bool {
        T::FLOOR.is_some_and(|floor| floor.label() == self.label())
    }

    /// A workload's key on it.
    pub fn key(&self, workload: &str) -> Key {
        let key = Key::new(T::SUITE.name(), workload).engine(self.engine);
        let default = self.is_default();
        Key {
            default,
            ours: self.ours && !default,
            linux: self.linux,
            ..key.param_if(Field::Placement, self.placement)
        }
    }

    /// The engines that `names` ask for, in that order: `rbtree` for every placement of an engine, `rbtree:linux` for
    /// one, `rbtree:lowest+hot` for a variant, `so:PATH` for one in a shared object. No names: those that are compared in `place`, in the order of the list.
    ///
    /// # Errors
    /// A name that is no engine's.
    pub fn find(names: &[String], place: Compared) -> Result<Vec<Self>, Failure> {
        if names.is_empty() {
            return Ok(T::ALL.iter().filter(|entry| entry.compared <= place).copied().collect());
        }
        let mut wanted: Vec<Self> = Vec::new();
        for name in names {
            let is_label = |entry: &&Self| entry.label() == *name;
            let mut named: Vec<Self> = match Library::named(name)? {
                Some(library) => vec![Self::of_library(library)?],
                None => {
                    let listed = T::ALL.iter().filter(|entry| entry.engine == name || is_label(entry));
                    listed.chain(T::VARIANTS.iter().filter(is_label)).copied().collect()
                }
            };
            if named.is_empty() {
                let all: Vec<String> = T::ALL.iter().chain(T::VARIANTS).map(Self::label).collect();
                return Err(unknown(&format!("{} engine", T::SUITE.name()), name, &all));
            }
            named.retain(|entry| wanted.iter().all(|known| known.label() != entry.label()));
            wanted.extend(named);
        }
        Ok(wanted)
    }
}
