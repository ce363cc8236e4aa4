//! Changes to the machine, each with what undoes it; or a plan of them.
//!
//! The same code records and plans, so a plan tells what a recording does. The instance is removed when [`Hands`] is dropped, however the
//! recording ends; a setting of the machine is put back by the call that changes it.

use super::failure::Failure;
use super::machine::Machine;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What changes the machine.
#[derive(Debug)]
pub(crate) struct Hands<'m> {
    pub(crate) machine: &'m Machine,
    /// The lines of the plan, if nothing is to be changed.
    plan: Option<Vec<String>>,
    /// The instance that was made.
    instance: Option<PathBuf>,
}

impl<'m> Hands<'m> {
    /// Hands that change the machine, or only say what they would change.
    pub(crate) fn new(machine: &'m Machine, only_plan: bool) -> Self {
        Self { machine, plan: only_plan.then(Vec::new), instance: None }
    }

    /// Whether nothing is to be changed.
    pub(crate) fn only_plan(&self) -> bool {
        self.plan.is_some()
    }

    /// A line of the plan; false if this is no plan.
    pub(crate) fn planned(&mut self, line: impl FnOnce() -> String) -> bool {
        if let Some(plan) = &mut self.plan {
            plan.push(line());
        }
        self.plan.is_some()
    }

    /// The lines of the plan, with what would be undone.
    pub(crate) fn into_plan(mut self) -> Vec<String> {
        if let Some(instance) = self.instance.take() {
            let shown = self.machine.shown(&instance);
            self.planned(|| format!("undo    remove {}", shown.display()));
        }
        self.plan.take().unwrap_or_default()
    }

    /// Makes an instance, which is removed at the end.
    pub(crate) fn make_instance(&mut self, instance: &Path) -> Result<(), Failure> {
        let shown = self.machine.shown(instance);
        if !self.planned(|| format!("make    {}", shown.display())) {
            fs::create_dir(instance).map_err(Failure::change(&shown, "made"))?;
        }
        self.instance = Some(instance.to_owned());
        match &self.machine.template {
            Some(template) if !self.only_plan() => {
                link_all(template, instance).map_err(Failure::file(instance, "filled"))
            }
            _ => Ok(()),
        }
    }

    /// Removes an instance that another process has left. One that is read is of a process in another PID namespace, and stays.
    pub(crate) fn remove_instance(&mut self, instance: &Path) -> Result<(), Failure> {
        let shown = self.machine.shown(instance);
        if self.planned(|| format!("remove  {}: its process is gone", shown.display())) {
            return Ok(());
        }
        match remove(self.machine, instance) {
            Err(reason) if reason.kind() == io::ErrorKind::ResourceBusy => Ok(()),
            removed => removed.map_err(Failure::file(&shown, "removed")),
        }
    }

    /// Writes a text to a file of the kernel.
    pub(crate) fn write(&mut self, file: &Path, text: &str) -> Result<(), Failure> {
        let shown = self.machine.shown(file);
        if self.planned(|| format!("write   {text} to {}", shown.display())) {
            return Ok(());
        }
        write(file, text).map_err(Failure::change(&shown, "written"))
    }

    /// Writes a text to a file of the kernel, and what was there before as soon as `during` is done. Another recording waits meanwhile: it
    /// would take that text for what was there, or lose it half way.
    pub(crate) fn write_during<T>(
        &mut self,
        file: &Path,
        text: &str,
        during: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // A file that root alone can open, and so lock.
        let lock = self.machine.tracefs("instances")?;
        let held = fs::File::open(&lock).map_err(Failure::file(&lock, "read"))?;
        held.lock().map_err(Failure::file(&lock, "locked"))?;
        let before = fs::read_to_string(file).map_err(Failure::file(file, "read"))?;
        let before = before.trim().to_owned();
        if before == text {
            return during(self);
        }
        let done = self.write(file, text).and_then(|()| during(self));
        self.write(file, &before)?;
        done
    }

    /// Reads what is there for a recording's folder.
    pub(crate) fn save(&mut self, file: &Path, to: &Path) -> Result<(), Failure> {
        let shown = self.machine.shown(file);
        if self.planned(|| format!("read    {}", shown.display())) {
            return Ok(());
        }
        let text = read(file).map_err(Failure::file(&shown, "read"))?;
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(Failure::file(folder, "made"))?;
        }
        fs::write(to, text).map_err(Failure::file(to, "written"))
    }

    /// Removes the instance that was made.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(crate) fn undo(&mut self) -> Result<(), Failure> {
        let Some(instance) = self.instance.take() else { return Ok(()) };
        remove(self.machine, &instance).map_err(Failure::file(&self.machine.shown(&instance), "removed"))
    }
}

impl Drop for Hands<'_> {
    fn drop(&mut self) {
        if !self.only_plan() {
            // There is an error already, which is the first.
            let _ = self.undo();
        }
    }
}

/// Bytes that are asked for at once.
const AT_ONCE: usize = 1 << 20;

/// Reads a file of the kernel. In few large parts: a list that is read in one part is of one moment, and some files
/// (`events/header_page`) end after their first part, however small it was.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut text, mut length) = (fs::File::open(file)?, vec![0; AT_ONCE], 0);
    loop {
        match file.read(&mut text[length..]) {
            Ok(0) => {
                text.truncate(length);
                return Ok(text);
            }
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        text.resize(length + AT_ONCE, 0);
    }
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(file)?.write_all(format!("{text}\n").as_bytes())
}

/// Removes an instance. A folder that stands for one has files, which a kernel's does not count.
fn remove(machine: &Machine, instance: &Path) -> io::Result<()> {
    if machine.template.is_some() { fs::remove_dir_all(instance) } else { fs::remove_dir(instance) }
}

/// Links all files of a folder, and of the folders in it, into another one.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&to)?;
            link_all(&entry.path(), &to)?;
        } else {
            fs::hard_link(entry.path(), &to)?;
        }
    }
    Ok(())
}
