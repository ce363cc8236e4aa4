//! A compiler's modules within 2 GiB of the functions that they call, so that each call is a short one: written, sealed, run, freed.
//!
//! `cargo run -p freehold-vmalloc --release --example near_code`
#![allow(unsafe_code, reason = "machine code is written and called")]

use freehold_vmalloc::code::{CodeSpace, Contents};
use std::error::Error;

/// What the code calls.
extern "C" fn double(number: u64) -> u64 {
    2 * number
}

/// `call double; inc rax; ret`, with the stack aligned for the call, as it runs at `at`.
#[cfg(target_arch = "x86_64")]
fn assemble(at: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut code = vec![0x48, 0x83, 0xec, 8]; // sub rsp, 8
    let behind = at + code.len() + 5;
    let distance = i32::try_from(double as *const () as i64 - behind as i64)?;
    code.push(0xe8); // call, relative to what follows
    code.extend(distance.to_le_bytes());
    code.extend([0x48, 0x83, 0xc4, 8, 0x48, 0xff, 0xc0, 0xc3]); // add rsp, 8; inc rax; ret
    Ok(code)
}

fn main() -> Result<(), Box<dyn Error>> {
    let anchor = double as *const ();
    let space = CodeSpace::near(anchor, 2 << 30, 16 << 20)?;
    let mut module = space.module();
    let code = module.alloc(Contents::Code, 64, 16)?;
    let at = code.addr().get();
    println!("code at {at:#x}, {} KiB from what it calls", at.abs_diff(anchor.addr()) >> 10);
    #[cfg(target_arch = "x86_64")]
    {
        let bytes = assemble(at)?;
        // SAFETY: the module has more bytes there than are written, and nobody writes to it afterwards. The function is what the
        // instructions are, and is called while the module is there.
        let answer = unsafe {
            code.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            module.seal()?;
            let function: extern "C" fn(u64) -> u64 = std::mem::transmute(code.as_ptr());
            function(20)
        };
        assert_eq!(answer, 41);
        println!("2 * 20 + 1 = {answer}");
    }
    drop(module);
    println!("{} bytes are held", space.held_bytes());
    Ok(())
}
