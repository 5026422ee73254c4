//! Glass behind nodes of the user interface and behind regions of the screen, against the float64 compositor.

mod bits;
mod browser;
mod cameras;
mod egui;
mod figures;
mod held;
pub mod interface;
mod lens;
mod lifecycle;
mod motion;
mod order;
mod outlines;
pub mod pane;
mod panels;
mod passes;
mod readiness;
mod regions;
mod retained;
mod shared;
pub mod show;
mod spaces;
pub mod stage;
mod switch;

use crate::support::prelude::*;
use pane::{Pane, Square, layers};
use stage::{Stage, Ui, on_one};

/// Five boxes side by side, no two of which touch, two of them at the viewport's border.
const PLACES: [[f32; 4]; 5] = [
    [7.0, 9.0, 58.0, 45.0],
    [71.0, 0.0, 61.0, 54.0],
    [140.0, 12.0, 55.0, 41.0],
    [20.0, 62.0, 80.0, 48.0],
    [111.0, 60.0, 92.0, 57.0],
];

/// Glass with a standard deviation of so many logical pixels.
pub fn glass(sigma: f32) -> BackdropBlur {
    BackdropBlur::from_sigma(sigma)
}

/// A pane for every edge mode, side by side.
fn one_of_each_edge(glass: BackdropBlur) -> Vec<Pane> {
    let places = PLACES.into_iter().zip(EdgeMode::ALL);
    places
        .map(|(place, edge)| Pane::new(place, glass.clone().with_edge(edge)))
        .collect()
}
