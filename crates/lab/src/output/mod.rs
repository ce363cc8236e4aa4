//! What a command says: tables for people, flat rows for programs, one document with both.

mod environment;
mod lkml;
mod row;
mod screen;
mod table;

use serde::Serialize;

pub use environment::Environment;
pub use row::Row;
pub use table::{Table, count, fixed, nanoseconds};

/// The version of the JSON document.
const SCHEMA: &str = "freehold/1";

/// How results are written to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Tables for a terminal.
    #[default]
    Screen,
    /// Plain text of 72 columns, fit for a mailing list.
    Lkml,
    /// One JSON document.
    Json,
}

/// The outcome of a command.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Tables for people, in order.
    pub tables: Vec<Table>,
    /// Rows for programs.
    pub rows: Vec<Row>,
    /// What the reader should know beside the figures.
    pub notes: Vec<String>,
    /// The command found something wrong.
    pub failed: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: &'a str,
    command: &'a str,
    environment: &'a Environment,
    rows: &'a [Row],
    notes: &'a [String],
}

impl Document {
    /// The document as text.
    ///
    /// # Errors
    /// A value cannot be written as JSON.
    pub fn render(&self, format: Format, command: &str, environment: &Environment) -> anyhow::Result<String> {
        Ok(match format {
            Format::Screen => screen::render(self),
            Format::Lkml => lkml::render(self, environment),
            Format::Json => {
                let (rows, notes) = (&self.rows, &self.notes);
                let mut text = serde_json::to_string_pretty(&Json {
                    schema: SCHEMA,
                    command,
                    environment,
                    rows,
                    notes,
                })?;
                text.push('\n');
                text
            }
        })
    }
}
