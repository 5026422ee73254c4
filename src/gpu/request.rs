//! A blur request: everything that decides a blur's plan, its pipelines and its inputs.

use crate::formats::Ends;
use crate::formats::dither::Dither;
use crate::plan::batch::BatchedBlur;
use crate::plan::pack::PageSet;
use crate::plan::{Finish, blurs};
use crate::settings::EdgeMode;
use crate::sigma_field::{Mask, SigmaField};
use bevy::math::{IVec2, URect, UVec2, Vec2};
use bevy::render::render_resource::TextureId;
use std::sync::Arc;

/// One blur, as a front end requests it.
#[derive(Clone, Debug, PartialEq)]
pub struct BlurRequest {
    /// The formats of its ends, and what follows from these.
    pub ends: Ends,
    /// The texture to write. It may be the source, but no other input.
    pub target: TextureId,
    /// Whether the source holds a sharp picture whenever the blur is recorded. If not, the last drawn request must not
    /// be drawn again: it would blur its own result.
    pub source_is_fresh: bool,
    /// The work.
    pub work: Work,
    /// Whether the plan or a front end does the last step.
    pub finish: Finish,
    /// The texels to write.
    pub region: URect,
    /// The texels that may be read. The edge mode applies beyond them. They contain the region. A mip level reads the
    /// whole source.
    pub bounds: URect,
    /// The size of the source's texture.
    pub source_size: UVec2,
    /// The picture's texel at the first texel of the source's texture, which may hold just a part of the picture, or more
    /// than it. All other positions count from the picture's first texel.
    pub source_at: IVec2,
    /// `Some` keeps the input of a deferred last step from frame to frame. It is blurred again when the request
    /// changes, including this number, which stands for the contents of source and mask.
    pub keeps: Option<u64>,
}

/// The work between two ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// An exact copy.
    Copy,
    /// A blur.
    Blur {
        /// The largest standard deviations along x and y, in texels.
        sigma: Vec2,
        /// What lies beyond the bounds.
        edge: EdgeMode,
        /// The share of sigma that each texel gets, if it varies.
        field: Option<SigmaField>,
    },
    /// The whole source in the target's size: the mean of the texels that a target texel covers, as in a mip level from
    /// the one before it.
    Mipmap,
    /// Blurs of parts of the region, with deferred last steps. The last steps read pages of a set, which are valid
    /// until other blurs use that set.
    Batch(PageSet, Arc<[BatchedBlur]>),
}

/// The kinds of work that differ in their programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkKind {
    /// [`Work::Copy`].
    Copy,
    /// [`Work::Blur`] with one sigma, and [`Work::Batch`].
    Blur,
    /// [`Work::Blur`] with a sigma that varies.
    Vary,
    /// [`Work::Mipmap`].
    Mipmap,
}

impl Work {
    /// Its kind.
    pub fn kind(&self) -> WorkKind {
        match self {
            Self::Copy => WorkKind::Copy,
            Self::Blur { field: Some(_), .. } => WorkKind::Vary,
            Self::Blur { field: None, .. } | Self::Batch(..) => WorkKind::Blur,
            Self::Mipmap => WorkKind::Mipmap,
        }
    }

    /// The largest sigma, and its share for each texel, if it varies.
    pub fn varying(&self) -> Option<(Vec2, &SigmaField)> {
        match self {
            Self::Blur { sigma, field, .. } => Some((*sigma, field.as_ref()?)),
            _ => None,
        }
    }
}

impl BlurRequest {
    /// A request for all texels of a target, from a fresh source of the same or another size.
    pub fn whole(ends: Ends, target: TextureId, work: Work, size: UVec2, source_size: UVec2) -> Self {
        let region = URect::from_corners(UVec2::ZERO, size);
        Self {
            ends,
            target,
            source_is_fresh: true,
            work,
            finish: Finish::Write,
            region,
            bounds: region,
            source_size,
            source_at: IVec2::ZERO,
            keeps: None,
        }
    }

    /// Whether a blur would change nothing. With a deferred last step it copies instead.
    pub fn is_idle(&self) -> bool {
        match self.work {
            _ if self.region.is_empty() => true,
            Work::Blur { sigma, .. } => self.finish == Finish::Write && !blurs(sigma),
            Work::Copy | Work::Mipmap | Work::Batch(..) => false,
        }
    }

    /// The mask of a sigma that varies: the only input beside the source.
    pub fn mask_mut(&mut self) -> Option<&mut Option<Mask>> {
        match &mut self.work {
            Work::Blur { field: Some(field), .. } => Some(&mut field.mask),
            _ => None,
        }
    }

    /// Whether its mask is a texture, if it has one.
    pub fn has_mask(&self) -> bool {
        let mask = self.work.varying().and_then(|(_, field)| field.mask.as_ref());
        mask.is_none_or(|mask| mask.texture().is_some())
    }

    /// Whether both have the same plan. The plan of a varying sigma does not depend on where it varies.
    pub fn plans_like(&self, other: &Self) -> bool {
        let is_same_work = match (&self.work, &other.work) {
            (
                Work::Blur { sigma, edge, field },
                Work::Blur {
                    sigma: s,
                    edge: e,
                    field: f,
                },
            ) => (sigma, edge, field.is_some()) == (s, e, f.is_some()),
            (one, other) => one == other,
        };
        is_same_work && self.ends == other.ends && self.geometry() == other.geometry()
    }

    /// Whether both use the same textures, as far as a request can tell.
    pub fn has_textures_of(&self, other: &Self) -> bool {
        let ends = |request: &Self| Ends {
            dither: Dither::Off,
            ..request.ends
        };
        ends(self) == ends(other) && self.geometry() == other.geometry()
    }

    fn geometry(&self) -> (Finish, URect, URect, UVec2, IVec2) {
        (self.finish, self.region, self.bounds, self.source_size, self.source_at)
    }
}
