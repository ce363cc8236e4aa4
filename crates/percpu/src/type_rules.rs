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
    SetsAreSentAsTheirBackingMayBe, "E0277": r"
# use freehold_percpu::{Backing, ChunkSet, FirstFit};
# use std::cell::Cell;
fn send<T: Send>() {}
fn sync<T: Sync>() {}
struct Memory<T>(T);
impl<T> Backing for Memory<T> {}",
        "send::<ChunkSet<FirstFit, Memory<Cell<u8>>>>();" => "send::<ChunkSet<FirstFit, Memory<*const u8>>>();",
        "sync::<ChunkSet<FirstFit, Memory<u8>>>();" => "sync::<ChunkSet<FirstFit, Memory<Cell<u8>>>>();";

    SetsAreCovariantInTheirBacking, "E0308": r"
# use freehold_percpu::{Backing, ChunkSet, FirstFit};
type Narrow = for<'a> fn(&'a u8);
type Wide = fn(&'static u8);
struct Memory<T>(T);
impl<T> Backing for Memory<T> {}",
        "fn f(it: ChunkSet<FirstFit, Memory<Narrow>>) -> ChunkSet<FirstFit, Memory<Wide>> { it }"
            => "fn f(it: ChunkSet<FirstFit, Memory<Wide>>) -> ChunkSet<FirstFit, Memory<Narrow>> { it }";
}

#[cfg(feature = "std")]
rules! {
    // As references to their values. A value that is changed through `&self`, as an atomic is, is invariant itself.
    NamesOfObjectsAreCovariant, "E0308": r"
# use freehold_percpu::heap::{PerCpu, PerCpuBox, Zeroed};
type Narrow = Plain<for<'a> fn(&'a u8)>;
type Wide = Plain<fn(&'static u8)>;
struct Plain<T>(Option<T>);
unsafe impl<T: Sync> Zeroed for Plain<T> {}",
        "fn f(it: PerCpu<'_, Narrow>) -> PerCpu<'_, Wide> { it }" => "fn f(it: PerCpu<'_, Wide>) -> PerCpu<'_, Narrow> { it }",
        "fn f(it: PerCpuBox<'_, Narrow>) -> PerCpuBox<'_, Wide> { it }"
            => "fn f(it: PerCpuBox<'_, Wide>) -> PerCpuBox<'_, Narrow> { it }";

    ObjectsThatTakeValuesStayInvariant, "E0308": r"
# use freehold_percpu::heap::{PerCpu, PerCpuBox, Zeroed};
# use std::marker::PhantomData;
# use std::sync::{Mutex, atomic::AtomicUsize};
type Narrow = Takes<for<'a> fn(&'a u8)>;
type Wide = Takes<fn(&'static u8)>;
struct Takes<T>(AtomicUsize, PhantomData<Mutex<T>>);
unsafe impl<T: Send> Zeroed for Takes<T> {}",
        "fn f(it: PerCpu<'_, Narrow>) -> PerCpu<'_, Narrow> { it }" => "fn f(it: PerCpu<'_, Narrow>) -> PerCpu<'_, Wide> { it }",
        "fn f(it: PerCpuBox<'_, Narrow>) -> PerCpuBox<'_, Narrow> { it }"
            => "fn f(it: PerCpuBox<'_, Narrow>) -> PerCpuBox<'_, Wide> { it }";

    ObjectsAreSharedByThreads, "E0277": r"
# use freehold_percpu::{ApproxCounter, ApproxGauge, Counter, Gauge, Histogram, Value, registry::Registry};
# use freehold_percpu::heap::{PerCpu, PerCpuBox, PerCpuHeap, Zeroed};
# use std::{cell::Cell, sync::atomic::AtomicU32};
fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn clone<T: Clone>() {}
fn zeroed<T: Zeroed>() {}",
        "zeroed::<[AtomicU32; 3]>();" => "zeroed::<[Cell<u32>; 3]>();",
        "send::<PerCpu<'_, AtomicU32>>();" => "send::<PerCpu<'_, Cell<u32>>>();",
        "sync::<PerCpu<'_, AtomicU32>>();" => "sync::<PerCpu<'_, Cell<u32>>>();",
        "clone::<PerCpu<'_, AtomicU32>>();" => "clone::<PerCpuBox<'_, AtomicU32>>();",
        "send::<PerCpuBox<'_, AtomicU32>>();" => "clone::<PerCpuBox<'_, AtomicU32>>();",
        "send::<PerCpuHeap>();" => "clone::<PerCpuHeap>();",
        "sync::<PerCpuHeap>();" => "clone::<PerCpuHeap>();",
        "sync::<(Counter, ApproxCounter)>();" => "clone::<Counter>();",
        "sync::<(Gauge, ApproxGauge)>();" => "clone::<ApproxCounter>();",
        "sync::<(Histogram, Value, Registry)>();" => "clone::<Histogram>();";

    ObjectsEndBeforeTheirHeap, "E0505": r"
# use freehold_percpu::heap::{PerCpu, PerCpuBox, PerCpuHeap};
# use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// Each converts to a shorter lifetime.
fn shorter<'s>(all: (PerCpu<'static, AtomicU32>, PerCpuBox<'static, AtomicU32>))
    -> (PerCpu<'s, AtomicU32>, PerCpuBox<'s, AtomicU32>) { all }
let heap = PerCpuHeap::new().unwrap();",
        "let it = heap.alloc::<AtomicU32>().unwrap(); it.this_cpu(); drop(heap);"
            => "let it = heap.alloc::<AtomicU32>().unwrap(); drop(heap); it.this_cpu();",
        "let it = heap.alloc::<AtomicU32>().unwrap().this_cpu(); it.load(Relaxed); drop(heap);"
            => "let it = heap.alloc::<AtomicU32>().unwrap().this_cpu(); drop(heap); it.load(Relaxed);",
        "let it = heap.alloc_boxed::<AtomicU32>().unwrap(); drop(it); drop(heap);"
            => "let it = heap.alloc_boxed::<AtomicU32>().unwrap(); drop(heap); drop(it);",
        "let it = heap.alloc_boxed::<AtomicU32>().unwrap(); let value = it.this_cpu(); value.load(Relaxed); drop(it);"
            => "let it = heap.alloc_boxed::<AtomicU32>().unwrap(); let value = it.this_cpu(); drop(it); value.load(Relaxed);";

    BoxedObjectsEndBeforeWhatTheyBorrow, "E0597": r"
# use freehold_percpu::heap::{PerCpuBox, PerCpuHeap, Zeroed};
# use std::marker::PhantomData;
# use std::sync::{Mutex, atomic::AtomicUsize};
/// An address of what is borrowed.
struct Points<'s>(AtomicUsize, PhantomData<Mutex<&'s u8>>);
unsafe impl Zeroed for Points<'_> {}
fn point<'s>(to: &PerCpuBox<'_, Points<'s>>, at: &'s u8) { to.this_cpu().0.store(&raw const *at as usize, std::sync::atomic::Ordering::Relaxed); }
let heap = PerCpuHeap::new().unwrap();",
        "let (at, it) = (7, heap.alloc_boxed().unwrap()); point(&it, &at);"
            => "let (it, at) = (heap.alloc_boxed().unwrap(), 7); point(&it, &at);";

    // What a counter lies in is never given back.
    CountersLieInHeapsThatStay, "E0597": r"
# use freehold_percpu::{Counter, heap::PerCpuHeap};
let heap = PerCpuHeap::new().unwrap();",
        "let counter = Counter::in_heap(Box::leak(Box::new(heap))).unwrap();" => "let counter = Counter::in_heap(&heap).unwrap();";
}
