//! The cost of blurs: labels, diagnostic paths, and the plugin that publishes them.

pub(crate) mod assign;
pub(crate) mod label;
pub(crate) mod publish;
pub(crate) mod timestamps;

pub use label::{
    BLEND, BLUR, BlurLabel, COPY, DOWNSAMPLE, GATHER, HORIZONTAL, PASSES, TEXTURE_BYTES, UPSAMPLE, VERTICAL,
};
