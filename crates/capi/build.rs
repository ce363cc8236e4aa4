//! Keeps the shared library in memory once it is loaded, on Linux.
//!
//! The kernel reads a thread's last restartable sequence, and so the library's code, whenever it preempts the thread. Callbacks
//! and destructors of threads are the library's code, too. So `dlclose` must not unmap it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
