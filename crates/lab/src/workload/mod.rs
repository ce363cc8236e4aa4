mod random;
pub mod recipe;
pub use random::SplitMix;
