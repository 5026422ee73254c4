//! Tests of the image front end without a GPU.

mod renderer;
mod steps;
mod walk;
