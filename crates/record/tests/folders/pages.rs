//! Writes what the kernel would: sub-buffers, format files, folders. It shares nothing with what reads them.

use std::fs;
use std::path::Path;

/// Fields that every record has.
pub(crate) const COMMON: &[Field] = &[
    ("unsigned short common_type", 0, 2, 0),
    ("unsigned char common_flags", 2, 1, 0),
    ("unsigned char common_preempt_count", 3, 1, 0),
    ("int common_pid", 4, 4, 1),
];

/// Declaration, offset, size, whether it is signed.
pub(crate) type Field = (&'static str, usize, usize, u8);

/// An event of some kernel.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) system: &'static str,
    pub(crate) name: &'static str,
    pub(crate) id: u16,
    pub(crate) fields: &'static [Field],
    pub(crate) print: &'static str,
}

impl Event {
    /// Its format file.
    pub(crate) fn format(&self) -> String {
        let line = |&(declaration, offset, size, signed): &Field| {
            format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n")
        };
        let common: String = COMMON.iter().map(line).collect();
        let own: String = self.fields.iter().map(line).collect();
        format!("name: {}\nID: {}\nformat:\n{common}\n{own}\nprint fmt: {}\n", self.name, self.id, self.print)
    }

    /// A record of a task with these values, by name.
    pub(crate) fn record(&self, tid: i32, values: &[(&str, u64)]) -> Vec<u8> {
        let len = self.fields.iter().map(|(_, offset, size, _)| offset + size).max().unwrap_or(8);
        let mut bytes = vec![0; len.next_multiple_of(4)];
        bytes[..2].copy_from_slice(&self.id.to_le_bytes());
        bytes[4..8].copy_from_slice(&tid.to_le_bytes());
        for (name, value) in values {
            let named =
                |(declaration, ..): &&Field| declaration.split([' ', '*', '[']).any(|word| word == *name);
            let (_, offset, size, _) = self.fields.iter().find(named).unwrap_or_else(|| panic!("{name}"));
            bytes[*offset..offset + size].copy_from_slice(&value.to_le_bytes()[..*size]);
        }
        bytes
    }
}

/// `events/header_page` for sub-buffers of this size.
pub(crate) fn header_page(size: usize) -> String {
    format!(
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
         \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
         \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
         \tfield: char data;\toffset:16;\tsize:{};\tsigned:0;\n",
        size - 16
    )
}

/// The sub-buffers of one CPU.
pub(crate) struct Pages {
    size: usize,
    whole: Vec<u8>,
    /// Records of the page at hand.
    data: Vec<u8>,
    start: u64,
    now: u64,
    lost: Option<Option<u64>>,
}

impl Pages {
    pub(crate) fn new(size: usize) -> Self {
        Self { size, whole: Vec::new(), data: Vec::new(), start: 0, now: 0, lost: None }
    }

    /// A record at this time, which is not before the one before.
    pub(crate) fn push(&mut self, time: u64, record: &[u8]) {
        // The longest that is written before a record: an extended time, and a length of its own.
        if self.data.len() + record.len() + 24 > self.size - 16 {
            self.end_page();
        }
        if self.data.is_empty() {
            (self.start, self.now) = (time, time);
        }
        let mut delta = time - self.now;
        if delta >= 1 << 27 {
            self.word(30 | (delta as u32 & 0x7ff_ffff) << 5);
            self.word((delta >> 27) as u32);
            delta = 0;
        }
        self.now = time;
        assert!(record.len().is_multiple_of(4) && delta < 1 << 27);
        if record.len() <= 112 {
            self.word((record.len() / 4) as u32 | (delta as u32) << 5);
        } else {
            self.word((delta as u32) << 5);
            self.word(record.len() as u32 + 4);
        }
        self.data.extend_from_slice(record);
    }

    /// Says the time as a whole.
    pub(crate) fn absolute(&mut self, time: u64) {
        if self.data.is_empty() {
            (self.start, self.now) = (time, time);
        }
        self.word(31 | (time as u32 & 0x7ff_ffff) << 5);
        self.word((time >> 27) as u32);
        self.now = time;
    }

    /// A record that was taken back: so many bytes without a meaning.
    pub(crate) fn padding(&mut self, bytes: u32) {
        self.word(29 | 1 << 5);
        self.word(bytes + 4);
        self.now += 1;
        self.data.extend(std::iter::repeat_n(0xa5, bytes as usize));
    }

    /// What follows comes after a gap.
    pub(crate) fn lose(&mut self, count: Option<u64>) {
        self.end_page();
        self.lost = Some(count);
    }

    fn word(&mut self, word: u32) {
        self.data.extend_from_slice(&word.to_le_bytes());
    }

    fn end_page(&mut self) {
        if self.data.is_empty() {
            return;
        }
        let lost = self.lost.take();
        let bits = match lost {
            Some(Some(_)) => 3u64 << 30,
            Some(None) => 1 << 31,
            None => 0,
        };
        let mut page = self.start.to_le_bytes().to_vec();
        page.extend((bits | self.data.len() as u64).to_le_bytes());
        page.append(&mut self.data);
        if let Some(Some(count)) = lost {
            page.extend(count.to_le_bytes());
        }
        page.resize(self.size, 0x77);
        self.whole.append(&mut page);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.end_page();
        self.whole
    }
}

/// Writes a folder: the file `recording`, format files, header_page, sub-buffers.
pub(crate) fn write_folder(folder: &Path, recording: &str, events: &[Event], page: usize, cpus: &[Vec<u8>]) {
    let at = folder.join("events");
    for event in events {
        let own = at.join(event.system).join(event.name);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("format"), event.format()).unwrap();
    }
    fs::write(at.join("header_page"), header_page(page)).unwrap();
    fs::write(folder.join("recording"), recording).unwrap();
    for (cpu, bytes) in cpus.iter().enumerate() {
        fs::write(folder.join(format!("cpu{cpu}.raw")), bytes).unwrap();
    }
}
