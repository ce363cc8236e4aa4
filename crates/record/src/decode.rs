//! Events by name and fields: whatever wrote them, tracefs, perf or a text, they have the same names.
//!
//! A field is asked for by all the names that it has in kernels and texts. One that is missing is an error where the event
//! means nothing without it, else a warning. Cost: the number of fields of the event; memory for one call of each task.

use crate::event::{Call, File, TreeOp, What};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The fields of one event.
pub(crate) trait Values {
    /// A number, sign extended; in a text with `0x` hexadecimal, else decimal.
    fn number(&self, name: &str) -> Option<u64>;

    /// A number that texts have in hexadecimal digits, with `0x` or without.
    fn hex(&self, name: &str) -> Option<u64>;

    /// A function of the kernel, by name or address; a text.
    fn text(&self, name: &str) -> Option<Rc<str>>;

    /// Whether the flags of an allocation charge a control group.
    fn accounted(&self, name: &str) -> Option<bool>;
}

/// Tasks whose calls have begun, at most.
const MOST_PENDING: usize = 1 << 20;
/// `MAP_ANONYMOUS`.
const MAP_ANONYMOUS: u64 = 0x20;

/// What decoding remembers between events.
#[derive(Default)]
pub(crate) struct Decoder {
    /// Calls that have not returned, by task.
    pending: HashMap<u32, Pending>,
    /// The source records system calls, as far as that is known by now.
    has_calls: bool,
    /// Events and fields that were missing.
    missing: BTreeSet<(String, &'static str)>,
    /// Calls that had begun before the first event, or whose begin was lost.
    headless: u64,
    /// Events that perf said to be lost where they were, and has not said again in the end.
    lost: u64,
}

/// A call that has not returned.
struct Pending {
    call: Call,
    args: [u64; 6],
    /// What it maps, if that was told meanwhile.
    file: Option<File>,
}

impl Decoder {
    /// A decoder for a source that is known to record system calls, or may do so.
    pub(crate) fn new(has_calls: bool) -> Self {
        Self { has_calls, ..Self::default() }
    }

    /// A mapping of this file is told within the task's call, if it is within one: whether it is none of a call.
    pub(crate) fn mapping(&mut self, tid: u32, file: File) -> bool {
        let Some(pending) = self.pending.get_mut(&tid) else { return true };
        pending.file = Some(file);
        false
    }

    /// Events that perf has lost. What it counts `in_the_end` it may have told of before.
    pub(crate) fn lost(&mut self, count: Option<u64>, in_the_end: bool) -> Option<What> {
        let number = count.unwrap_or(1);
        if !in_the_end {
            self.lost = self.lost.saturating_add(number);
            return Some(What::Lost { count });
        }
        let more = number.saturating_sub(self.lost);
        self.lost = self.lost.saturating_sub(number);
        (more > 0).then_some(What::Lost { count: count.map(|_| more) })
    }

    /// What the event says; nothing if it is of no use here, or tells only together with a later one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn decode(
        &mut self,
        tid: u32,
        name: &str,
        values: &impl Values,
    ) -> Result<Option<What>, String> {
        let mut asked = Asked { values, event: name, missing: &mut self.missing };
        let what = match name {
            "alloc_vmap_area" => asked.area_alloc()?,
            "free_vmap_area_noflush" => What::AreaFree {
                addr: asked.need(&["va_start"])?,
                nr_lazy: asked.need(&["nr_lazy"])?,
                nr_lazy_max: asked.need(&["nr_lazy_max"])?,
            },
            "purge_vmap_area_lazy" => What::AreaPurge {
                start: asked.need(&["start"])?,
                end: asked.need(&["end"])?,
                purged: asked.need(&["npurged", "num_purged"])?,
            },
            "percpu_create_chunk" | "percpu_destroy_chunk" => {
                What::Chunk { base: asked.need_hex(&["base_addr"])?, created: name == "percpu_create_chunk" }
            }
            "percpu_alloc_percpu" => asked.object_alloc()?,
            "percpu_free_percpu" => {
                What::ObjectFree { base: asked.need_hex(&["base_addr"])?, offset: asked.need(&["off"])? }
            }
            "percpu_alloc_percpu_fail" => What::ObjectFail {
                size: asked.need(&["size"])?,
                align: asked.need(&["align"])?,
                reserved: asked.need(&["reserved"])? != 0,
                atomic: asked.need(&["is_atomic"])? != 0,
            },
            "workqueue_execute_start" | "workqueue_execute_end" => {
                let Some(function) = asked.want_text("function") else { return Ok(None) };
                What::Work { start: name.ends_with("start"), function }
            }
            "ma_read" | "ma_write" | "ma_op" => asked.tree()?,
            // Outside of calls, the kernel searches while it executes a program, in a space that is not the task's yet.
            "vm_unmapped_area" if self.has_calls && !self.pending.contains_key(&tid) => return Ok(None),
            "vm_unmapped_area" => asked.gap_search()?,
            "task_newtask" => What::made(asked.task("pid")?, asked.need_hex(&["clone_flags"])?),
            "sched_process_exec" => What::Exec,
            "sched_process_exit" => What::Exit,
            _ => return self.call(tid, name, values),
        };
        what.check()?;
        Ok(Some(what))
    }

