//! Range trees: the model that every tree is held against, and what one might use instead of ours.

mod btree_memory;
mod btreemap;
mod gaps;
pub mod history;
mod list;
mod naive;
mod nodit;
mod rangemap;
mod second;

#[cfg(test)]
mod tests;

pub use btreemap::BTreeMapRanges;
pub use list::ListRanges;
pub use naive::Naive;
pub use nodit::NoditRanges;
pub use rangemap::RangemapRanges;
pub use second::Second;
