//! What blurs cost: labels, the paths of their figures, and the plugin that publishes them.

pub(crate) mod assign;
pub(crate) mod label;
pub(crate) mod publish;

pub use label::{BLUR, BlurLabel, COPY, DOWNSAMPLE, HORIZONTAL, PASSES, TEXTURE_BYTES, UPSAMPLE, VERTICAL};
