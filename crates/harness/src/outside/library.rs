//! A shared object in this process. It stays loaded until the process ends.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// An object that was loaded.
pub(super) struct Library(*mut c_void);

impl Library {
    /// Loads an object, whose constructors run. A name without a folder is of this one.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        // Names without a slash are looked for in the system's folders.
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        let name =
            CString::new(path.as_os_str().as_bytes()).map_err(|_| "its name has a zero byte".to_owned())?;
        // SAFETY: the name is a C string.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() { Err(reason()) } else { Ok(Self(handle)) }
    }

    /// Where a symbol is.
    pub(super) fn symbol(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: the handle is that of a loaded object, the name a C string.
        let at = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if at.is_null() { Err(reason()) } else { Ok(at) }
    }
}

/// Why the loader failed just now.
fn reason() -> String {
    // SAFETY: the call has no conditions.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "it is nowhere".to_owned();
    }
    // SAFETY: a text that is not null is a C string, which stays until the next call of this thread.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The words of an array in a shared object, which stays loaded: `array` names a pointer to the first of them, `length` how many
/// there are, both `unsigned long`s in C.
///
/// # Errors
/// It cannot be loaded, or lacks one of the two.
pub fn words(path: &Path, array: &CStr, length: &CStr) -> Result<&'static [u64], String> {
    let library = Library::open(path)?;
    let (array, length) =
        (library.symbol(array)?.cast::<*const u64>(), library.symbol(length)?.cast::<u64>());
    // SAFETY: both symbols are of the types that the caller says, constant, and in an object that stays loaded.
    let (first, length) = unsafe { (*array, *length) };
    let length = usize::try_from(length).map_err(|_| "too many words".to_owned())?;
    if first.is_null() {
        return Err("it has no words".to_owned());
    }
    // SAFETY: the array has so many words, as the caller says, and stays as long as the process.
    Ok(unsafe { std::slice::from_raw_parts(first, length) })
}
