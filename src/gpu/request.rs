//! What a blur is to do: everything that decides its plan, its pipelines and what it reads.

use super::textures::PageSet;
use crate::formats::Ends;
use crate::formats::dither::Dither;
use crate::plan::{Finish, blurs};
use crate::settings::EdgeMode;
use crate::sigma_field::SigmaField;
use bevy::math::{URect, UVec2, Vec2};
use bevy::render::render_resource::{TextureId, TextureView};
use std::sync::Arc;

/// One blur, as a front end asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlurRequest {
    /// What is read and written.
    pub io: BlurIo,
    /// What is done.
    pub work: Work,
    /// Who does the last step.
    pub finish: Finish,
    /// The texels that are written.
    pub region: URect,
    /// The texels that may be read, beyond which the edge mode acts. They contain the region. A mip level reads the whole
    /// source.
    pub bounds: URect,
    /// The size of the source's texture.
    pub source_size: UVec2,
    /// The texel of the picture that is the first one of the source's texture: that may hold a part of the picture. All else
    /// counts from the picture's first texel.
    pub source_at: UVec2,
    /// Whether what a deferred last step reads is kept from frame to frame. It is blurred anew when the request changes, or this
    /// number, which stands for the contents of source and mask.
    pub keeps: Option<u64>,
    /// The mask of a profile that has one, in the place of the image that it names.
    pub mask: Option<MaskView>,
}

/// A mask that is no image asset, and known to be none of the blur's target.
#[derive(Clone, Debug)]
pub struct MaskView(pub TextureView);

impl PartialEq for MaskView {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}

/// The two ends of a blur.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlurIo {
    /// Their formats, and what they decide.
    pub ends: Ends,
    /// The texture that is written. No other input may be this texture.
    pub target: TextureId,
    /// Whether the source holds a sharp picture whenever the blur is recorded. If not, what was drawn before must not be
    /// drawn again: it would blur its own result.
    pub source_is_fresh: bool,
}

/// What is done between two ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// An exact copy.
    Copy,
    /// A blur.
    Blur {
        /// The standard deviations along x and y, in texels.
        sigma: Vec2,
        /// What lies beyond the bounds.
        edge: EdgeMode,
    },
    /// A blur whose sigma varies.
    Vary {
        /// The largest standard deviations along x and y, in texels.
        sigma: Vec2,
        /// What lies beyond the bounds.
        edge: EdgeMode,
        /// The share of sigma that each texel gets.
        field: SigmaField,
    },
    /// All of the target out of all of the source, in another size: the mean of the texels that a target texel covers, as in a mip
    /// level out of the one before it.
    Mipmap,
    /// Blurs of parts of the region, whose last steps are deferred. What they read lies on pages of a set, until other blurs use
    /// that.
    Batch(PageSet, Arc<[BatchedBlur]>),
}

/// A blur of a part of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchedBlur {
    /// The standard deviations along x and y, in texels. Where both are too small, this is a copy.
    pub sigma: Vec2,
    /// What lies beyond the bounds.
    pub edge: EdgeMode,
    /// The texels that may be read.
    pub bounds: URect,
    /// The texels for which the last step will be done.
    pub region: URect,
}

/// The kinds of work, as far as they take programs of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkKind {
    /// [`Work::Copy`].
    Copy,
    /// [`Work::Blur`] and [`Work::Batch`].
    Blur,
    /// [`Work::Vary`].
    Vary,
    /// [`Work::Mipmap`].
    Mipmap,
}

impl Work {
    /// A blur of a sigma that varies if there is a field.
    #[must_use]
    pub fn blur(sigma: Vec2, edge: EdgeMode, field: Option<SigmaField>) -> Self {
        match field {
            Some(field) => Self::Vary { sigma, edge, field },
            None => Self::Blur { sigma, edge },
        }
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> WorkKind {
        match self {
            Self::Copy => WorkKind::Copy,
            Self::Blur { .. } | Self::Batch(..) => WorkKind::Blur,
            Self::Vary { .. } => WorkKind::Vary,
            Self::Mipmap => WorkKind::Mipmap,
        }
    }
}

impl BlurRequest {
    /// A request for all texels of a target, out of a source of another size or of the same.
    #[must_use]
    pub fn whole(io: BlurIo, work: Work, size: UVec2, source_size: UVec2) -> Self {
        let region = URect::from_corners(UVec2::ZERO, size);
        Self {
            io,
            work,
            finish: Finish::Write,
            region,
            bounds: region,
            source_size,
            source_at: UVec2::ZERO,
            keeps: None,
            mask: None,
        }
    }

    /// Whether a blur would change nothing. One whose last step is left copies then.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        match self.work {
            _ if self.region.is_empty() => true,
            Work::Blur { sigma, .. } | Work::Vary { sigma, .. } => self.finish == Finish::Write && !blurs(sigma),
            Work::Copy | Work::Mipmap | Work::Batch(..) => false,
        }
    }

    /// Whether both have one plan. The plan of a sigma that varies does not depend on where it does.
    #[must_use]
    pub fn plans_like(&self, other: &Self) -> bool {
        let is_same_work = match (&self.work, &other.work) {
            (Work::Vary { sigma, edge, .. }, Work::Vary { sigma: s, edge: e, .. }) => (sigma, edge) == (s, e),
            (one, other) => one == other,
        };
        is_same_work && self.io.ends == other.io.ends && self.geometry() == other.geometry()
    }

    /// Whether both are about the same textures, as far as a request can tell.
    #[must_use]
    pub fn has_textures_of(&self, other: &Self) -> bool {
        let ends = |request: &Self| Ends {
            dither: Dither::Off,
            ..request.io.ends
        };
        ends(self) == ends(other) && self.geometry() == other.geometry()
    }

    fn geometry(&self) -> (Finish, URect, URect, UVec2, UVec2) {
        (self.finish, self.region, self.bounds, self.source_size, self.source_at)
    }
}
