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
    BacklogsAreCovariant, "E0308": r"
# use freehold_rcu::Backlog;
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);",
        "fn f(it: Backlog<'_, Narrow>) -> Backlog<'_, Wide> { it }"
            => "fn f(it: Backlog<'_, Wide>) -> Backlog<'_, Narrow> { it }";

    GuardsStayOnTheirThread, "E0277": r"
# use freehold_rcu::{Backlog, Domain, Guard, OwnedGuard, Reader};
# use std::cell::Cell;
fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn clone<T: Clone>() {}",
        "send::<OwnedGuard<'_>>();" => "send::<Guard<'_>>();",
        "sync::<OwnedGuard<'_>>();" => "sync::<Guard<'_>>();",
        // A reader is one thread at a time.
        "send::<Reader<'_>>();" => "sync::<Reader<'_>>();",
        "clone::<Guard<'_>>();" => "clone::<OwnedGuard<'_>>();",
        "send::<Domain>();" => "clone::<Domain>();",
        "sync::<Domain>();" => "clone::<Reader<'_>>();",
        "send::<Backlog<'_, Cell<u8>>>();" => "send::<Backlog<'_, *const u8>>();",
        "sync::<Backlog<'_, u8>>();" => "sync::<Backlog<'_, Cell<u8>>>();";

    GuardsEndBeforeTheirDomain, "E0505": r"
# use freehold_rcu::{Backlog, Domain, Guard, OwnedGuard, Reader};
/// Each converts to a shorter lifetime.
fn shorter<'s>(all: (Guard<'static>, OwnedGuard<'static>, Reader<'static>, Backlog<'static, u8>))
    -> (Guard<'s>, OwnedGuard<'s>, Reader<'s>, Backlog<'s, u8>) { all }
let domain = Domain::new();",
        "let it = domain.read_owned().unwrap(); drop(it); drop(domain);"
            => "let it = domain.read_owned().unwrap(); drop(domain); drop(it);",
        "let it = domain.reader().unwrap(); drop(it); drop(domain);"
            => "let it = domain.reader().unwrap(); drop(domain); drop(it);",
        "let it = domain.reader().unwrap(); let guard = it.read(); drop(guard); drop(it);"
            => "let it = domain.reader().unwrap(); let guard = it.read(); drop(it); drop(guard);",
        "let it = domain.reader().unwrap(); let guard = it.read().clone(); drop(guard); drop(it);"
            => "let it = domain.reader().unwrap(); let guard = it.read().clone(); drop(it); drop(guard);",
        "let it = Backlog::<u8>::new(&domain, 1); drop(it); drop(domain);"
            => "let it = Backlog::<u8>::new(&domain, 1); drop(domain); drop(it);";

    RecordsOutliveTheBacklogThatDropsThem, "E0597": r#"
# use freehold_rcu::{Backlog, Domain};
fn retire<'s>(backlog: &mut Backlog<'_, &'s str>, text: &'s str) {
    backlog.reserve(1, drop).unwrap();
    backlog.retire(text).unwrap();
}
let domain = Domain::new();
let text = || String::from("text");"#,
        "let (text, mut backlog) = (text(), Backlog::new(&domain, 9)); retire(&mut backlog, &text);"
            => "let (mut backlog, text) = (Backlog::new(&domain, 9), text()); retire(&mut backlog, &text);";
}
