mod counts;
pub use counts::Counts;
