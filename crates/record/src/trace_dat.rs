//! trace.dat, the file of trace-cmd, of version 6 and 7.
//!
//! Both hold what tracefs says: header_page, format files, names, and raw sub-buffers for each CPU. Version 6 has them one after
//! the other, version 7 in sections that options name by their place, compressed with zstd or not at all.
//! Source: the manual pages trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). Cost: a section of memory, at most 64 MiB, beside what
//! raw recordings take.

use crate::Error;
use crate::decode::Decoder;
use crate::folder::{Meta, Origin, lost_events};
use crate::raw::{Format, Layout, Meaning, Raw, Symbols};
use crate::recording::Recording;
use crate::snapshot::Snapshots;
use crate::source::Events;
use std::fs::File;
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How a file begins.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";
/// Bytes of a section that is read as a whole, at most.
const MOST_SECTION: u64 = 64 << 20;
/// Bytes of all sections at most, however often one is named.
const MOST_SECTIONS: u64 = 4 * MOST_SECTION;
/// Bytes of a chunk of compressed sub-buffers, at most.
const MOST_CHUNK: usize = 16 << 20;
/// CPUs, options and events at most.
const MOST: u32 = 1 << 16;

/// Numbers of sections and options of version 7.
mod id {
    pub(super) const DONE: u16 = 0;
    pub(super) const CPU_STATS: u16 = 2;
    pub(super) const BUFFER: u16 = 3;
    pub(super) const UNAME: u16 = 5;
    pub(super) const HEADER_INFO: u16 = 16;
    pub(super) const EVENT_FORMATS: u16 = 18;
    pub(super) const KALLSYMS: u16 = 19;
    pub(super) const CMDLINES: u16 = 21;
}

/// What was read so far.
struct Contents {
    meta: Meta,
    meaning: Meaning,
    layout: Option<Layout>,
    /// The sub-buffers of each CPU.
    cpus: Vec<(u32, PathBuf, Box<dyn Read>)>,
}

/// Opens a file.
///
/// # Errors
/// It cannot be read as what it is.
pub(crate) fn open(file: &Path) -> Result<Recording, Error> {
    let opened = File::open(file).map_err(Error::open(file))?;
    let mut contents = Contents {
        meta: Meta::unknown(Origin::TraceCmd),
        meaning: Meaning::default(),
        layout: None,
        cpus: Vec::new(),
    };
    let read = contents.read(file, &mut BufReader::new(opened));
    read.map_err(|error| Error::unfit(file, format!("trace.dat: {error}")))?;
    let layout = contents.layout.ok_or_else(|| Error::unfit(file, "trace.dat: no header_page"))?;
    let events = Events::new(Raw::new(contents.cpus, layout, contents.meaning, Decoder::default())?);
    Ok(Recording { meta: contents.meta, snapshots: Snapshots::default(), events })
}

