//! What to blur, for the recorder.

use super::texture::BlurTexture;
use crate::errors::BlurError;
use crate::formats::dither::Dither;
use crate::formats::{Ends, precision_of};
use crate::gpu::{BlurRequest, Work};
use crate::kernel::Precision;
use crate::plan::{blurs, reach};
use crate::settings::{BlurAlpha, BlurProfile, EdgeMode, RADIUS_IN_SIGMAS};
use crate::sigma_field::{Mask, SigmaField};
use bevy::math::{Affine2, URect, UVec2, Vec2};
use bevy::render::render_resource::{TextureFormat, TextureUsages};

/// What to blur. Positions and sizes are in texels of the mip level that source and target show.
///
/// A texel of the target is the blur of the source around the texel at the same position. So both have the same size,
/// unless a [region](Self::region) lies in both.
#[derive(Clone, Copy, Debug)]
pub struct TextureBlurRequest<'a> {
    /// The texture to read. It needs the usage `TEXTURE_BINDING`.
    pub source: &'a BlurTexture,
    /// The texture to write. It needs the usage `RENDER_ATTACHMENT`. It may be the source: the blur is then in place.
    pub target: &'a BlurTexture,
    /// The texels to write; no others are touched. The part beyond the target is left out. Default: all.
    pub region: Option<URect>,
    /// The texels that may be read, beyond which the [edge mode](Self::edge) acts. They must contain the region, and
    /// lie in the source. Default: the region.
    pub bounds: Option<URect>,
    /// The standard deviations along x and y, in texels: finite and at least 0. A [radius](crate::GaussianBlur::radius) is
    /// three of them. If both are below 0.03, the target becomes a copy of the source, exact to the bit; in place nothing
    /// is done.
    pub sigma: Vec2,
    /// What lies beyond the bounds. Default: [`EdgeMode::Clamp`].
    pub edge: EdgeMode,
    /// What alpha means. Default: [`BlurAlpha::Premultiplied`], which blurs all channels alike.
    pub alpha: BlurAlpha,
    /// The share of sigma that each texel of the region gets. The texture is the mask of a [`BlurProfile::Mask`];
    /// without a texture, the mask is the image that the profile names. Default: none, so all texels get all of sigma.
    pub profile: Option<(&'a BlurProfile, Option<&'a BlurTexture>)>,
    /// Whether the source may hold values above 1, if its format can. If so, the error is within 0.1/255 of the peak;
    /// if not, it is within 0.35/255, and the blur costs less. Default: `true`.
    pub is_light: bool,
    /// For a blur in place: whether the source is painted again whenever the blur is recorded. If not, the previous
    /// blur is not drawn again while a new one compiles, since it would blur its own result; and if the blur is recorded
    /// twice in a frame, the log warns once. Default: `true`.
    pub source_is_fresh: bool,
    /// Whether the result is dithered where the target holds eight bits. Default: `false`.
    pub dither: bool,
}

/// What decides the pipelines of a blur, besides the two formats, for [announcements](super::TextureBlurs::announce).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureBlurKind {
    /// See [`TextureBlurRequest::alpha`].
    pub alpha: BlurAlpha,
    /// See [`TextureBlurRequest::is_light`].
    pub is_light: bool,
    /// See [`TextureBlurRequest::dither`].
    pub dither: bool,
    /// Whether source and target are one texture.
    pub in_place: bool,
    /// Whether the target has the usage `STORAGE_BINDING`, and the [bounds](TextureBlurRequest::bounds) are no larger
    /// than the region.
    pub stores: bool,
    /// Whether there is a [profile](TextureBlurRequest::profile).
    pub varies: bool,
}

impl Default for TextureBlurKind {
    fn default() -> Self {
        Self {
            alpha: BlurAlpha::Premultiplied,
            is_light: true,
            dither: false,
            in_place: false,
            stores: false,
            varies: false,
        }
    }
}

impl TextureBlurKind {
    pub(super) fn ends(self, source: TextureFormat, target: TextureFormat) -> Ends {
        Ends {
            precision: if self.is_light {
                precision_of(source)
            } else {
                Precision::Standard
            },
            alpha: self.alpha,
            dither: if self.dither {
                Dither::of_target(target)
            } else {
                Dither::Off
            },
            has_storage: self.stores,
            in_place: self.in_place,
            ..Ends::new(source, target)
        }
    }
}

impl<'a> TextureBlurRequest<'a> {
    /// A blur of the whole source, with the defaults of all other fields.
    #[must_use]
    pub fn new(source: &'a BlurTexture, target: &'a BlurTexture, sigma: Vec2) -> Self {
        Self {
            source,
            target,
            region: None,
            bounds: None,
            sigma,
            edge: EdgeMode::Clamp,
            alpha: BlurAlpha::Premultiplied,
            profile: None,
            is_light: true,
            source_is_fresh: true,
            dither: false,
        }
    }

    /// The same blur with other [texels to write](Self::region).
    #[must_use]
    pub fn with_region(self, region: URect) -> Self {
        let region = Some(region);
        Self { region, ..self }
    }

    /// The same blur with other [texels that may be read](Self::bounds).
    #[must_use]
    pub fn with_bounds(self, bounds: URect) -> Self {
        let bounds = Some(bounds);
        Self { bounds, ..self }
    }

