//! Filters of the user interface, against what they have to make, in float64, of a picture of the group that Bevy has painted.

mod browser;
mod content;
mod glass;
mod group;
mod kinds;
mod memory;
mod nested;
mod places;
mod simple;
mod waiting;
