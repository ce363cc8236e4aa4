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
# use freehold_kva::{AddressSpace, IntoRegions, Region, Regions};
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);",
        "fn f(it: AddressSpace<Narrow>) -> AddressSpace<Wide> { it }" => "fn f(it: AddressSpace<Wide>) -> AddressSpace<Narrow> { it }",
        "fn f(it: Region<'_, Narrow>) -> Region<'_, Wide> { it }" => "fn f(it: Region<'_, Wide>) -> Region<'_, Narrow> { it }",
        "fn f(it: Regions<'_, Narrow>) -> Regions<'_, Wide> { it }" => "fn f(it: Regions<'_, Wide>) -> Regions<'_, Narrow> { it }",
        "fn f(it: IntoRegions<Narrow>) -> IntoRegions<Wide> { it }" => "fn f(it: IntoRegions<Wide>) -> IntoRegions<Narrow> { it }";

    OwnersAreSentAsTheirValuesMayBe, "E0277": r"
# use freehold_kva::{AddressSpace, IntoRegions, Region, Regions};
# use std::cell::Cell;
fn send<T: Send>() {}
fn sync<T: Sync>() {}",
        "send::<AddressSpace<Cell<u8>>>();" => "send::<AddressSpace<*const u8>>();",
        "sync::<AddressSpace<u8>>();" => "sync::<AddressSpace<Cell<u8>>>();",
        "send::<IntoRegions<Cell<u8>>>();" => "send::<IntoRegions<*const u8>>();",
        "send::<Region<'_, u8>>();" => "send::<Region<'_, Cell<u8>>>();",
        "send::<Regions<'_, u8>>();" => "send::<Regions<'_, Cell<u8>>>();";

    FreedRegionsAreOwned, "E0308": r"
# use freehold_kva::FreedRegions;
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);",
        "fn f(it: FreedRegions<Narrow>) -> FreedRegions<Wide> { it }" => "fn f(it: FreedRegions<Wide>) -> FreedRegions<Narrow> { it }";

    APendingPlaceIsAnExclusiveReference, "E0308": r"
# use freehold_kva::Pending;
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);",
        "fn f<'a>(it: Pending<'a, Wide>) -> Pending<'a, Wide> { it }" => "fn f<'a>(it: Pending<'a, Narrow>) -> Pending<'a, Wide> { it }",
        "fn f<'a>(it: Pending<'static, Wide>) -> Pending<'a, Wide> { it }" => "fn f<'a>(it: Pending<'a, Wide>) -> Pending<'a, Narrow> { it }";

    RegionsEndBeforeTheirSpace, "E0505": r"
# use freehold_kva::{AddressSpace, Placement, Region, Regions, Request};
# use freehold_units::{Align, Span};
/// Each converts to a shorter lifetime.
fn shorter<'s>(all: (Region<'static, u8>, Regions<'static, u8>)) -> (Region<'s, u8>, Regions<'s, u8>) { all }
let mut space = AddressSpace::<u8>::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest).unwrap();
let at = space.alloc(&Request::new(4096), 7).unwrap().first();",
        "let it = space.region_at(at); drop(it); drop(space);" => "let it = space.region_at(at); drop(space); drop(it);",
        "let it = space.regions(); drop(it); drop(space);" => "let it = space.regions(); drop(space); drop(it);";
}

#[cfg(feature = "std")]
rules! {
    // A past defect: a shared space accepted values that end before it does.
    TheSharedSpaceTakesNoValueThatEndsBeforeIt, "E0597": r#"
# use freehold_kva::{Placement, Request, SharedSpace};
# use freehold_units::{Align, Span};
# use std::sync::Arc;
let space: SharedSpace<&'static str> = SharedSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest).unwrap();
let local = String::from("a string that ends before the space");
let (page, at) = (Request::new(4096), Span::new(0x1000, 0x1fff).unwrap());"#,
        "space.alloc(&page, Arc::new(\"a literal\")).unwrap();" => "space.alloc(&page, Arc::new(local.as_str())).unwrap();",
        "space.alloc_at(at, Arc::new(\"a literal\")).unwrap();" => "space.alloc_at(at, Arc::new(local.as_str())).unwrap();";

    TheSharedSpaceIsInvariant, "E0308": r"
# use freehold_kva::SharedSpace;
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);",
        "fn f(it: SharedSpace<Narrow>) -> SharedSpace<Narrow> { it }" => "fn f(it: SharedSpace<Narrow>) -> SharedSpace<Wide> { it }",
        "fn f(it: SharedSpace<Wide>) -> SharedSpace<Wide> { it }" => "fn f(it: SharedSpace<Wide>) -> SharedSpace<Narrow> { it }";

    TheSharedSpaceIsSentAsItsValuesMayBe, "E0277": r"
# use freehold_kva::{PooledSpace, SharedSpace, pooled::Batch};
# use std::cell::Cell;
fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn clone<T: Clone>() {}",
        "send::<SharedSpace<u8>>();" => "send::<SharedSpace<Cell<u8>>>();",
        "sync::<SharedSpace<u8>>();" => "sync::<SharedSpace<Cell<u8>>>();",
        "send::<PooledSpace>();" => "clone::<PooledSpace>();",
        "sync::<PooledSpace>();" => "clone::<PooledSpace>();",
        // A batch holds its slots, so it cannot be cloned.
        "send::<Batch<'_>>();" => "clone::<Batch<'_>>();",
        "sync::<Batch<'_>>();" => "clone::<Batch<'_>>();";

    ValuesOutliveTheSharedSpace, "E0597": r#"
# use freehold_kva::{Placement, Request, SharedSpace};
# use freehold_units::{Align, Span};
# use std::sync::Arc;
let new = || SharedSpace::new(Span::new(0, 0xffff).unwrap(), Align::PAGE, Placement::Lowest).unwrap();
let (page, text) = (Request::new(4096), || String::from("text"));"#,
        "let (text, space) = (text(), new()); space.alloc(&page, Arc::new(&text)).unwrap();"
            => "let (space, text) = (new(), text()); space.alloc(&page, Arc::new(&text)).unwrap();";

    BorrowersEndBeforeTheirSpace, "E0505": r"
# use freehold_kva::{Placement, PooledSpace, SharedSpace, pooled::Batch};
# use freehold_units::{Align, Span};
fn shorter<'s>(batch: Batch<'static>) -> Batch<'s> { batch }
let all = Span::new(0, 0xff_ffff).unwrap();
let space = SharedSpace::<u8>::new(all, Align::PAGE, Placement::Lowest).unwrap();
let pool = PooledSpace::for_memory(all, Align::PAGE).unwrap();",
        "let it = space.read(); drop(it); drop(space);" => "let it = space.read(); drop(space); drop(it);",
        "let it = space.snapshot().unwrap(); drop(it); drop(space);" => "let it = space.snapshot().unwrap(); drop(space); drop(it);",
        "let it = pool.take_resident(1).unwrap(); drop(it); drop(pool);" => "let it = pool.take_resident(1).unwrap(); drop(pool); drop(it);";
}