fn odd(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

impl Contents {
    fn read(&mut self, file: &Path, reader: &mut BufReader<File>) -> io::Result<()> {
        let mut magic = vec![0; MAGIC.len()];
        reader.read_exact(&mut magic)?;
        let version = text(reader)?;
        if number(reader, 1)? != 0 {
            return Err(odd("the file of a big-endian machine"));
        }
        number(reader, 1)?;
        self.meta.page_bytes = number(reader, 4)?;
        match version.as_str() {
            "6" => self.read_6(file, reader),
            "7" => self.read_7(file, reader),
            _ => Err(odd(format!("version {version:?}; 6 and 7 are read"))),
        }
    }

    fn read_6(&mut self, file: &Path, reader: &mut BufReader<File>) -> io::Result<()> {
        self.part(id::HEADER_INFO, reader)?;
        for _ in 0..count(reader)? {
            block(reader, 8)?;
        }
        self.part(id::EVENT_FORMATS, reader)?;
        self.part(id::KALLSYMS, reader)?;
        block(reader, 4)?;
        self.part(id::CMDLINES, reader)?;
        let cpus = count(reader)?;
        self.meta.online = cpus;
        let mut what = fixed(reader, 10)?;
        if what == "options  \0" {
            loop {
                let option = number(reader, 2)? as u16;
                if option == id::DONE {
                    break;
                }
                let data = bytes(reader, 4)?;
                self.option(option, &data)?;
            }
            what = fixed(reader, 10)?;
        }
        if what != "flyrecord\0" {
            return Err(odd(format!("{what:?} where the sub-buffers should be")));
        }
        for cpu in 0..cpus {
            let (offset, size) = (number(reader, 8)?, number(reader, 8)?);
            self.cpus.push((cpu, file.to_owned(), plain(file, offset, size)?));
        }
        Ok(())
    }

    fn read_7(&mut self, file: &Path, reader: &mut BufReader<File>) -> io::Result<()> {
        let compression = text(reader)?;
        text(reader)?;
        if !["none", "zstd"].contains(&compression.as_str()) {
            return Err(odd(format!("compressed with {compression}: make it anew with --compression zstd")));
        }
        let (mut next, mut options, mut left) = (number(reader, 8)?, 0, MOST_SECTIONS);
        let mut buffers = Vec::new();
        while next != 0 {
            let mut section = Cursor::new(section(reader, next, id::DONE, &mut left)?);
            next = loop {
                options += 1;
                if options > MOST {
                    return Err(odd(format!("more than {MOST} options")));
                }
                let option = number(&mut section, 2)? as u16;
                let data = bytes(&mut section, 4)?;
                let place = || number(&mut Cursor::new(&data), 8);
                match option {
                    id::DONE => break place()?,
                    id::BUFFER => buffers.push(data),
                    id::HEADER_INFO | id::EVENT_FORMATS | id::KALLSYMS | id::CMDLINES => {
                        let part = self::section(reader, place()?, option, &mut left)?;
                        self.part(option, &mut Cursor::new(part))?;
                    }
                    _ => self.option(option, &data)?,
                }
            };
        }
        buffers.iter().try_for_each(|buffer| self.buffer(file, reader, buffer))
    }

    /// What is of use of options that both versions have.
    fn option(&mut self, option: u16, data: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(data);
        let text = text.trim_end_matches('\0');
        match option {
            id::UNAME => {
                let mut words = text.split(' ').skip(2);
                words.next().unwrap_or("unknown").clone_into(&mut self.meta.release);
                text.rsplit(' ').next().unwrap_or("unknown").clone_into(&mut self.meta.arch);
            }
            id::CPU_STATS => {
                let number = text.lines().find_map(|line| line.strip_prefix("CPU:")?.trim().parse().ok());
                let cpu = number.unwrap_or(self.meta.lost.len() as u32);
                if self.meta.lost.len() < MOST as usize {
                    let lost = lost_events(text)
                        .ok_or_else(|| odd("statistics that do not say how many events were lost"))?;
                    self.meta.lost.insert(cpu, lost);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A part that both versions have: in version 6 in its place, in version 7 as a section of this number.
    fn part(&mut self, part: u16, reader: &mut impl Read) -> io::Result<()> {
        match part {
            id::HEADER_INFO => self.header(reader)?,
            id::EVENT_FORMATS => self.formats(reader)?,
            id::KALLSYMS => self.meaning.symbols = Symbols::parse(&block(reader, 4)?),
            _ => self.meaning.read_tasks(&block(reader, 8)?),
        }
        Ok(())
    }

    fn header(&mut self, reader: &mut impl Read) -> io::Result<()> {
        if text(reader)? != "header_page" {
            return Err(odd("no header_page where it should be"));
        }
        self.layout = Some(Layout::parse(&block(reader, 8)?).map_err(odd)?);
        text(reader)?;
        block(reader, 8)?;
        Ok(())
    }

    fn formats(&mut self, reader: &mut impl Read) -> io::Result<()> {
        for _ in 0..count(reader)? {
            let system = text(reader)?;
            for _ in 0..count(reader)? {
                let format = Format::parse(&block(reader, 8)?);
                let format =
                    format.map_err(|(line, what)| odd(format!("format of {system}:{line}: {what}")))?;
                self.meaning.formats.insert(format.id, format);
            }
        }
        Ok(())
    }

    /// The sub-buffers of an instance: where they are for each CPU.
    fn buffer(&mut self, file: &Path, reader: &mut BufReader<File>, option: &[u8]) -> io::Result<()> {
        let mut option = Cursor::new(option);
        let place = number(&mut option, 8)?;
        text(&mut option)?;
        text(&mut option)?;
        // The size of a sub-buffer; version 7 has it since its first release, its manual does not.
        number(&mut option, 4)?;
        let cpus = count(&mut option)?;
        self.meta.online = self.meta.online.max(cpus);
        let compressed = section_header(reader, place)?.1;
        for _ in 0..cpus {
            let cpu = number(&mut option, 4)? as u32;
            let (offset, size) = (number(&mut option, 8)?, number(&mut option, 8)?);
            let plain = plain(file, offset, size)?;
            let reader: Box<dyn Read> =
                if compressed && size > 0 { Box::new(Chunks::new(plain)?) } else { plain };
            self.cpus.push((cpu, file.to_owned(), reader));
        }
        Ok(())
    }
}

/// A part of the file.
fn plain(file: &Path, offset: u64, size: u64) -> io::Result<Box<dyn Read>> {
    let mut reader = File::open(file)?;
    reader.seek(SeekFrom::Start(offset))?;
    Ok(Box::new(BufReader::new(reader).take(size)))
}

/// Compressed sub-buffers: a count of chunks, and for each its compressed size, its size, and the data.
struct Chunks {
    reader: Box<dyn Read>,
    left: u32,
    chunk: Cursor<Vec<u8>>,
}

impl Chunks {
    fn new(mut reader: Box<dyn Read>) -> io::Result<Self> {
        let left = number(&mut reader, 4)? as u32;
        Ok(Self { reader, left, chunk: Cursor::default() })
    }
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(buffer)?;
            if read > 0 || self.left == 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.left -= 1;
            self.chunk = Cursor::new(compressed(&mut self.reader)?);
        }
    }
}

/// Reads sizes and data of something compressed.
fn compressed(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let (packed, size) = (number(reader, 4)?, number(reader, 4)? as usize);
    if size > MOST_CHUNK {
        return Err(odd(format!("{size} bytes are compressed together; at most {MOST_CHUNK} are read")));
    }
    let packed = exactly(reader, packed)?;
    let unpacked = zstd::bulk::decompress(&packed, size)?;
    if unpacked.len() == size { Ok(unpacked) } else { Err(odd("compressed data of another size")) }
}

/// The number, whether it is compressed, and the size of the section at this place, whose content is next.
fn section_header(reader: &mut BufReader<File>, place: u64) -> io::Result<(u16, bool, u64)> {
    reader.seek(SeekFrom::Start(place))?;
    let (id, flags) = (number(reader, 2)? as u16, number(reader, 2)?);
    number(reader, 4)?;
    Ok((id, flags & 1 != 0, number(reader, 8)?))
}

/// The content of a section, of which there may be so many bytes more.
fn section(reader: &mut BufReader<File>, place: u64, id: u16, left: &mut u64) -> io::Result<Vec<u8>> {
    let (found, is_compressed, size) = section_header(reader, place)?;
    if found != id {
        return Err(odd(format!("section {found} where section {id} should be")));
    }
    let bytes = if is_compressed { compressed(reader) } else { exactly(reader, size) }?;
    let rest = left.checked_sub(bytes.len() as u64);
    *left = rest.ok_or_else(|| odd(format!("sections of more than {} MiB", MOST_SECTIONS >> 20)))?;
    Ok(bytes)
}

/// So many bytes; memory is taken as they arrive.
fn exactly(reader: &mut impl Read, size: u64) -> io::Result<Vec<u8>> {
    if size > MOST_SECTION {
        return Err(odd(format!("a part of {size} bytes; at most {MOST_SECTION} are read")));
    }
    let mut bytes = Vec::new();
    let read = reader.take(size).read_to_end(&mut bytes)?;
    if read as u64 == size { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// A number of so many bytes.
fn number(reader: &mut impl Read, bytes: usize) -> io::Result<u64> {
    let mut whole = [0; 8];
    reader.read_exact(&mut whole[..bytes])?;
    Ok(u64::from_le_bytes(whole))
}

/// A number of things.
fn count(reader: &mut impl Read) -> io::Result<u32> {
    let count = number(reader, 4)? as u32;
    if count > MOST { Err(odd(format!("{count} things; at most {MOST} are read"))) } else { Ok(count) }
}

/// Bytes behind their number, which has `size` bytes.
fn bytes(reader: &mut impl Read, size: usize) -> io::Result<Vec<u8>> {
    let len = number(reader, size)?;
    exactly(reader, len)
}

/// The same as text.
fn block(reader: &mut impl Read, size: usize) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&bytes(reader, size)?).into_owned())
}

/// A text of so many bytes.
fn fixed(reader: &mut impl Read, len: u64) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&exactly(reader, len)?).into_owned())
}

/// A text that ends with a zero byte.
fn text(reader: &mut impl Read) -> io::Result<String> {
    let mut text = Vec::new();
    loop {
        match number(reader, 1)? {
            0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
            _ if text.len() > 255 => return Err(odd("a name that does not end")),
            byte => text.push(byte as u8),
        }
    }
}
