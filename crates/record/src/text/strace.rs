//! What `strace -f -ttt -e trace=memory,process` prints: `TID SECONDS.MICROS call(ARG, ...) = RET`.
//!
//! The number of the task and the time may be missing; a call that another task's line interrupts is in two lines, `<unfinished
//! ...>` and `<... call resumed>`. Constants are by name. Cost: linear in the line; memory for a line of each task.

use super::{Grammar, moment};
use crate::decode::{Decoder, done};
use crate::event::{CLONE_VM, Call, Event, What};
use std::collections::{HashMap, HashSet, VecDeque};

/// Tasks that are within calls, and bytes that are kept of such a line, at most.
const MOST_UNFINISHED: usize = 1 << 12;
const MOST_BYTES: usize = 1 << 12;
/// `CLONE_VM` and `CLONE_VFORK`.
const VFORK: u64 = 0x4100;

/// `MAP_HUGE_SHIFT`: the bit from which on flags tell the size of huge pages.
const HUGE_SHIFT: u32 = 26;

/// What the C library calls these, with its numbers.
macro_rules! of_libc {
    ($($name:ident)*) => { [$((stringify!($name), libc::$name as u64)),*] };
}

/// What arguments are made of. The arguments of a call are of one of these kinds, so all of them are one list.
const CONSTANTS: &[&[(&str, u64)]] = &[
    // What not every system's C library has.
    &[
        ("NULL", 0),
        ("PROT_SEM", 8),
        ("PROT_BTI", 0x10),
        ("PROT_MTE", 0x20),
        ("MAP_32BIT", 0x40),
        ("MAP_ABOVE4G", 0x80),
        ("MAP_UNINITIALIZED", 0x400_0000),
        ("MADV_COLLAPSE", 25),
        ("MADV_SOFT_OFFLINE", 101),
        ("MADV_GUARD_INSTALL", 102),
        ("MADV_GUARD_REMOVE", 103),
    ],
    &of_libc! { PROT_NONE PROT_READ PROT_WRITE PROT_EXEC PROT_GROWSDOWN PROT_GROWSUP },
    &of_libc! {
        MAP_SHARED MAP_PRIVATE MAP_SHARED_VALIDATE MAP_FIXED MAP_ANONYMOUS MAP_GROWSDOWN MAP_DENYWRITE
        MAP_EXECUTABLE MAP_LOCKED MAP_NORESERVE MAP_POPULATE MAP_NONBLOCK MAP_STACK MAP_HUGETLB MAP_SYNC
        MAP_FIXED_NOREPLACE MAP_DROPPABLE
    },
    &of_libc! { MREMAP_MAYMOVE MREMAP_FIXED MREMAP_DONTUNMAP },
    &of_libc! {
        MADV_NORMAL MADV_RANDOM MADV_SEQUENTIAL MADV_WILLNEED MADV_DONTNEED MADV_FREE MADV_REMOVE
        MADV_DONTFORK MADV_DOFORK MADV_MERGEABLE MADV_UNMERGEABLE MADV_HUGEPAGE MADV_NOHUGEPAGE
        MADV_DONTDUMP MADV_DODUMP MADV_WIPEONFORK MADV_KEEPONFORK MADV_COLD MADV_PAGEOUT
        MADV_POPULATE_READ MADV_POPULATE_WRITE MADV_DONTNEED_LOCKED MADV_HWPOISON
    },
];

/// What calls that change mappings fail with.
const ERRORS: &[(&str, u64)] = &of_libc! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST ENODEV EINVAL
    ENFILE EMFILE ETXTBSY ENOSPC ENOSYS EIDRM EOVERFLOW EOPNOTSUPP
};

