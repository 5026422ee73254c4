//! The tool, run as users run it. Without a GPU, most of these tests are skipped, unless `BLUR_REQUIRE_GPU` is set.

mod bad_input;
mod common;
mod exr_files;
mod good_input;
mod kept;
mod tiff_files;
