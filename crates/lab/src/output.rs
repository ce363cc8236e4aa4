//! Files that are written whole or not at all: beside their place, and renamed.

use crate::failure::usage;
use anyhow::{Context, anyhow, ensure};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where a file is written.
enum Place {
    /// No regular file is there, like `/dev/stdout`: it is written to as it is.
    Device(File),
    /// Beside the file.
    Beside(NamedTempFile, PathBuf),
}

/// Refuses to write over a file that is read.
///
/// # Errors
/// The file is one of those.
pub fn keep(read: impl IntoIterator<Item = impl AsRef<Path>>, file: &Path) -> anyhow::Result<()> {
    let Some(to) = fs::canonicalize(file).ok().filter(|to| to.is_file()) else { return Ok(()) };
    let is_read = read.into_iter().any(|read| fs::canonicalize(read).is_ok_and(|read| read == to));
    if is_read { usage(format!("{} is read: write to another file", file.display())) } else { Ok(()) }
}

/// Tries whether a file can be written, so that nothing is measured in vain. Nothing is made, and what is there stays.
///
/// # Errors
/// It cannot be written.
pub fn try_file(file: &Path) -> anyhow::Result<()> {
    place(file).map(drop).with_context(|| format!("{} cannot be written", file.display()))
}

/// Writes a file, and makes the folders that it lies in. If that fails, what was there stays.
///
/// # Errors
/// It cannot be written.
pub fn write(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    write_with(file, |out| Ok(out.write_all(content)?))
}

/// The same for what is made while it is written; if making it fails, what was there stays, too.
///
/// # Errors
/// It cannot be written, or not be made.
pub fn write_with<T>(
    file: &Path,
    make: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    file.parent().map_or(Ok(()), fs::create_dir_all).with_context(|| cannot(file))?;
    match place(file).with_context(|| cannot(file))? {
        Place::Device(device) => make(&mut Named(&device, file)),
        Place::Beside(beside, to) => {
            let made = make(&mut Named(beside.as_file(), file))?;
            beside.persist(to).with_context(|| cannot(file))?;
            Ok(made)
        }
    }
}

/// What is written to, and the name that errors have.
struct Named<'a>(&'a File, &'a Path);

impl Write for Named<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .write(bytes)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", cannot(self.1))))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn cannot(file: &Path) -> String {
    format!("{} cannot be written", file.display())
}

/// Opens what is written to: for a file, a temporary one in its folder, or in the nearest that there is.
fn place(file: &Path) -> anyhow::Result<Place> {
    if file == Path::new("-") {
        return usage("standard output has what a command says of the file; ./- is a file");
    }
    // A link stays one: what it leads to is replaced.
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if let Ok(there) = fs::metadata(&file) {
        ensure!(!there.is_dir(), "it is a folder");
        if !there.is_file() {
            return Ok(Place::Device(File::options().write(true).open(&file)?));
        }
        // A folder may let files be replaced that do not let themselves be written to.
        File::options().write(true).open(&file)?;
    }
    let mut folders = file.ancestors().skip(1);
    let folder = folders.find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let beside = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder);
    // Without the name of the file beside, which nobody has asked for.
    let beside = beside.map_err(|error| anyhow!("{}: {}", folder.display(), error.kind()))?;
    Ok(Place::Beside(beside, file))
}
