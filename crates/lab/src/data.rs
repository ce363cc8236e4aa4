//! Where bundled data are.

use crate::failure::{Failure, usage};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of bundled data: beside the sources it was built from, or `data` where the program is started.
///
/// # Errors
/// There is no such folder.
pub fn data_folder() -> anyhow::Result<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let found = [built, PathBuf::from("data")].into_iter().find(|folder| folder.is_dir());
    let lacking = || Failure::Lacking("the folder `data` of the repository is not here".to_owned());
    Ok(found.ok_or_else(lacking)?)
}

/// The bundled traces whose names end in one of these, and those of the folder that have another name.
///
/// # Errors
/// A folder cannot be read, or has none.
pub fn traces(folder: Option<&Path>, endings: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = traces_in(&data_folder()?.join("traces"), endings)?;
    if let Some(folder) = folder {
        let named = format!("--traces {}", folder.display());
        let others =
            traces_in(folder, endings).map_err(|error| Failure::Usage(format!("{named}: {error}")))?;
        if others.is_empty() {
            return usage(format!("{named}: no file ends in {}", endings.join(" or ")));
        }
        let name = |file: &PathBuf| file.file_name().map(ToOwned::to_owned);
        let bundled: BTreeSet<_> = files.iter().filter_map(name).collect();
        files
            .extend(others.into_iter().filter(|file| name(file).is_none_or(|name| !bundled.contains(&name))));
    }
    files.sort();
    Ok(files)
}

fn traces_in(folder: &Path, endings: &[&str]) -> std::io::Result<Vec<PathBuf>> {
    let files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = files.collect::<std::io::Result<_>>()?;
    files.retain(|file| endings.iter().any(|ending| file.to_string_lossy().ends_with(ending)));
    Ok(files)
}
