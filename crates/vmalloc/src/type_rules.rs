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
    VectorsAreCovariant, "E0308": r"
# use freehold_vmalloc::VmVec;
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);",
        "fn f(it: VmVec<'_, Narrow>) -> VmVec<'_, Wide> { it }" => "fn f(it: VmVec<'_, Wide>) -> VmVec<'_, Narrow> { it }";

    MemoryIsForAnyThread, "E0277": r"
# use freehold_vmalloc::{Block, Slot, Slots, Stack, StackPool, VirtualMemory, VmVec};
# use std::cell::Cell;
fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn clone<T: Clone>() {}",
        "send::<VirtualMemory>(); sync::<VirtualMemory>();" => "clone::<VirtualMemory>();",
        "send::<Block<'_>>(); sync::<Block<'_>>();" => "clone::<Block<'_>>();",
        "send::<Slots<'_>>(); sync::<Slots<'_>>();" => "clone::<Slots<'_>>();",
        "send::<Slot<'_>>(); sync::<Slot<'_>>();" => "clone::<Slot<'_>>();",
        "send::<StackPool<'_>>(); sync::<StackPool<'_>>();" => "clone::<StackPool<'_>>();",
        "send::<Stack<'_>>(); sync::<Stack<'_>>();" => "clone::<Stack<'_>>();",
        "send::<VmVec<'_, Cell<u8>>>();" => "send::<VmVec<'_, *const u8>>();",
        "sync::<VmVec<'_, u8>>();" => "sync::<VmVec<'_, Cell<u8>>>();";

    MemoryIsGivenBackBeforeItEnds, "E0505": r"
# use freehold_vmalloc::{Block, Slot, SlotLayout, Slots, Stack, StackPool, VirtualMemory, VmVec};
# use freehold_vmalloc::Zero;
/// Each converts to a shorter lifetime.
fn shorter<'s>(all: (Block<'static>, Slots<'static>, Slot<'static>, StackPool<'static>, Stack<'static>, VmVec<'static, u8>))
    -> (Block<'s>, Slots<'s>, Slot<'s>, StackPool<'s>, Stack<'s>, VmVec<'s, u8>) { all }
let vm = VirtualMemory::builder().reserve(1 << 30).build().unwrap();",
        "let it = vm.alloc(4096, Zero::Yes).unwrap(); drop(it); drop(vm);" => "let it = vm.alloc(4096, Zero::Yes).unwrap(); drop(vm); drop(it);",
        "let it = VmVec::<u8>::with_reserve(&vm, 9).unwrap(); drop(it); drop(vm);"
            => "let it = VmVec::<u8>::with_reserve(&vm, 9).unwrap(); drop(vm); drop(it);",
        "let it = vm.slots(&SlotLayout::new(4096)).unwrap(); drop(it); drop(vm);"
            => "let it = vm.slots(&SlotLayout::new(4096)).unwrap(); drop(vm); drop(it);",
        "let it = vm.slots(&SlotLayout::new(4096)).unwrap(); let slot = it.get().unwrap(); drop(slot); drop(it);"
            => "let it = vm.slots(&SlotLayout::new(4096)).unwrap(); let slot = it.get().unwrap(); drop(it); drop(slot);",
        "let it = StackPool::new(&vm, 1 << 16).unwrap(); drop(it); drop(vm);"
            => "let it = StackPool::new(&vm, 1 << 16).unwrap(); drop(vm); drop(it);",
        "let it = StackPool::new(&vm, 1 << 16).unwrap(); let stack = it.get().unwrap(); drop(stack); drop(it);"
            => "let it = StackPool::new(&vm, 1 << 16).unwrap(); let stack = it.get().unwrap(); drop(it); drop(stack);";

    ElementsOutliveTheVectorThatDropsThem, "E0597": r#"
# use freehold_vmalloc::{VirtualMemory, VmVec};
let vm = VirtualMemory::builder().reserve(1 << 30).build().unwrap();
let new = || VmVec::with_reserve(&vm, 9).unwrap();
let text = || String::from("text");"#,
        "let (text, mut all) = (text(), new()); all.push(text.as_str()).unwrap();"
            => "let (mut all, text) = (new(), text()); all.push(text.as_str()).unwrap();";
}
