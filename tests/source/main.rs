//! Checks of the source itself, without a GPU.

mod floors;
