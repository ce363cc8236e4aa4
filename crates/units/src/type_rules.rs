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
# use freehold_units::{Rejected, pool::Pool};
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);",
        "fn f(it: Pool<Narrow>) -> Pool<Wide> { it }" => "fn f(it: Pool<Wide>) -> Pool<Narrow> { it }",
        "fn f(it: Rejected<Narrow, u8>) -> Rejected<Wide, u8> { it }"
            => "fn f(it: Rejected<Wide, u8>) -> Rejected<Narrow, u8> { it }",
        "fn f(it: Rejected<u8, Narrow>) -> Rejected<u8, Wide> { it }"
            => "fn f(it: Rejected<u8, Wide>) -> Rejected<u8, Narrow> { it }";

    OwnersAreSentAsTheirPartsMayBe, "E0277": r"
# use freehold_units::{Rejected, pool::Pool};
# use std::cell::Cell;
fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn clone<T: Clone>() {}",
        "send::<Pool<Cell<u8>>>();" => "send::<Pool<*const u8>>();",
        "sync::<Pool<u8>>();" => "sync::<Pool<Cell<u8>>>();",
        "send::<Rejected<Cell<u8>, u8>>();" => "send::<Rejected<*const u8, u8>>();",
        "sync::<Rejected<u8, u8>>();" => "sync::<Rejected<u8, Cell<u8>>>();";
}
