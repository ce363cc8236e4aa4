//! Mappings page by page, from the log of a recording: slow and plain.

use freehold_record::event::{Call, Event, File, Mapping, Source, What};
use std::collections::{BTreeMap, HashMap};

const PAGE: u64 = 4096;
const ANONYMOUS: u64 = 0x20;
const SHARED: u64 = 1;
const FIXED: u64 = 0x10;

/// A page: its access, whether it is shared, and what it shows.
pub(crate) type Page = (u32, bool, File, u64);

/// An address space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    pub(crate) pages: BTreeMap<u64, Page>,
    brk: Option<u64>,
}

impl Space {
    fn map(&mut self, start: u64, len: u64, mut page: Page) {
        for at in (start..start + len.next_multiple_of(PAGE)).step_by(PAGE as usize) {
            self.pages.insert(at, page);
            if page.2 != File::Anonymous {
                page.3 += PAGE;
            }
        }
    }

    fn unmap(&mut self, start: u64, len: u64) -> Vec<(u64, Page)> {
        let end = start + len.next_multiple_of(PAGE);
        let gone: Vec<_> = self.pages.range(start..end).map(|(at, page)| (*at, *page)).collect();
        for (at, _) in &gone {
            self.pages.remove(at);
        }
        gone
    }

    fn show(&mut self, mapping: &Mapping) {
        let page = (mapping.prot, mapping.shared, mapping.file, mapping.offset);
        self.map(mapping.start, mapping.end - mapping.start, page);
    }

    fn call(&mut self, call: Call, args: [u64; 6], ret: i64, file: File) {
        if call == Call::Brk {
            let new = ret as u64;
            if let Some(old) = self.brk.replace(new) {
                let (old_end, new_end) = (old.next_multiple_of(PAGE), new.next_multiple_of(PAGE));
                if new_end > old_end {
                    self.map(old_end, new_end - old_end, (3, false, File::Anonymous, 0));
                } else {
                    self.unmap(new_end, old_end - new_end);
                }
            }
            return;
        }
        if ret < 0 {
            return;
        }
        match call {
            Call::Mmap => {
                let end = ret as u64 + args[1].next_multiple_of(PAGE);
                let taken = self.pages.range(ret as u64..end).next();
                assert!(
                    args[3] & FIXED != 0 || taken.is_none(),
                    "the kernel chose {ret:x}, where {taken:x?} is"
                );
                let offset = if args[3] & ANONYMOUS == 0 { args[5] } else { 0 };
                self.map(ret as u64, args[1], (args[2] as u32 & 7, args[3] & SHARED != 0, file, offset));
            }
            Call::Munmap => drop(self.unmap(args[0], args[1])),
            Call::Mprotect => {
                let end = args[0] + args[1].next_multiple_of(PAGE);
                self.pages.range_mut(args[0]..end).for_each(|(_, page)| page.0 = args[2] as u32 & 7);
            }
            Call::Mremap => {
                let (old, new) = (args[1].next_multiple_of(PAGE), args[2].next_multiple_of(PAGE));
                let moved = self.unmap(args[0], old);
                let (_, last) = *moved.last().unwrap();
                self.unmap(ret as u64, new);
                for (at, page) in moved.iter().filter(|(at, _)| at - args[0] < new) {
                    self.pages.insert(at - args[0] + ret as u64, *page);
                }
                for at in (old..new).step_by(PAGE as usize) {
                    self.pages.insert(at + ret as u64, last);
                }
            }
            Call::Madvise | Call::Mseal => {}
            other => panic!("{other:?} is not of the model"),
        }
    }
}

/// The address spaces of all tasks at their ends, by task. Each is as it was when its last task ended.
pub(crate) fn replay(events: impl Iterator<Item = Event>) -> HashMap<u32, Space> {
    let mut spaces: Vec<Space> = Vec::new();
    let mut of: HashMap<u32, usize> = HashMap::new();
    let mut last = 0;
    for event in events {
        assert!(event.at >= last, "times do not go back");
        last = event.at;
        match event.what {
            What::Exec => {
                of.insert(event.tid, spaces.len());
                spaces.push(Space::default());
            }
            What::Fork { child, .. } => {
                // A child before its first exec has mappings of this process, which are not known.
                if let Some(&parent) = of.get(&event.tid) {
                    of.insert(child, spaces.len());
                    spaces.push(spaces[parent].clone());
                }
            }
            What::Thread { child, .. } => {
                if let Some(&parent) = of.get(&event.tid) {
                    of.insert(child, parent);
                }
            }
            What::KernelMapping(mapping) => spaces[of[&event.tid]].show(&mapping),
            What::Call { call, args, ret, file } => {
                // Before the first exec nothing is known.
                if let Some(&space) = of.get(&event.tid) {
                    spaces[space].call(call, args, ret, file);
                }
            }
            What::Exit => {}
            other => panic!("{other:?}: not of ptrace"),
        }
    }
    of.into_iter().map(|(task, space)| (task, spaces[space].clone())).collect()
}

/// The pages of such a list of mappings but those of the stack, which grows by itself.
pub(crate) fn pages_of(maps: &str) -> (BTreeMap<u64, Page>, Vec<Mapping>) {
    let mut space = Space::default();
    let mappings: Vec<_> = maps.lines().filter_map(parse_line).collect();
    let (stacks, others): (Vec<_>, Vec<_>) =
        mappings.into_iter().partition(|mapping| mapping.source == Source::Stack);
    others.iter().for_each(|mapping| space.show(mapping));
    (space.pages, stacks)
}

/// The mapping of a line of `/proc/PID/maps`; `None` if it is none of the process's own, as `[vsyscall]`.
fn parse_line(line: &str) -> Option<Mapping> {
    let mut rest = line;
    let mut word = || {
        let (word, others) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        rest = others;
        word
    };
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = word().split_once('-')?;
    let access = word().as_bytes();
    let offset = hex(word())?;
    let (major, minor) = word().split_once(':')?;
    let dev = hex(major)? << 32 | hex(minor)?;
    let inode: u64 = word().parse().ok()?;
    let name = rest.trim();
    let source = match name {
        "[vsyscall]" => return None,
        "[stack]" => Source::Stack,
        "[vdso]" => Source::Vdso,
        _ if name.starts_with("[vvar") => Source::Vvar,
        _ if inode != 0 => Source::File,
        "[heap]" => Source::Heap,
        _ => Source::Anon,
    };
    let prot = access.iter().fold(0, |prot, letter| match letter {
        b'r' => prot | 1,
        b'w' => prot | 2,
        b'x' => prot | 4,
        _ => prot,
    });
    Some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        prot,
        shared: access.get(3)? == &b's',
        source,
        file: if inode == 0 { File::Anonymous } else { File::Known { dev, inode } },
        offset,
    })
}
