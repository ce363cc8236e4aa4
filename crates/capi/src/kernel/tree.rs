//! The tree behind a `struct maple_tree`: made at its first store, freed once nobody can read it.
//!
//! Readers load `ma_root` under a guard and read the map. A destroyed tree is taken out of its place first and freed a
//! grace period later.

use super::entry::Entry;
use super::rcu::{self, rcu_head};
use crate::handle::boxed;
use crate::memory::Aside;
use freehold::maple::{MapleTree, WordMap};
use freehold::rcu as epochs;
use freehold::units::Span;
use freehold_linux::Error;
use freehold_linux::maple::{Flags, Item, Planned, SharedMap, SharedPlan, Tree};
use freehold_sys::fork::{self, Held};
use std::ffi::c_uint;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const ALLOC_RANGE: c_uint = 1;
const USE_RCU: c_uint = 2;

/// The head of `struct maple_tree`. Its lock is the C program's: the header takes it.
#[repr(C)]
pub struct fhk_tree {
    /// A [`Kernel`]; NULL until the first store. Release stores pair with the Acquire load of `kernel`.
    root: AtomicPtr<Kernel>,
    /// `ma_flags`.
    flags: AtomicU32,
}

/// What is made for a tree that has entries.
#[repr(C)]
pub(super) struct Kernel {
    /// First: a callback frees the whole by it.
    head: rcu_head,
    /// Between two stores at most one thread is here, as the C program's lock has it; a program without that lock
    /// waits here and breaks nothing.
    writer: Mutex<Writer>,
    pub(super) map: SharedMap<'static, Entry>,
    /// The same, as it came from its box.
    allocated: *mut MapleTree<Option<Entry>>,
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // The planned store refers to the map.
        self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).plan = None;
        // SAFETY: the map came from a box in `new`, and whoever else refers to it does not use it any more.
        drop(unsafe { Box::from_raw(self.allocated) });
    }
}

/// The calls over a shared map of pointers.
pub(super) type KernelTree = Tree<Entry, SharedMap<'static, Entry>>;

/// The writer's side, locked in a section that no `fork` falls into.
type Locked<'t> = Held<MutexGuard<'t, Writer>>;

/// The writer's side of a tree.
pub(super) struct Writer {
    plan: Option<Plan>,
    pub(super) tree: KernelTree,
}

/// Planned stores so far, in all trees: a cursor of a tree that was destroyed has no other's number.
static PLANS: AtomicU64 = AtomicU64::new(0);

/// A planned store: what `mas_preallocate` leaves for `mas_store_prealloc`. Any other store cancels it.
struct Plan {
    number: u64,
    span: Span,
    item: Item<Entry>,
    planned: SharedPlan<'static, Entry>,
}

/// What a tree without a `Kernel` reads as.
pub(super) static EMPTY: WordMap<Option<Entry>> = WordMap::new();

impl fhk_tree {
    /// What readers read; `None` for a tree that nothing was stored in. The caller holds a guard for as long as it uses
    /// the result.
    pub(super) fn kernel(&self) -> Option<&Kernel> {
        // Acquire: pairs with the Release of `make`.
        let kernel = self.root.load(Ordering::Acquire);
        // SAFETY: it is null or a `Kernel` that is not freed while the caller's guard lives, or while the caller has
        // the tree's lock, without which nobody destroys it.
        unsafe { kernel.as_ref() }
    }

