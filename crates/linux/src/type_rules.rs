//! The rules of `INVARIANTS.md` on variance, auto traits and drop order, as doc tests.
//!
//! Each rule is one program that compiles and one that must not, with the error's code. The two differ in one line.
//! `Narrow` is a subtype of `Wide`: a type that is covariant in its parameter converts from `Narrow` to `Wide` alone, an
//! invariant one in neither direction.

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
    OwnersAreCovariant, "E0308": r"
# use freehold_linux::{kva::KernelSpace, maple::Tree};
# use std::sync::Arc;
type Narrow = Arc<for<'a> fn(&'a u8)>;
type Wide = Arc<fn(&'static u8)>;",
        "fn f(it: KernelSpace<Narrow>) -> KernelSpace<Wide> { it }" => "fn f(it: KernelSpace<Wide>) -> KernelSpace<Narrow> { it }",
        "fn f(it: Tree<Narrow>) -> Tree<Wide> { it }" => "fn f(it: Tree<Wide>) -> Tree<Narrow> { it }";

    WritersAreInvariant, "E0308": r"
# use freehold_linux::maple::Preallocated;
# use std::sync::Arc;
type Narrow = Arc<for<'a> fn(&'a u8)>;
type Wide = Arc<fn(&'static u8)>;",
        "fn f(it: Preallocated<'_, Narrow>) -> Preallocated<'_, Narrow> { it }"
            => "fn f(it: Preallocated<'_, Narrow>) -> Preallocated<'_, Wide> { it }";

    OwnedValuesAreSentAsTheyMayBe, "E0277": r"
# use freehold_linux::{kva::{KernelSpace, RbTree}, maple::Tree};
# use std::{cell::Cell, sync::Arc};
fn send<T: Send>() {}
fn sync<T: Sync>() {}
type Here = Arc<Cell<u32>>;",
        "send::<KernelSpace<Cell<u8>>>();" => "send::<KernelSpace<*const u8>>();",
        "sync::<RbTree>();" => "sync::<KernelSpace<Cell<u8>>>();",
        "send::<Tree<Arc<u32>>>();" => "send::<Tree<Here>>();";
}
