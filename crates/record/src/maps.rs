//! Lines of `/proc/PID/maps`.

use crate::event::{File, Mapping, Source};

/// The mapping of a line; `None` if it is none of the process's own, as `[vsyscall]`, or has another format.
#[must_use]
pub fn parse_line(line: &str) -> Option<Mapping> {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let mapping = parse_line("7f00-8f00 r-xs 00002000 fe:00 247026    /usr/bin/a b (deleted)").unwrap();
        let file = File::Known { dev: 0xfe << 32, inode: 247_026 };
        let (start, end, offset) = (0x7f00, 0x8f00, 0x2000);
        assert_eq!(
            mapping,
            Mapping { start, end, prot: 5, shared: true, source: Source::File, file, offset }
        );
        let source = |name| {
            parse_line(&format!("1000-2000 rw-p 00000000 00:00 0      {name}")).map(|it| (it.source, it.file))
        };
        assert_eq!(source("[stack]"), Some((Source::Stack, File::Anonymous)));
        assert_eq!(source("[vvar_vclock]"), Some((Source::Vvar, File::Anonymous)));
        assert_eq!(source("[vdso]"), Some((Source::Vdso, File::Anonymous)));
        assert_eq!(source("[heap]"), Some((Source::Anon, File::Anonymous)));
        assert_eq!(source(""), Some((Source::Anon, File::Anonymous)));
        assert_eq!(source("[vsyscall]"), None);
        for wrong in ["", "1000", "1000-2000 rw 0 0:0 0", "1000-2000 rw-p x 0:0 0", "1000-2000 rw-p 0 0:0 x"]
        {
            assert_eq!(parse_line(wrong), None, "{wrong}");
        }
    }
}