    /// The writer's side of the tree, which is made if there is none yet. Any planned store is cancelled.
    pub(super) fn writer(&self) -> Result<Locked<'_>, Error> {
        let mut writer = self.writer_with_plan()?;
        writer.plan = None;
        Ok(writer)
    }

    /// The same, with the planned store.
    pub(super) fn writer_with_plan(&self) -> Result<Locked<'_>, Error> {
        let kernel = match self.kernel() {
            Some(kernel) => kernel,
            None => self.make()?,
        };
        Ok(self.lock(kernel))
    }

    /// The same, if the tree is made already: for calls that change nothing in an empty one.
    pub(super) fn made_writer(&self) -> Option<Locked<'_>> {
        self.kernel().map(|kernel| self.lock(kernel))
    }

    fn lock<'t>(&self, kernel: &'t Kernel) -> Locked<'t> {
        let mut writer = fork::lock(|| kernel.writer.lock());
        writer.tree.set_flags(self.flags());
        writer
    }

    fn make(&self) -> Result<&Kernel, Error> {
        let made = boxed(Kernel::new()?).map_err(|_| Error::NoMemory)?;
        let made = Box::into_raw(made);
        // Release: pairs with the Acquire of `kernel`.
        let put = self.root.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
        if put.is_err() {
            // SAFETY: `made` came from a box, and nobody else has it.
            drop(unsafe { Box::from_raw(made) });
        }
        self.kernel().ok_or(Error::NoMemory)
    }

    /// `ma_flags`.
    pub(super) fn bits(&self) -> c_uint {
        // Relaxed: flags order nothing.
        self.flags.load(Ordering::Relaxed)
    }

    /// The kind of the tree.
    pub(super) fn flags(&self) -> Flags {
        let flags = self.bits();
        Flags { alloc_range: flags & ALLOC_RANGE != 0, use_rcu: flags & USE_RCU != 0 }
    }

    /// Takes the tree out of its place. It is freed at once if nobody reads, else by a callback after the readers.
    pub(super) fn destroy(&self) {
        let kernel = self.root.swap(ptr::null_mut(), Ordering::AcqRel);
        if kernel.is_null() {
            return;
        }
        match epochs::Domain::global().synchronize_for(Duration::ZERO) {
            // SAFETY: it came from a box, it is in no tree any more, and all guards have ended that could reach it.
            Ok(()) => drop(unsafe { Box::from_raw(kernel) }),
            // The head is the first field of a `Kernel` that nobody reaches any more but its readers.
            Err(_) => rcu::call(kernel.cast(), Some(free)),
        }
    }
}

/// Frees a tree whose readers have left.
unsafe extern "C" fn free(head: *mut rcu_head) {
    // SAFETY: `destroy` gave the head of a `Kernel` that came from a box.
    drop(unsafe { Box::from_raw(head.cast::<Kernel>()) });
}

impl Kernel {
    fn new() -> Result<Self, Error> {
        // The map's two lists of chunks are in `Arc`s, which abort without memory.
        let _aside = Aside::new(2, 1024).map_err(|_| Error::NoMemory)?;
        // No limit: the kernel's nodes wait for readers, however many they are.
        let map = MapleTree::builder().backlog_limit(usize::MAX).build();
        let map = boxed(map).map_err(|_| Error::NoMemory)?;
        // The `Kernel` frees it when it is dropped. Nothing that refers to it leaves the `Kernel`.
        let allocated = Box::into_raw(map);
        // SAFETY: it came from a box, and is not freed before the `Kernel` is dropped.
        let map: SharedMap<'static, Entry> = unsafe { &*allocated };
        let tree = Tree::with_map(Flags::default(), map);
        let writer = Mutex::new(Writer { plan: None, tree });
        Ok(Self { head: rcu_head::NONE, writer, map, allocated })
    }
}

impl Writer {
    /// Plans a store. Returns its number.
    pub(super) fn plan(&mut self, span: Span, item: Item<Entry>) -> Result<u64, Error> {
        self.plan = None;
        let planned = SharedPlan::new(self.tree.map(), span, item).map_err(|refused| refused.cause)?;
        // Relaxed: a number orders nothing.
        let number = PLANS.fetch_add(1, Ordering::Relaxed) + 1;
        self.plan = Some(Plan { number, span, item, planned });
        Ok(number)
    }

    /// Makes the planned store, if it is that number's and for that range and item; else cancels it. Returns where the
    /// cursor lands.
    pub(super) fn commit(&mut self, number: u64, span: Span, item: Item<Entry>) -> Option<Span> {
        let plan = self.plan.take()?;
        (plan.number == number && plan.span == span && plan.item == item).then(|| plan.planned.commit())
    }

    /// Cancels the planned store, if it is that number's.
    pub(super) fn cancel(&mut self, number: u64) {
        self.plan.take_if(|plan| plan.number == number);
    }
}