/// The number of a name.
fn named(names: &[(&str, u64)], name: &str) -> Option<u64> {
    names.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// The grammar.
#[derive(Default)]
pub(crate) struct Strace {
    now: u64,
    /// The first half of lines that are not finished, by task.
    unfinished: HashMap<u32, String>,
    /// Tasks that had a line.
    seen: HashSet<u32>,
    /// Tasks whose call that makes another task has not returned, and `CLONE_*` of that call.
    cloning: Vec<(u32, u64)>,
}

impl Grammar for Strace {
    fn line(&mut self, text: &str, _: &mut Decoder, events: &mut VecDeque<Event>) -> Result<(), String> {
        let (tid, at, rest) = head(text);
        // What strace says itself, and call chains of `-k`, are of no task.
        if rest.starts_with("strace:") || rest.starts_with("> ") {
            return Ok(());
        }
        if rest.contains("(strace: ") && rest.ends_with(" attached") {
            return Err("strace says something within a call: have it write to a file, by -o FILE".to_owned());
        }
        self.now = at.unwrap_or(self.now).max(self.now);
        let event = |tid, what, at| Event { at, cpu: 0, tid, comm: None, what };
        if self.seen.insert(tid) && !self.cloning.is_empty() {
            // It runs before the call that made it has returned.
            let (parent, flags) = self.cloning.remove(0);
            events.push_back(event(parent, What::made(tid, flags), self.now));
        }
        if rest.is_empty() || rest.starts_with("---") {
            return Ok(());
        }
        if let Some(how) = rest.strip_prefix("+++") {
            // One whose number another thread has taken goes on as that.
            if !how.starts_with(" superseded") {
                self.unfinished.remove(&tid);
                self.cloning.retain(|(parent, _)| *parent != tid);
                events.push_back(event(tid, What::Exit, self.now));
            }
            return Ok(());
        }
        // A thread executes a program, and has the number of its process from now on.
        if let Some((first, process)) = renumbered(rest) {
            events.push_back(event(tid, What::Exit, self.now));
            return self.interrupt(process, first);
        }
        let joined;
        let rest = match rest.strip_prefix("<... ") {
            Some(second) => {
                let Some((_, second)) = second.split_once(" resumed>") else {
                    return Err("a call is resumed that has no name".to_owned());
                };
                let Some(first) = self.unfinished.remove(&tid) else { return Ok(()) };
                self.cloning.retain(|(parent, _)| *parent != tid);
                joined = first + second;
                &joined
            }
            None => rest,
        };
        if let Some(first) = rest.strip_suffix("<unfinished ...>") {
            return self.interrupt(tid, first);
        }
        if rest.ends_with("<detached ...>") {
            // strace was ended within the call.
            return Ok(());
        }
        let what = call(rest)?;
        if let Some(what) = what {
            what.check()?;
            events.push_back(event(tid, what, self.now));
        }
        Ok(())
    }
}

impl Strace {
    fn interrupt(&mut self, tid: u32, first: &str) -> Result<(), String> {
        if self.unfinished.len() >= MOST_UNFINISHED {
            return Err(format!("more than {MOST_UNFINISHED} tasks are within calls"));
        }
        // Calls that are longer have texts among their arguments, which are of no use.
        let first = &first[..first.floor_char_boundary(MOST_BYTES)];
        self.cloning.retain(|(parent, _)| *parent != tid);
        self.cloning.extend(clone_flags(first).map(|flags| (tid, flags)));
        self.unfinished.insert(tid, first.to_owned());
        Ok(())
    }
}

/// The call of a task that has another number when it returns, and that number.
fn renumbered(text: &str) -> Option<(&str, u32)> {
    let (first, process) = text.strip_suffix(" ...>")?.rsplit_once("<pid changed to ")?;
    Some((first, process.parse().ok()?))
}

/// Whether a line looks like one of strace's.
pub(crate) fn looks_like(text: &str) -> bool {
    let (_, at, rest) = head(text);
    let name = rest.split('(').next().unwrap_or_default();
    let is_call = rest.len() > name.len() && !name.is_empty();
    is_call && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        || at.is_some() && rest.starts_with("---")
}

/// The task and the moment, if they are there, and the rest.
fn head(text: &str) -> (u32, Option<u64>, &str) {
    let mut rest = text.trim();
    let mut tid = 0;
    if let Some((number, after)) = rest.strip_prefix("[pid").and_then(|after| after.split_once(']'))
        && let Ok(number) = number.trim().parse()
    {
        (tid, rest) = (number, after.trim_start());
    }
    if let Some((word, after)) = rest.split_once(' ')
        && let Ok(number) = word.parse()
    {
        (tid, rest) = (number, after.trim_start());
    }
    if let Some((word, after)) = rest.split_once(' ')
        && let Some(at) = time(word)
    {
        return (tid, Some(at), after.trim_start());
    }
    (tid, None, rest)
}

/// `SECONDS.MICROS`, or the time of day.
fn time(word: &str) -> Option<u64> {
    if let Some((hours, rest)) = word.split_once(':') {
        let (minutes, seconds) = rest.split_once(':')?;
        let seconds = if seconds.contains('.') { moment(seconds)? } else { moment(&format!("{seconds}.0"))? };
        let minutes = hours.parse::<u64>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?)?;
        return minutes.checked_mul(60_000_000_000)?.checked_add(seconds);
    }
    word.contains('.').then(|| moment(word)).flatten()
}

