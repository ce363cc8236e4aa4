//! Errors of registering metrics and of choosing buckets.

use freehold_units::error_messages;
use std::string::String;

/// The error of registering a metric. Nothing was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// The metric's name is invalid: it must consist of letters, digits, `_` and `:`, and not begin with a digit.
    Name {
        /// The name.
        name: String,
    },
    /// A label's name is invalid. It must consist of letters, digits and `_`, not begin with a digit or two `_`, and
    /// occur once. A histogram must not have the label `le`.
    Label {
        /// The metric.
        name: String,
        /// The label.
        label: String,
    },
    /// The name belongs to another kind of metric.
    Kind {
        /// The name.
        name: String,
        /// The kind of the existing metric.
        kind: &'static str,
    },
    /// Another metric has a series of that name on a page: a histogram `x` has `x_bucket`, `x_sum`, `x_count` and
    /// `x_created`, a counter `x` or `x_total` has `x_total` and `x_created`, and each has `x`.
    Clash {
        /// The name.
        name: String,
        /// The existing metric.
        with: String,
        /// The name of a series that both have.
        series: String,
    },
    /// A metric that is not shared has the same name and labels: a static or an observed one.
    Taken {
        /// The name.
        name: String,
    },
    /// The histograms of the name have another unit or other buckets.
    Buckets {
        /// The name.
        name: String,
    },
    /// The name must end in `_` and the unit, before `_total` if it has that.
    Unit {
        /// The name.
        name: String,
        /// The unit.
        unit: String,
    },
    /// The number by which a histogram's values are divided is not positive and finite.
    Divisor {
        /// The name.
        name: String,
    },
}

error_messages! { RegistryError {
    Self::Name { name } => "{name:?} is no name of a metric";
    Self::Label { name, label } => "{label:?} is no label of {name}, or stands twice";
    Self::Kind { name, kind } => "{name} is a {kind} already";
    Self::Clash { name, with, series } => "{name} and {with}, which exists, would both have a series {series}";
    Self::Taken { name } => "{name} is registered with these labels already";
    Self::Buckets { name } => "the histograms of {name} have another unit or other buckets";
    Self::Unit { name, unit } => "{name} does not end in _{unit}";
    Self::Divisor { name } => "the values of {name} cannot be divided by a number that is not positive and finite";
} }

/// The error of choosing buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BucketsError {
    /// The number by which values are divided is not positive and finite.
    Divisor {
        /// The number.
        unit: f64,
    },
    /// A bound is negative or not finite. The bucket of all values needs no bound.
    Bound {
        /// The bound.
        bound: f64,
    },
    /// A bound is not above the one before.
    Order {
        /// The bound.
        bound: f64,
        /// The one before.
        before: f64,
    },
}

error_messages! { BucketsError {
    Self::Divisor { unit } => "values cannot be divided by {unit}";
    Self::Bound { bound } => "{bound} is no bound of a bucket: bounds are finite and at least 0";
    Self::Order { bound, before } => "the bound {bound} is not above {before}, the one before";
} }
