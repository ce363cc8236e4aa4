//! Enums whose variants have a word in files: one line for each, with the word and its meaning.

/// Declares such an enum. The meaning in a variant's line is also its doc.
#[macro_export]
macro_rules! named {
    ($(#[$of:meta])* $type:ident { $($(#[$one:meta])* $id:ident $name:literal $about:literal)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$one])* #[doc = $about] $id,)* }

        impl $type {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// Its word in files, documents and definitions.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            /// Its meaning.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$id => $about,)* }
            }

            /// The variant with that word.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}
pub(crate) use named;
