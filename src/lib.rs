//! probe
#![allow(dead_code)]
pub mod kernel;
pub mod plan;
pub mod settings;
