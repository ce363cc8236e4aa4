//! Words out of a shared object, as data.

use super::library::Library;
use std::path::Path;

/// The words that an object exports as `const unsigned long freehold_words[]`, so many as its `const unsigned long
/// freehold_words_len` says, at most `most`. The object is one that the caller has built: its constructors run, and its number is
/// believed.
///
/// # Errors
/// The object cannot be loaded, has no such symbols, or has more words.
pub fn words(path: &Path, most: usize) -> Result<Vec<u64>, String> {
    let library = Library::open(path)?;
    let at = library.symbol(c"freehold_words")?.cast::<u64>();
    let len = library.symbol(c"freehold_words_len")?.cast::<u64>();
    // SAFETY: the object has a word of that name, as its maker says; it stays loaded.
    let len = unsafe { *len };
    let len = usize::try_from(len).ok().filter(|&len| len <= most);
    let len = len.ok_or_else(|| format!("it has more than {most} words"))?;
    // SAFETY: the object has so many words there, as its maker says; it stays loaded, and nothing writes to constants.
    Ok(unsafe { std::slice::from_raw_parts(at, len) }.to_vec())
}
