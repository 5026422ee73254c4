//! All GPU tests of blurs, in one program, since each program links all of Bevy.
//!
//! Without a GPU the program says that it tests nothing, and ends, unless `BLUR_REQUIRE_GPU` is set.

mod alpha;
mod backdrop;
mod cameras;
mod copies;
mod diagnostics;
mod dither;
mod ended;
mod exactness;
mod excerpts;
mod failures;
mod filters;
mod formats;
mod freeze;
mod freshness;
mod layers;
mod lifecycle;
mod limits;
mod lost;
mod magnitudes;
mod memory;
mod pixels;
mod profiles;
mod quality;
mod random;
mod readiness;
mod recorder;
mod scipy;
mod soak;
mod support;
mod trees;
mod usage;
