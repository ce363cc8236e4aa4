//! Real programs from the registry on `freehold-vmalloc`, `freehold-metrics` and `freehold`: what they answer is checked, and
//! compared by turns with what they ship.
//!
//! ```text
//! clients/run            the table
//! clients/run --check    the same answers by small loads
//! clients/run redb       one client
//! ```
//!
//! `glue/` has what a user of each has to write, whose lines are counted. Each client runs in a process of its own, as some handle
//! signals. wasmer is a program of its own: it has another version of corosensei, and two do not link.

mod axum;
mod corosensei;
mod cranelift;
mod direct;
mod glue;
mod hashbrown;
mod redb;
mod vm_device;
mod wasmtime;

use clients::client::{self, Client, Glue};
use clients::{Answer, table};
use std::process::{Command, ExitCode};

const CLIENTS: &[Client] = &[
    Client {
        name: "wasmtime",
        glue: Some(Glue { text: include_str!("glue/wasmtime.rs"), most_lines: 25 }),
        run: wasmtime::run,
    },
    Client {
        name: "cranelift-jit",
        glue: Some(Glue { text: include_str!("glue/cranelift.rs"), most_lines: 20 }),
        run: cranelift::run,
    },
    // Stacks are corosensei's as they come.
    Client { name: "corosensei", glue: Some(Glue { text: "", most_lines: 3 }), run: corosensei::run },
    Client {
        name: "hashbrown",
        glue: Some(Glue { text: include_str!("glue/hashbrown.rs"), most_lines: 3 }),
        run: hashbrown::run,
    },
    Client {
        name: "redb",
        glue: Some(Glue { text: include_str!("glue/redb.rs"), most_lines: 15 }),
        run: redb::run,
    },
    Client {
        name: "axum",
        glue: Some(Glue { text: include_str!("glue/axum.rs"), most_lines: 10 }),
        run: axum::run,
    },
    Client {
        name: "vm-device",
        glue: Some(Glue { text: include_str!("glue/vm_device.rs"), most_lines: 35 }),
        run: vm_device::run,
    },
    Client { name: "O_DIRECT", glue: None, run: direct::run },
];

/// A client that is a program of its own, beside this one.
const BESIDE: &str = "wasmer";

fn client(name: &str) -> Answer<&'static Client> {
    Ok(CLIENTS.iter().find(|client| client.name == name).ok_or_else(|| format!("no client {name}"))?)
}

fn run(arguments: &[&str]) -> Answer<()> {
    let (checks, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|&&argument| argument == "--check");
    match names[..] {
        ["apart", what] => println!("{}", wasmtime::apart(what)?),
        ["serve", side] => axum::serve(side)?,
        ["here", name] => client(name)?.run_here(!checks.is_empty())?,
        _ => {
            let all = || CLIENTS.iter().map(|client| client.name).chain([BESIDE]).collect();
            let chosen: Vec<&str> = if names.is_empty() { all() } else { names };
            if let Some(unknown) = chosen.iter().find(|name| !all().contains(name)) {
                return Err(format!("no client {unknown}; there are {}", all().join(", ")).into());
            }
            table::print_head();
            for name in chosen {
                let program = std::env::current_exe()?;
                let program = if name == BESIDE { program.with_file_name(BESIDE) } else { program };
                let status = Command::new(program).args(["here", name]).args(&checks).status()?;
                if !status.success() {
                    return Err(format!("{name}: {status}").into());
                }
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    client::main(run)
}
