//! Choices that stand in files as a word: a line each, with the word and what it is.

/// An enum of them. The doc of a variant is what its line says.
#[macro_export]
macro_rules! named {
    ($(#[$of:meta])* $type:ident { $($(#[$one:meta])* $id:ident $name:literal $about:literal)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$one])* #[doc = $about] $id,)* }

        impl $type {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// Its name, as it stands in files, documents and definitions.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            /// What it is.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$id => $about,)* }
            }

            /// The one of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}
pub(crate) use named;