    /// A system call begins or returns.
    fn call(&mut self, tid: u32, name: &str, values: &impl Values) -> Result<Option<What>, String> {
        let (call, returns) = match (name.strip_prefix("sys_enter_"), name.strip_prefix("sys_exit_")) {
            (Some(call), _) => (call, false),
            (_, Some(call)) => (call, true),
            _ => return Ok(None),
        };
        let Some(call) = Call::named(call) else { return Ok(None) };
        if returns {
            let ret = values.number("ret").ok_or_else(|| format!("{name} has no field ret"))?;
            let Some(begun) = self.pending.remove(&tid).filter(|begun| begun.call == call) else {
                // The begin of an advice that changes nothing is filtered out.
                self.headless += u64::from(call != Call::Madvise);
                return Ok(None);
            };
            return Ok(Some(done(call, begun.args, ret.cast_signed(), begun.file)));
        }
        let mut args = [0; 6];
        for (arg, names) in args.iter_mut().zip(call.args()) {
            let found = names.split('|').find_map(|name| values.hex(name));
            *arg = found.ok_or_else(|| format!("{name} has no field {names}"))?;
        }
        self.has_calls = true;
        if self.pending.len() >= MOST_PENDING {
            return Err(format!("more than {MOST_PENDING} tasks are within calls"));
        }
        self.pending.insert(tid, Pending { call, args, file: None });
        Ok(None)
    }

    /// What was missing, a sentence each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> =
            self.missing.iter().map(|(event, field)| format!("{event} has no field {field}")).collect();
        if self.headless > 0 {
            warnings.push(format!("{} calls returned whose begin was not recorded", self.headless));
        }
        warnings
    }
}

/// A call that has returned; what it maps, if that was told.
pub(crate) fn done(call: Call, args: [u64; 6], ret: i64, file: Option<File>) -> What {
    let has_file = call == Call::Mmap && args[3] & MAP_ANONYMOUS == 0;
    let known = file.filter(|file| matches!(file, File::Known { .. }));
    let file = if has_file { known.unwrap_or(File::Unknown) } else { File::Anonymous };
    What::Call { call, args, ret, file }
}

/// The fields of one event, where missing ones are noted.
struct Asked<'a, V> {
    values: &'a V,
    event: &'a str,
    missing: &'a mut BTreeSet<(String, &'static str)>,
}

impl<V: Values> Asked<'_, V> {
    fn need(&self, names: &[&str]) -> Result<u64, String> {
        let found = names.iter().find_map(|name| self.values.number(name));
        found.ok_or_else(|| format!("{} has no field {}", self.event, names.join(" or ")))
    }

    fn need_hex(&self, names: &[&str]) -> Result<u64, String> {
        let found = names.iter().find_map(|name| self.values.hex(name));
        found.ok_or_else(|| format!("{} has no field {}", self.event, names.join(" or ")))
    }

    fn note<T>(&mut self, name: &'static str, found: Option<T>) -> Option<T> {
        if found.is_none() {
            self.missing.insert((self.event.to_owned(), name));
        }
        found
    }

    fn want_text(&mut self, name: &'static str) -> Option<Rc<str>> {
        let found = self.values.text(name);
        self.note(name, found)
    }

    fn task(&self, name: &'static str) -> Result<u32, String> {
        u32::try_from(self.need(&[name])?).map_err(|_| format!("{name} is no task"))
    }

    fn area_alloc(&mut self) -> Result<What, String> {
        let failed = self.values.number("failed");
        Ok(What::AreaAlloc {
            addr: self.need(&["addr", "va_start"])?,
            size: self.need(&["size"])?,
            align: self.need(&["align"])?,
            vstart: self.need(&["vstart"])?,
            vend: self.need(&["vend"])?,
            failed: self.note("failed", failed).unwrap_or(0) != 0,
        })
    }

    fn object_alloc(&mut self) -> Result<What, String> {
        let (bytes, accounted) = (self.values.number("bytes_alloc"), self.values.accounted("gfp_flags"));
        Ok(What::ObjectAlloc {
            base: self.need_hex(&["base_addr"])?,
            offset: self.need(&["off"])?,
            size: self.need(&["size"])?,
            align: self.need(&["align"])?,
            reserved: self.need(&["reserved"])? != 0,
            atomic: self.need(&["is_atomic"])? != 0,
            accounted: self.note("gfp_flags", accounted),
            bytes: self.note("bytes_alloc", bytes),
            site: self.want_text("call_site"),
        })
    }

    fn tree(&mut self) -> Result<What, String> {
        let op = match self.event {
            "ma_read" => TreeOp::Read,
            "ma_write" => TreeOp::Write { pivot: self.need(&["piv"])?, value: self.need_hex(&["val"])? },
            _ => TreeOp::Restructure,
        };
        Ok(What::Tree {
            op,
            function: self.want_text("fn").unwrap_or_else(|| Rc::from("unknown")),
            node: self.need_hex(&["node"])?,
            min: self.need(&["min"])?,
            max: self.need(&["max"])?,
            index: self.need(&["index"])?,
            last: self.need(&["last"])?,
        })
    }

    fn gap_search(&mut self) -> Result<What, String> {
        let (found, error) = (self.need(&["addr"])?.cast_signed(), self.values.number("err"));
        let error = error.map_or(0, u64::cast_signed);
        Ok(What::GapSearch {
            ret: if error < 0 { error } else { found },
            flags: self.need(&["flags"])?,
            len: self.need(&["length", "len"])?,
            low: self.need(&["low_limit", "lo"])?,
            high: self.need(&["high_limit", "hi"])?,
            align_mask: self.need(&["align_mask", "mask"])?,
            align_offset: self.need(&["align_offset", "ofs"])?,
        })
    }
}
