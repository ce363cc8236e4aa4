//! A table for people, before anyone decides how it is drawn.

/// Rows under a heading; the first column is text, the others are figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One name per column.
    pub header: Vec<String>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// Leading columns that name the row and are text.
    pub name_columns: usize,
}

impl Table {
    /// An empty table whose first column names the row.
    #[must_use]
    pub fn new(title: impl Into<String>, header: &[&str]) -> Self {
        Self {
            title: title.into(),
            header: header.iter().map(|&name| name.to_owned()).collect(),
            rows: Vec::new(),
            name_columns: 1,
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

/// A whole number, its thousands set apart.
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// A number with as many decimals as it deserves.
#[must_use]
pub fn fixed(value: f64) -> String {
    if value >= 1000.0 {
        count(value.round() as u64)
    } else if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A time in nanoseconds, or in the unit in which it is short.
#[must_use]
pub fn nanoseconds(ns: f64) -> String {
    if ns < 10_000.0 {
        format!("{ns:.0} ns")
    } else if ns < 10_000_000.0 {
        format!("{} us", fixed(ns / 1e3))
    } else if ns < 10_000_000_000.0 {
        format!("{} ms", fixed(ns / 1e6))
    } else {
        format!("{} s", fixed(ns / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1_234_567");
        assert_eq!([1.005, 12.34, 123.4, 1234.5].map(fixed), ["1.00", "12.3", "123", "1_235"]);
        let times = [170.0, 47_359.0, 12e6, 12e9].map(nanoseconds);
        assert_eq!(times, ["170 ns", "47.4 us", "12.0 ms", "12.0 s"]);
    }
}
