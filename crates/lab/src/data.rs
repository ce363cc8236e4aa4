//! Where bundled data are.

use crate::failure::Failure;
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