    /// The same blur with other [standard deviations](Self::sigma).
    #[must_use]
    pub fn with_sigma(self, sigma: Vec2) -> Self {
        Self { sigma, ..self }
    }

    /// The same blur with a radius along both axes, which is three standard deviations, in texels.
    #[must_use]
    pub fn with_radius(self, radius: f32) -> Self {
        self.with_sigma(Vec2::splat(radius / RADIUS_IN_SIGMAS))
    }

    /// The same blur with another [edge mode](Self::edge).
    #[must_use]
    pub fn with_edge(self, edge: EdgeMode) -> Self {
        Self { edge, ..self }
    }

    /// The same blur with another [meaning of alpha](Self::alpha).
    #[must_use]
    pub fn with_alpha(self, alpha: BlurAlpha) -> Self {
        Self { alpha, ..self }
    }

    /// The same blur with a [profile](Self::profile), and the texture of its mask, if it has one.
    #[must_use]
    pub fn with_profile(self, profile: &'a BlurProfile, mask: Option<&'a BlurTexture>) -> Self {
        let profile = Some((profile, mask));
        Self { profile, ..self }
    }

    /// The same blur of values that [may be above 1](Self::is_light) or not.
    #[must_use]
    pub fn with_light(self, is_light: bool) -> Self {
        Self { is_light, ..self }
    }

    /// The same blur of a source that [is painted again](Self::source_is_fresh) for every blur, or not.
    #[must_use]
    pub fn with_fresh_source(self, source_is_fresh: bool) -> Self {
        Self {
            source_is_fresh,
            ..self
        }
    }

    /// The same blur with or without [dithering](Self::dither).
    #[must_use]
    pub fn with_dither(self, dither: bool) -> Self {
        Self { dither, ..self }
    }

    /// The request of the job.
    pub(super) fn wanted(&self) -> Result<BlurRequest, BlurError> {
        self.check()?;
        let (region, bounds) = self.extents()?;
        let in_place = self.source.is_same(self.target);
        let kind = TextureBlurKind {
            alpha: self.alpha,
            is_light: self.is_light,
            dither: self.dither,
            in_place,
            // Only render passes can compute texels without writing them.
            stores: self.target.has_usage(TextureUsages::STORAGE_BINDING) && region == bounds,
            varies: self.profile.is_some(),
        };
        let work = if in_place || blurs(self.sigma) {
            Work::Blur {
                sigma: self.sigma,
                edge: self.edge,
                field: self.field(region),
            }
        } else {
            Work::Copy
        };
        let ends = kind.ends(self.source.format(), self.target.format());
        let (target, size) = (self.target.texture().id(), self.target.size());
        Ok(BlurRequest {
            source_is_fresh: self.source_is_fresh || !in_place,
            region,
            bounds,
            ..BlurRequest::whole(ends, target, work, size, self.source.size())
        })
    }

    pub(super) fn mask(&self) -> Option<&'a BlurTexture> {
        self.profile.and_then(|(_, mask)| mask)
    }

    fn field(&self, region: URect) -> Option<SigmaField> {
        let (profile, texture) = self.profile?;
        let placement = Affine2::from_translation(region.min.as_vec2());
        let field = SigmaField::new(Some(profile), region.size().as_vec2(), placement)?;
        let texture = texture.map(|texture| Mask::Texture(texture.view().clone()));
        Some(SigmaField {
            mask: field.mask.map(|image| texture.unwrap_or(image)),
            ..field
        })
    }

    fn check(&self) -> Result<(), BlurError> {
        if !self.sigma.is_finite() || self.sigma.min_element() < 0.0 {
            return Err(BlurError::InvalidSigma(self.sigma));
        }
        if let Some((profile, _)) = self.profile {
            profile.check()?;
        }
        self.source.check(self.target, self.mask())
    }

    /// The texels to write, and the texels that may be read. Bounds beyond the blur's reach are cut off, because it
    /// computes as much as they hold.
    fn extents(&self) -> Result<(URect, URect), BlurError> {
        let [source, target] =
            [self.source, self.target].map(|texture| URect::from_corners(UVec2::ZERO, texture.size()));
        let region = match self.region {
            Some(region) => region.intersect(target),
            None if source == target => target,
            None => {
                let (source, target) = (source.max, target.max);
                return Err(BlurError::SizeMismatch { source, target });
            }
        };
        let bounds = self.bounds.unwrap_or(region);
        let contains = |outer: URect, inner: URect| outer.intersect(inner) == inner;
        let is_sound = contains(bounds, region) && contains(source, bounds);
        if !(is_sound || region.is_empty()) {
            let source = source.max;
            return Err(BlurError::InvalidBounds { bounds, region, source });
        }
        Ok((region, self.read(region, bounds)))
    }

    /// The bounds, cut to the blur's reach around the region along axes on which no border is read.
    fn read(&self, region: URect, mut bounds: URect) -> URect {
        let reach = reach(self.sigma);
        for i in 0..2 {
            let low = region.min[i].saturating_sub(reach[i]);
            let high = region.max[i].saturating_add(reach[i]);
            let is_away = low >= bounds.min[i] && high <= bounds.max[i];
            // `Wrap` reads the other side, and normalisation counts from both.
            let may_cut = !self.edge.is_periodic() && !self.edge.is_normalized();
            if is_away || may_cut {
                bounds.min[i] = bounds.min[i].max(low);
                bounds.max[i] = bounds.max[i].min(high);
            }
        }
        bounds
    }
}
