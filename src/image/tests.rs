//! Tests of the image front end without a GPU.

mod ends;
mod renderer;
mod steps;
mod walk;
