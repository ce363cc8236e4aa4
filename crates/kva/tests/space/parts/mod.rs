//! Regions that are cut, merged and freed in part, among all other operations, against a model of granules: random
//! strings under every placement, with holes in the layout, at both ends of the addresses and far apart. After each
//! operation the space is validated and compared as a whole, and now and then it is replaced by an image of itself.
//!
//! A case that fails is shrunk and printed with its operations.

mod cases;
mod model;
mod play;
mod verbs;