/// What a whole call says.
fn call(text: &str) -> Result<Option<What>, String> {
    let (name, rest) = text.split_once('(').ok_or("neither a call nor the end of a task")?;
    let (args, ret) = rest.rsplit_once(" = ").ok_or("the call has no result")?;
    let args = args.trim_end().strip_suffix(')').ok_or("the arguments do not end")?;
    let Some(call) = Call::named(name) else {
        let ret = result(ret).ok().flatten();
        if ["execve", "execveat"].contains(&name) {
            return Ok((ret == Some(0)).then_some(What::Exec));
        }
        let child = ret.and_then(|ret| u32::try_from(ret).ok()).filter(|child| *child != 0);
        return Ok(child.and_then(|child| Some(What::made(child, clone_flags(text)?))));
    };
    let Some(ret) = result(ret)? else { return Ok(None) };
    let mut values = [0; 6];
    let mut given = split(args).into_iter();
    for (value, (at, name)) in values.iter_mut().zip(call.args().iter().enumerate()) {
        let Some(text) = given.next() else {
            // The last argument of mremap stands only where it is used.
            if call == Call::Mremap && at == 4 {
                break;
            }
            return Err(format!("{} has no argument {name}", call.name()));
        };
        // What is no number here is of no use: iovecs, keys of segments.
        *value = match number(text) {
            Some(value) => value,
            None if matches!(call, Call::ProcessMadvise | Call::Shmat) => 0,
            None => return Err(format!("{name} is unreadable: {text:?}")),
        };
    }
    Ok(Some(done(call, values, ret, None)))
}

/// `CLONE_*` of a call that makes a task, as far as they tell what the task shares.
fn clone_flags(text: &str) -> Option<u64> {
    match text.split('(').next()? {
        "vfork" => Some(VFORK),
        "clone" | "clone2" | "clone3" if text.contains("CLONE_VM") => Some(CLONE_VM),
        "fork" | "clone" | "clone2" | "clone3" => Some(0),
        _ => None,
    }
}

/// `0x7f..`, `0`, `-1 ENOMEM (...)`, or `?` of a call that never returned.
fn result(text: &str) -> Result<Option<i64>, String> {
    let mut words = text.split_ascii_whitespace();
    let word = words.next().unwrap_or_default();
    if word == "?" {
        return Ok(None);
    }
    if word == "-1" {
        let name = words.next().unwrap_or_default();
        let errno = named(ERRORS, name).ok_or_else(|| format!("unknown error {name:?}"))?;
        return Ok(Some(-errno.cast_signed()));
    }
    let value = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => word.parse().ok(),
    };
    value.map(Some).ok_or_else(|| format!("the result is unreadable: {word:?}"))
}

/// The arguments, at commas outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start, mut parts) = (0u32, false, 0, Vec::new());
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

/// A number, a constant, or several of them joined by `|`. What `-y` adds to a file's number does not count, nor does what is said of a
/// constant that strace does not know.
fn number(text: &str) -> Option<u64> {
    let text = text.split_once("/*").map_or(text, |(text, _)| text.trim_end());
    let text = if text.ends_with('>') { text.split('<').next()? } else { text };
    text.split('|').try_fold(0, |all, word| {
        let constant = CONSTANTS.iter().find_map(|names| named(names, word));
        let hex = || u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        let pages =
            || word.strip_suffix("<<MAP_HUGE_SHIFT")?.parse::<u64>().ok()?.checked_mul(1 << HUGE_SHIFT);
        let decimal = || word.parse::<i64>().ok().map(i64::cast_unsigned);
        Some(all | constant.or_else(hex).or_else(pages).or_else(decimal)?)
    })
}
