//! Filters of the user interface, against a float64 reference that filters a picture of the unfiltered group.

mod browser;
mod content;
mod crowded;
mod edges;
mod fades;
mod glass;
pub mod group;
mod kinds;
mod late;
mod masks;
mod memory;
mod nested;
mod outlines;
mod pages;
mod places;
mod rounded;
mod shadows;
mod simple;
mod still;
mod waiting;
