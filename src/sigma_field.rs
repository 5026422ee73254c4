//! A [`BlurProfile`] in a box of texels: the few numbers from which every texel's share is computed.

use crate::settings::BlurProfile;
use bevy::asset::{AssetId, Handle};
use bevy::image::Image;
use bevy::math::{Affine2, IVec2, Vec2};
use bevy::render::render_resource::TextureView;
use bytemuck::{Pod, Zeroable};

/// A varying profile, in a box of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct SigmaField {
    /// The profile. It does not hold its mask.
    pub profile: BlurProfile,
    /// The picture that holds the shares, if there is one: an input of the blur, like its source.
    pub mask: Option<Mask>,
    /// The size of the box in texels, before its placement.
    pub size: Vec2,
    /// From the box, whose corner is the origin, to the picture.
    pub placement: Affine2,
}

/// A picture of shares.
#[derive(Clone, Debug)]
pub enum Mask {
    /// An image asset.
    Image(AssetId<Image>),
    /// A texture that exists, and is known not to be the blur's target.
    Texture(TextureView),
}

impl Mask {
    /// The texture, unless it is an image that has yet to be looked up.
    pub fn texture(&self) -> Option<&TextureView> {
        match self {
            Self::Image(_) => None,
            Self::Texture(view) => Some(view),
        }
    }
}

impl PartialEq for Mask {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Image(one), Self::Image(other)) => one == other,
            (Self::Texture(one), Self::Texture(other)) => one.id() == other.id(),
            _ => false,
        }
    }
}

/// A profile without a blur.
const SHARP: BlurProfile = BlurProfile::Linear {
    start: Vec2::ZERO,
    end: Vec2::ZERO,
    from: 0.0,
    to: 0.0,
};

impl SigmaField {
    /// `None` if all shares are 1.
    pub fn new(profile: Option<&BlurProfile>, size: Vec2, placement: Affine2) -> Option<Self> {
        let profile = profile.filter(|profile| !profile.is_uniform())?;
        let mask = profile.mask().map(Mask::Image);
        Some(Self {
            profile: match profile {
                BlurProfile::Mask(_) => BlurProfile::Mask(Handle::default()),
                // NaN would make it differ from itself.
                profile if profile.check().is_err() => SHARP,
                profile => profile.clone(),
            },
            mask,
            size,
            placement,
        })
    }

    /// The share of every texel, counted from this texel of the picture.
    pub fn shares_from(&self, texel: IVec2) -> Shares {
        let placement = Affine2::from_translation(-texel.as_vec2()) * self.placement;
        Shares::new(&self.profile, self.size).transformed(placement)
    }
}

/// How the share of a texel depends on its position.
///
/// With `q = rows · (p - point)`, where `p` is the texel's centre, everything but the mask measures a distance `t` and
/// interpolates: the share is `from + (to - from) · clamp(t · slope + offset, 0, 1)`, clamped to 0 and 1.
///
/// It is `Shares` in WGSL, too.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Shares {
    /// The origin of the distance.
    pub point: Vec2,
    /// The rows of the matrix by which positions are multiplied.
    pub across: Vec2,
    pub down: Vec2,
    pub slope: f32,
    pub offset: f32,
    /// `from` and `to`.
    pub first: f32,
    pub last: f32,
    /// The kind of distance.
    pub measure: u32,
    padding: u32,
}

/// `t = q.x`.
const SIGNED: u32 = 0;
/// `t = |q.x|`.
const UNSIGNED: u32 = 1;
/// `t = |q|`.
const DISTANCE: u32 = 2;
/// The share is the mask's value at `q`, from (0, 0) to (1, 1).
const FROM_MASK: u32 = 3;

/// A slope so steep that it is a step between any two texels.
const STEEP: f32 = 1e6;

impl Shares {
    /// The same share everywhere.
    const fn constant(share: f32) -> Self {
        Self {
            point: Vec2::ZERO,
            across: Vec2::ZERO,
            down: Vec2::ZERO,
            slope: 0.0,
            offset: 0.0,
            first: share,
            last: share,
            measure: SIGNED,
            padding: 0,
        }
    }

