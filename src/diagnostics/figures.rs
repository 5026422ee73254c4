//! Figures on their way from the render world to the diagnostics. Their resources exist only if the diagnostics plugin does.

use super::label::BlurLabel;
use crate::mailbox::Mailbox;

/// The bytes of the textures of the last frame: one number.
pub type TextureBytes = Mailbox<u64>;

/// The glass of one layer of a camera in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BackdropFigures {
    /// The visible backdrops.
    pub backdrops: usize,
    /// How many times the picture is read: backdrops of a group are blurred together.
    pub groups: usize,
    /// The texels that the passes of the blurs write; the glass itself is not among them.
    pub texels: u64,
}

/// All glass of the last prepared frame.
pub type BackdropCounts = Mailbox<(BlurLabel, BackdropFigures)>;
