//! A client, and the program that runs some.

use crate::table::{self, Effort, Row};
use crate::{Answer, lines};
use std::process::ExitCode;

/// Rounds of what is compared.
const ROUNDS: usize = 15;

/// A program that runs on our memory.
pub struct Client {
    pub name: &'static str,
    pub glue: Option<Glue>,
    /// Checks all answers and compares.
    pub run: fn(Effort) -> Answer<Vec<Row>>,
}

/// What a user writes.
pub struct Glue {
    pub text: &'static str,
    /// Lines that it is meant to have at most.
    pub most_lines: usize,
}

impl Client {
    /// Runs it here, and prints its rows.
    pub fn run_here(&self, is_check: bool) -> Answer<()> {
        let rows = (self.run)(Effort { rounds: if is_check { 1 } else { ROUNDS }, is_check })?;
        table::print(self.name, &rows);
        if let Some(glue) = &self.glue {
            table::print_lines(self.name, lines::count(glue.text), glue.most_lines);
        }
        Ok(())
    }
}

/// Runs a program on its arguments.
pub fn main(run: impl FnOnce(&[&str]) -> Answer<()>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("clients: {error}");
            ExitCode::FAILURE
        }
    }
}
