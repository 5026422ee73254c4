//! Tests schedules against examples, against their definition, and by properties.

mod grouping;
mod steps;
mod tree;
