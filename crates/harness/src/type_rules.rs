//! The rules of `INVARIANTS.md` on variance, auto traits and drop order, as doc tests.
//!
//! Each rule is one program that compiles and one that must not, with the error's code. The two differ in one line.

/// `name, "code": "the lines that both programs begin with", "a line that compiles" => "one that must not", ..;`
macro_rules! rules {
    ($($name:ident, $code:literal: $common:literal, $($compiles:literal => $fails:literal),+;)*) => {$(
        $(
            #[doc = concat!("```\n", $common, "\n", $compiles, "\n```\n")]
            #[doc = concat!("```compile_fail,", $code, "\n", $common, "\n", $fails, "\n```\n")]
        )+
        struct $name;
    )*};
}

rules! {
    BlocksOfAnAllocatorEndBeforeIt, "E0505": r"
# use freehold_harness::memory::{Block, Mmap};
let heap = (Mmap, String::new());
let block = Block::new(&heap.0, 4096, true).unwrap();",
        "drop(block); drop(heap);" => "drop(heap); drop(block);";

    BlocksOfAnAllocatorStayOnTheirThread, "E0277": r"
# use freehold_harness::memory::{Block, Mmap, Pages};
fn send<T: Send>() {}
fn sync<T: Sync>() {}",
        "send::<Pages>();" => "send::<Block<'_, Mmap>>();",
        "sync::<Pages>();" => "sync::<Block<'_, Mmap>>();";
}
