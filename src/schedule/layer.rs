//! Layers and what casts them: a surface as its group shows it.

use super::rects::{FAR, NOWHERE, grown};
use crate::plan::{LEAST_SHIFTED, blurs};
use crate::settings::EdgeMode;
use bevy::color::LinearRgba;
use bevy::math::{IRect, IVec2, Vec2};

/// The finest part of a pixel by which a layer is moved.
const FINEST: f32 = 1.0 / 64.0;

/// What a group casts in the shape of its alpha: a shadow, or a line around it. In pixels of the viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadow {
    /// The offset from the group.
    pub offset: Vec2,
    /// The standard deviations of its blur along x and y.
    pub sigma: Vec2,
    /// How far it reaches beyond the group without a blur: the width of a line, else 0.
    pub width: f32,
    /// Its colour where the group is opaque: light, and how opaque it is.
    pub color: LinearRgba,
    /// Whether it is added to what lies below.
    pub is_glow: bool,
    /// Whether it falls into the group, from around it.
    pub is_inset: bool,
}

impl Shadow {
    /// How far it reaches beyond the group.
    pub fn reach(&self) -> Vec2 {
        reach_of(self.sigma).as_vec2() + self.offset.abs().ceil() + self.width.ceil()
    }
}

/// A surface as its group shows it: sharp or blurred, moved, or as a shadow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// The standard deviations along x and y.
    pub sigma: Vec2,
    /// Whether sigma varies over the picture.
    pub varies: bool,
    /// What lies beyond the picture's borders. Unless the picture spreads beyond them, it ends at [`Surface::outline`](super::tree::Surface::outline).
    pub edge: EdgeMode,
    /// The offset from the picture to the place where it is shown, in whole pixels.
    pub offset: IVec2,
    /// The part of a pixel by which it is moved beyond that, from 0 to less than 1.
    pub fraction: Vec2,
    /// The shadow as which its alpha is shown, `None` for the picture itself.
    pub shadow: Option<Shadow>,
    /// The pixels that it paints. Empty if it is invisible.
    pub shown: IRect,
}

impl Layer {
    /// The picture itself, blurred, without a place yet.
    pub fn new(sigma: Vec2) -> Self {
        Self {
            sigma,
            varies: false,
            edge: EdgeMode::Transparent,
            offset: IVec2::ZERO,
            fraction: Vec2::ZERO,
            shadow: None,
            shown: NOWHERE,
        }
    }

    /// A shadow of this picture, or a line around it if it is sharp: its blur has the sum of both variances. Along an axis with too weak
    /// a blur of the shadow, it moves by whole pixels.
    pub fn cast(self, shadow: &Shadow) -> Self {
        // The square of a finite number may be infinite.
        let variance = self.sigma * self.sigma + shadow.sigma * shadow.sigma;
        let by = (shadow.offset / FINEST).round() * FINEST;
        let is_fine = shadow.sigma.cmpge(Vec2::splat(LEAST_SHIFTED));
        let whole = Vec2::select(is_fine, by.floor(), by.round());
        Self {
            offset: whole.as_ivec2(),
            fraction: Vec2::select(is_fine, by - whole, Vec2::ZERO),
            shadow: Some(*shadow),
            ..Self::new(variance.map(|variance| variance.sqrt().min(f32::MAX)))
        }
    }

    /// The width of the line that is shown around its alpha, 0 if it is no line.
    pub fn width(&self) -> f32 {
        self.shadow.map_or(0.0, |shadow| shadow.width)
    }

    /// Whether a colour is shown where its alpha is not, inside of what has been painted before.
    pub fn is_inset(&self) -> bool {
        self.shadow.is_some_and(|shadow| shadow.is_inset)
    }

    /// Whether it is blurred.
    pub fn blurs(&self) -> bool {
        blurs(self.sigma)
    }

    /// Whether it is blurred in a batch with others, out of a patch of the page. A blur that varies is not, because it reads every
    /// texel that it shows.
    pub fn is_batched(&self) -> bool {
        self.blurs() && !self.varies
    }

    /// How many pixels around it are read of the result of its blur, at most, and stored beyond what it paints.
    pub fn margin(&self) -> IVec2 {
        if self.fraction == Vec2::ZERO {
            IVec2::ONE
        } else {
            MARGIN
        }
    }

    /// How far it reaches beyond the picture.
    pub fn reach(&self) -> IVec2 {
        reach_of(self.sigma) + self.fraction.ceil().as_ivec2() + self.width().ceil() as i32
    }

    /// Where it shows something of a picture with these pixels, before it is moved.
    pub fn around(&self, picture: IRect) -> IRect {
        if self.edge.spreads() {
            grown(picture, self.reach())
        } else {
            picture
        }
    }

    /// The pixels that it reads to show these.
    pub fn reads(&self, shown: IRect) -> IRect {
        let shifted = self.fraction.ceil().as_ivec2() + self.width().ceil() as i32;
        grown(shown, reads_of(self.sigma, self.edge) + shifted)
    }
}

/// The largest [`Layer::margin`]: the spline that moves a result reads two pixels beyond it, and blends in a third.
pub const MARGIN: IVec2 = IVec2::splat(3);

/// How far a blur of a group reaches. Less than a 30,000th of a texel's weight lies beyond four standard deviations on either side:
/// 0.01/255.
pub fn reach_of(sigma: Vec2) -> IVec2 {
    if !blurs(sigma) {
        return IVec2::ZERO;
    }
    (4.0 * sigma).ceil().min(Vec2::splat(FAR as f32)).as_ivec2()
}

/// How far a blur of a group reads: as far as it reaches, and from a border a pixel farther, or to the other side.
pub fn reads_of(sigma: Vec2, edge: EdgeMode) -> IVec2 {
    if edge.reads_far() && blurs(sigma) {
        return IVec2::splat(FAR);
    }
    reach_of(sigma) + IVec2::splat(i32::from(!edge.spreads()))
}
