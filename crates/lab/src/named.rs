//! Choices that have names: a line each, with the name and what it is.

/// An enum of them. The doc of a variant is what its line says.
///
/// One that is told to the program as an argument is an `argument`, under the same names.
macro_rules! named {
    ($(#[$of:meta])* argument $type:ident { $($id:ident $name:literal $about:literal)* }) => {
        $crate::named::named! {
            $(#[$of])*
            #[cfg_attr(feature = "program", derive(clap::ValueEnum))]
            $type { $(#[cfg_attr(feature = "program", value(name = $name))] $id $name $about)* }
        }
    };
    ($(#[$of:meta])* $type:ident { $($(#[$one:meta])* $id:ident $name:literal $about:literal)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $type { $($(#[$one])* #[doc = $about] #[serde(rename = $name)] $id,)* }

        impl $type {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// Its name, as people read it and as it stands in documents and definitions.
            pub fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}
pub(crate) use named;
