//! Choices that have names: a line each, with the name and what it is.

/// An enum of them, which documents and definitions know by their names.
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
        freehold_trace::named! {
            $(#[$of])*
            #[derive(serde::Serialize, serde::Deserialize)]
            $type { $($(#[$one])* #[serde(rename = $name)] $id $name $about)* }
        }
    };
}
pub(crate) use named;
