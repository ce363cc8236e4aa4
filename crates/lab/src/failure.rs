//! Failures that have an exit code of their own.

/// Wrong usage, and why.
///
/// # Errors
/// Always.
pub fn usage<T, E: From<Failure>>(reason: impl Into<String>) -> Result<T, E> {
    Err(Failure::Usage(reason.into()).into())
}

/// Names that are alike enough for one to be meant by the other, on strsim's scale from 0 to 1.
const ALIKE: f64 = 0.8;

/// There is nothing of that name: what may have been meant, and what there is.
pub fn unknown<S: AsRef<str>>(what: &str, name: &str, known: &[S]) -> Failure {
    let mut names: Vec<&str> = Vec::new();
    for one in known.iter().map(AsRef::as_ref).filter(|one| !one.is_empty()) {
        if !names.contains(&one) {
            names.push(one);
        }
    }
    let likeness = |one: &&str| strsim::jaro_winkler(name, one);
    let nearest = names.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let meant = nearest.filter(|one| likeness(one) > ALIKE).map(|one| format!("did you mean {one:?}? "));
    Failure::Usage(format!("no {what} {name:?}; {}there are {}", meant.unwrap_or_default(), names.join(", ")))
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
