//! How this program is started once more: for callgrind, for engines in processes of their own, for what is measured apart.

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::OnceLock;

/// Set where the program is no file of its own.
static COMMAND: OnceLock<Vec<OsString>> = OnceLock::new();

/// The program is started by this command and arguments, not by the file that runs: it is a library of that. The first call counts.
pub fn is_started_by(command: Vec<OsString>) {
    COMMAND.get_or_init(|| command);
}

/// The command and the arguments that start it, before arguments of its own.
///
/// # Errors
/// The file that runs is not known.
pub fn words() -> io::Result<Vec<OsString>> {
    COMMAND.get().cloned().map_or_else(|| Ok(vec![std::env::current_exe()?.into_os_string()]), Ok)
}

/// The same to add arguments to.
///
/// # Errors
/// As of [`words`].
pub fn command() -> io::Result<Command> {
    let words = words()?;
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}