    /// The shares of a profile in a box of this many texels whose corner is the origin. Numbers that are not finite
    /// count as 0.
    fn new(profile: &BlurProfile, size: Vec2) -> Self {
        if profile.check().is_err() {
            return Self::constant(0.0);
        }
        match *profile {
            BlurProfile::Uniform => Self::constant(1.0),
            BlurProfile::Linear { start, end, from, to } => {
                let line = (end - start) * size;
                if line.length_squared() == 0.0 {
                    return Self::constant(to);
                }
                Self {
                    point: start * size,
                    across: line / line.length_squared(),
                    ..Self::between(0.0, 1.0, from, to)
                }
            }
            BlurProfile::Band {
                center,
                direction,
                sharp,
                soft,
            } => {
                // Divided first, so that no square overflows.
                let across = (direction / direction.abs().max_element()).normalize().perp();
                Self {
                    measure: UNSIGNED,
                    point: center * size,
                    across: across / across.abs().dot(size),
                    ..Self::between(sharp, sharp + soft, 0.0, 1.0)
                }
            }
            BlurProfile::Radial {
                center,
                inner,
                outer,
                from,
                to,
            } => Self {
                measure: DISTANCE,
                point: center * size,
                across: Vec2::new(size.min_element().recip(), 0.0),
                down: Vec2::new(0.0, size.min_element().recip()),
                ..Self::between(inner, outer, from, to)
            },
            BlurProfile::Mask(_) => Self {
                measure: FROM_MASK,
                across: Vec2::new(size.x.recip(), 0.0),
                down: Vec2::new(0.0, size.y.recip()),
                ..Self::constant(1.0)
            },
        }
    }

    /// The field in a box that is moved, rotated or stretched.
    fn transformed(self, by: Affine2) -> Self {
        let back = by.matrix2.inverse().transpose();
        Self {
            point: by.transform_point2(self.point),
            across: back * self.across,
            down: back * self.down,
            ..self
        }
    }

