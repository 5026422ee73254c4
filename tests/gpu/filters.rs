//! Filters of the user interface, against a float64 reference that filters a picture of the unfiltered group.

mod content;
mod fades;
mod glass;
pub mod group;
mod held;
mod kinds;
mod late;
mod masks;
mod memory;
pub mod missing;
mod pages;
mod rounded;
mod still;

use crate::support::prelude::*;
use content::boxes;
use group::{Group, clipped, filtered, measured, on_one, over};
