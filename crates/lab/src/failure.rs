//! Failures that have an exit code of their own.

/// Wrong usage, and why.
///
/// # Errors
/// Always.
pub fn usage<T>(reason: impl Into<String>) -> anyhow::Result<T> {
    Err(Failure::Usage(reason.into()).into())
}

/// Why a command could not do what it was asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was asked for something that does not exist: exit code 2.
    Usage(String),
    /// The machine or the checkout lacks something: exit code 4.
    Lacking(String),
}

impl Failure {
    /// The program's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Lacking(_) => 4,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(what) | Self::Lacking(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}