    /// From one share to another between two distances.
    fn between(start: f32, end: f32, from: f32, to: f32) -> Self {
        let slope = if end > start {
            (end - start).recip().min(STEEP)
        } else {
            STEEP
        };
        Self {
            slope,
            offset: -start * slope,
            first: from,
            last: to,
            ..Self::constant(0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the shaders compute.
    fn share(profile: BlurProfile, size: Vec2, place: Vec2) -> f32 {
        let shares = Shares::new(&profile, size);
        share_at(&shares, place * size)
    }

    fn share_at(shares: &Shares, place: Vec2) -> f32 {
        let q = Vec2::from([shares.across, shares.down].map(|row| row.dot(place - shares.point)));
        let t = match shares.measure {
            SIGNED => q.x,
            UNSIGNED => q.x.abs(),
            DISTANCE => q.length(),
            _ => unreachable!("no mask here"),
        };
        let t = (t * shares.slope + shares.offset).clamp(0.0, 1.0);
        (shares.first + (shares.last - shares.first) * t).clamp(0.0, 1.0)
    }

    const WIDE: Vec2 = Vec2::new(400.0, 100.0);

    #[test]
    fn a_line_goes_from_one_share_to_the_other() {
        let line = |from, to| BlurProfile::Linear {
            start: Vec2::new(0.5, 0.2),
            end: Vec2::new(0.5, 0.7),
            from,
            to,
        };
        for (y, expected) in [(0.0, 0.25), (0.2, 0.25), (0.45, 0.5), (0.7, 0.75), (1.0, 0.75)] {
            let got = share(line(0.25, 0.75), WIDE, Vec2::new(0.9, y));
            assert!((got - expected).abs() < 1e-5, "{y}: {got}");
        }
        // Clamping does not change the slope.
        assert_eq!(share(line(-1.0, 1.0), WIDE, Vec2::new(0.1, 0.45)), 0.0);
        assert!((share(line(-1.0, 1.0), WIDE, Vec2::new(0.1, 0.575)) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn lines_and_circles_look_straight_and_round() {
        let diagonal = BlurProfile::Linear {
            start: Vec2::ZERO,
            end: Vec2::ONE,
            from: 0.0,
            to: 1.0,
        };
        // A move at right angles to the diagonal, measured in pixels, not in sides of the box.
        let middle = share(diagonal.clone(), WIDE, Vec2::splat(0.5));
        let aside = share(diagonal, WIDE, Vec2::splat(0.5) + Vec2::new(-1.0, 4.0) * 10.0 / WIDE);
        assert!(
            (middle - 0.5).abs() < 1e-5 && (aside - 0.5).abs() < 1e-5,
            "{middle} {aside}"
        );
        let circle = |place| {
            let profile = BlurProfile::Radial {
                center: Vec2::splat(0.5),
                inner: 0.1,
                outer: 0.5,
                from: 0.0,
                to: 1.0,
            };
            share(profile, WIDE, Vec2::splat(0.5) + place / WIDE)
        };
        for place in [Vec2::new(30.0, 0.0), Vec2::new(0.0, 30.0), Vec2::new(18.0, -24.0)] {
            assert!((circle(place) - 0.5).abs() < 1e-5, "{place}");
        }
    }

    #[test]
    fn a_band_is_sharp_inside_and_full_beyond() {
        let band = |soft| BlurProfile::Band {
            center: Vec2::new(0.5, 0.4),
            direction: Vec2::new(-3.0, 0.0),
            sharp: 0.1,
            soft,
        };
        for (y, expected) in [
            (0.4, 0.0),
            (0.31, 0.0),
            (0.49, 0.0),
            (0.6, 0.5),
            (0.2, 0.5),
            (0.71, 1.0),
            (0.0, 1.0),
        ] {
            let got = share(band(0.2), WIDE, Vec2::new(0.1, y));
            assert!((got - expected).abs() < 1e-5, "{y}: {got}");
        }
        assert_eq!(share(band(0.0), WIDE, Vec2::new(0.0, 0.49)), 0.0);
        assert_eq!(share(band(0.0), WIDE, Vec2::new(0.0, 0.51)), 1.0);
    }

    #[test]
    fn a_direction_may_have_any_length() {
        let band = |direction| BlurProfile::Band {
            center: Vec2::new(0.5, 0.4),
            direction,
            sharp: 0.1,
            soft: 0.2,
        };
        let expected = Shares::new(&band(Vec2::new(3.0, -4.0)), WIDE);
        for length in [f32::MIN_POSITIVE, 1e-30, 1e-22, 1e19, 1e30, 0.2 * f32::MAX] {
            let got = Shares::new(&band(Vec2::new(3.0, -4.0) * length), WIDE);
            let distance = (got.across - expected.across).length();
            assert!(distance < 1e-6, "{length}: {got:?}");
        }
        let tiny = f32::from_bits(1);
        let got = share(band(Vec2::new(tiny, 0.0)), WIDE, Vec2::new(0.1, 0.6));
        assert!((got - 0.5).abs() < 1e-5, "{got}");
    }

    #[test]
    fn what_is_not_finite_is_no_blur() {
        for profile in [
            BlurProfile::Linear {
                start: Vec2::ZERO,
                end: Vec2::ONE,
                from: f32::NAN,
                to: 1.0,
            },
            BlurProfile::Band {
                center: Vec2::ZERO,
                direction: Vec2::ZERO,
                sharp: 0.1,
                soft: 0.1,
            },
        ] {
            assert!(profile.check().is_err());
            assert_eq!(share(profile, WIDE, Vec2::splat(0.3)), 0.0);
        }
        assert!(SigmaField::new(Some(&BlurProfile::Uniform), Vec2::ONE, Affine2::IDENTITY).is_none());
    }

    #[test]
    fn a_box_may_be_turned() {
        let profile = BlurProfile::Linear {
            start: Vec2::new(0.2, 0.1),
            end: Vec2::new(0.9, 0.6),
            from: 0.0,
            to: 1.0,
        };
        let shares = Shares::new(&profile, WIDE);
        let turned = Affine2::from_scale_angle_translation(Vec2::new(2.0, 0.5), 0.7, Vec2::new(30.0, -7.0));
        for place in [Vec2::new(80.0, 10.0), Vec2::new(200.0, 70.0), Vec2::new(333.0, 40.0)] {
            let there = share_at(&shares.transformed(turned), turned.transform_point2(place));
            assert!((there - share_at(&shares, place)).abs() < 1e-4, "{place}");
        }
    }
}
