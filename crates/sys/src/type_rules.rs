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
    OwnersOfSystemThings, "E0277": r"
# use freehold_sys::{PageScan, Reservation, rseq::Sequence};
fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn clone<T: Clone>() {}",
        // Any thread may use a reservation; it is unmapped once.
        "send::<Reservation>();" => "clone::<Reservation>();",
        "sync::<Reservation>();" => "clone::<Reservation>();",
        "send::<PageScan>();" => "clone::<PageScan>();",
        "sync::<PageScan>();" => "clone::<PageScan>();";
}

#[cfg(feature = "failing")]
rules! {
    // It speaks of the thread that made it: dropped on another, it would leave that one failing.
    RefusalsStayOnTheirThread, "E0277": r"
# use freehold_sys::failing::Failing;
fn send<T: Send>() {}
fn sync<T: Sync>() {}",
        "send::<&u8>();" => "send::<Failing>();",
        "sync::<&u8>();" => "sync::<Failing>();";
}
