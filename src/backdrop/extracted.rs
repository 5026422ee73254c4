//! A backdrop of glass in a frame: where it is, which texels it reads and which it paints. Plain values.
//!
//! # Whole pixels
//!
//! A rasteriser paints the pixels whose centres lie in a quad, and so does Bevy's user interface: it draws the exact
//! quad of a node, whose antialiasing only ever reaches inwards. So only pixels whose centres lie in the axis-aligned
//! bounds of the box, in the clip and in the viewport can be painted. The blur covers this rectangle of integers, and
//! fragments are clipped to it.

#[cfg(feature = "ui")]
use super::canvas::Hole;
use super::canvas::{Canvas, PaintedOn};
use super::freeze::{BackdropFreeze, FrozenBackdrop};
use super::paint_order::PaintOrder;
use crate::plan::{blurs, reach};
use crate::settings::{BackdropBlur, BackdropSampling, BlurProfile, EdgeMode, Tint};
use crate::sigma_field::SigmaField;
use bevy::math::{Affine2, Mat2, Rect, URect, UVec2, Vec2};
use bevy::prelude::Entity;

/// What a camera paints into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// The render world's entity of the camera.
    pub camera: Entity,
    /// The size of the texture.
    pub size: UVec2,
    /// The camera's part of it.
    pub viewport: URect,
    /// Whether it holds light, rather than display values.
    pub is_light: bool,
    /// Whether it is dithered if it ends in eight bits.
    pub dithers: bool,
}

impl Picture {
    /// The part of the viewport that lies in the texture.
    pub fn seen(&self) -> URect {
        self.viewport.intersect(URect::from_corners(UVec2::ZERO, self.size))
    }
}

/// A rounded box in the viewport, in physical pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// From the box, centred on the origin, to the viewport.
    pub transform: Affine2,
    /// The size of the box before the transform.
    pub size: Vec2,
    /// Top left, top right, bottom right, bottom left.
    pub radii: [f32; 4],
    /// The visible part of the viewport. May be infinite.
    pub clip: Option<Rect>,
    /// Whether it is antialiased.
    pub is_soft: bool,
}

/// A visible backdrop.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractedBackdrop {
    /// The main world's entity, by which jobs are kept from frame to frame.
    pub entity: Entity,
    /// Its camera's picture.
    pub picture: Picture,
    /// When it is painted.
    pub layer: PaintOrder,
    /// What it is painted on.
    pub on: PaintedOn,
    /// What is painted.
    pub shape: Shape,
    /// The texels of the picture that can be painted. Not empty.
    pub region: URect,
    /// The texels of the picture that are read, beyond which the edge mode acts. They contain the region.
    pub reads: URect,
    /// Whether it sees what surrounds it.
    pub is_open: bool,
    /// The standard deviations along x and y in texels. If both are too small for a blur, the colour functions still apply.
    pub sigma: Vec2,
    /// What lies beyond the texels that are read.
    pub edge: EdgeMode,
    /// The share of sigma that each texel gets, `None` if every texel gets all of it.
    pub field: Option<SigmaField>,
    /// How the blurred picture is coloured.
    pub tint: Tint,
    /// How it is frozen, `None` if it is not.
    pub freeze: Option<BackdropFreeze>,
    /// What it covers of its own node's picture, if the node is filtered.
    #[cfg(feature = "ui")]
    pub hole: Option<Hole>,
}

impl ExtractedBackdrop {
    /// The backdrop of a shape, `None` if it is invisible. `sigma` comes from the settings, in texels, before the shape's
    /// transform scales it. The layer is computed only if the backdrop exists.
    pub fn new(
        entity: Entity,
        picture: Picture,
        shape: Shape,
        glass: &BackdropBlur,
        sigma: Vec2,
        freeze: Option<&FrozenBackdrop>,
        layer: impl FnOnce() -> PaintOrder,
    ) -> Option<Self> {
        let tint = glass.tint();
        let sigma = (sigma * shape.scale()).min(Vec2::splat(f32::MAX));
        // Frozen glass shows its picture even without a blur, and takes the picture even at opacity 0.
        let changes = blurs(sigma) || !tint.functions.is_neutral() || freeze.is_some();
        let is_seen = tint.opacity > 0.0 || freeze.is_some_and(|freeze| !freeze.is_taken());
        if !(changes && is_seen && shape.is_drawable()) {
            return None;
        }
        let viewport = picture.seen();
        if viewport.is_empty() {
            return None;
        }
        let region = shape.region(picture.viewport).intersect(viewport);
        let freeze = freeze.map(|freeze| freeze.place(viewport, region, glass.sampling));
        let kept = freeze.map_or(viewport, |freeze| freeze.area);
        let region = region.intersect(kept);
        (!region.is_empty()).then(|| Self {
            entity,
            picture,
            layer: layer(),
            on: PaintedOn::Camera,
            shape,
            region,
            reads: match (glass.sampling, glass.blur.edge) {
                (BackdropSampling::Inside, _) => region,
                _ if !blurs(sigma) => region,
                // A read beyond one side of the viewport returns its other side.
                (BackdropSampling::Surroundings, EdgeMode::Wrap) => kept,
                // Where this ends inside the viewport, it ends beyond the reach of the kernel.
                (BackdropSampling::Surroundings, _) => grown(region, reach(sigma)).intersect(kept),
            },
            is_open: glass.sampling == BackdropSampling::Surroundings,
            sigma,
            edge: glass.blur.edge,
            field: None,
            tint,
            freeze,
            #[cfg(feature = "ui")]
            hole: None,
        })
    }

    /// The same with a blur that varies over the whole box, visible or not.
    pub fn with_profile(self, profile: Option<&BlurProfile>) -> Self {
        let size = self.shape.size;
        let from_corner = Affine2::from_translation(-0.5 * size);
        let to_picture = Affine2::from_translation(self.picture.viewport.min.as_vec2());
        let placement = to_picture * self.shape.transform * from_corner;
        Self {
            field: SigmaField::new(profile, size, placement),
            ..self
        }
    }

    /// The pixels of the viewport that must be painted before its turn: those that it reads, or those that it will keep. `None` if
    /// it has already taken its picture.
    pub fn sees(&self) -> Option<Rect> {
        self.sees_texels().map(|texels| self.in_viewport(texels))
    }

    /// The same in texels of the picture.
    pub fn sees_texels(&self) -> Option<URect> {
        match self.freeze {
            None => Some(self.reads),
            Some(freeze) if freeze.is_taken => None,
            Some(freeze) => Some(freeze.area),
        }
    }

    /// The texels of the picture that it needs in this frame, or that its blur reads from the kept picture.
    pub fn looks_at(&self) -> URect {
        self.sees_texels().unwrap_or(self.reads)
    }

    /// The canvas that it is painted on.
    pub fn canvas(&self) -> Canvas {
        match self.on {
            #[cfg(feature = "ui")]
            PaintedOn::Group(canvas) => canvas,
            _ => Canvas::of_camera(self.picture.viewport),
        }
    }

    /// Whether it lies inside a filtered group, visible or not.
    #[cfg(feature = "ui")]
    pub fn is_nested(&self) -> bool {
        self.on != PaintedOn::Camera
    }

    /// Whether anything is blurred.
    pub fn blurs(&self) -> bool {
        blurs(self.sigma)
    }

    /// Whether it is blurred more in one place than in another.
    pub fn varies(&self) -> bool {
        self.field.is_some() && self.blurs()
    }

    /// A rectangle of texels in pixels of the viewport.
    pub fn in_viewport(&self, texels: URect) -> Rect {
        let origin = self.picture.viewport.min.as_vec2();
        Rect {
            min: texels.min.as_vec2() - origin,
            max: texels.max.as_vec2() - origin,
        }
    }
}

/// The corners of a box around the origin with sides of 1: top left, top right, bottom right, bottom left.
pub const CORNERS: [Vec2; 4] = [
    Vec2::new(-0.5, -0.5),
    Vec2::new(0.5, -0.5),
    Vec2::new(0.5, 0.5),
    Vec2::new(-0.5, 0.5),
];

/// The bounds of a quad.
pub fn bounds_of([first, others @ ..]: [Vec2; 4]) -> Rect {
    let start = Rect { min: first, max: first };
    others.iter().fold(start, |bounds, corner| bounds.union_point(*corner))
}

fn grown(region: URect, by: UVec2) -> URect {
    URect {
        min: region.min.saturating_sub(by),
        max: region.max.saturating_add(by),
    }
}

impl Shape {
    /// The pixels whose centres lie in the box's axis-aligned bounds, in the clip and in the viewport, in texels of the
    /// picture.
    fn region(&self, viewport: URect) -> URect {
        let mut bounds = bounds_of(self.corners());
        if let Some(clip) = self.clip {
            bounds = bounds.intersect(clip);
        }
        let size = viewport.size().as_vec2();
        // The pixel x is inside if `min <= x + 1/2 < max`.
        let pixel = |edge: Vec2| (edge - 0.5).ceil().clamp(Vec2::ZERO, size).as_uvec2();
        URect {
            min: viewport.min + pixel(bounds.min),
            max: viewport.min + pixel(bounds.max),
        }
    }

    /// Top left, top right, bottom right, bottom left, in the viewport.
    fn corners(&self) -> [Vec2; 4] {
        CORNERS.map(|corner| self.transform.transform_point2(corner * self.size))
    }

    /// Whether it is an upright rectangle of whole pixels.
    pub fn is_on_pixels(&self) -> bool {
        let [min, _, max, _] = self.corners();
        let is_rectangle = self.transform.matrix2 == Mat2::IDENTITY && self.radii == [0.0; 4];
        is_rectangle && [min, max].iter().all(|corner| *corner == corner.round())
    }

    /// Whether it covers some pixels only in part.
    pub fn has_rim(&self) -> bool {
        self.is_soft && !self.is_on_pixels()
    }

    /// How deep the rim reaches into the box, in the box's units: the depth of the middle of the largest corner's arc, plus a
    /// pixel for the antialiasing.
    pub fn rim(&self) -> f32 {
        let largest = self.radii.into_iter().fold(0.0, f32::max);
        largest * (1.0 - 0.5_f32.sqrt()) + 1.0
    }

    /// The factor by which the transform scales lengths, on average.
    fn scale(&self) -> f32 {
        self.transform.matrix2.determinant().abs().sqrt()
    }

    /// Whether it has an area.
    fn is_drawable(&self) -> bool {
        let scale = self.scale();
        let has_area = self.size.cmpgt(Vec2::ZERO).all() && scale > 0.0;
        has_area && scale.is_finite() && self.size.is_finite() && self.transform.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWPORT: URect = URect {
        min: UVec2::new(100, 50),
        max: UVec2::new(400, 250),
    };

    fn shape(min: Vec2, max: Vec2) -> Shape {
        Shape {
            transform: Affine2::from_translation(0.5 * (min + max)),
            size: max - min,
            radii: [0.0; 4],
            clip: None,
            is_soft: true,
        }
    }

    fn backdrop(shape: Shape, glass: BackdropBlur) -> Option<ExtractedBackdrop> {
        let picture = Picture {
            camera: Entity::PLACEHOLDER,
            size: UVec2::new(400, 300),
            viewport: VIEWPORT,
            is_light: false,
            dithers: false,
        };
        let sigma = glass.blur.sigma_in_texels(1.0, 200).unwrap_or(Vec2::ZERO);
        ExtractedBackdrop::new(Entity::PLACEHOLDER, picture, shape, &glass, sigma, None, || {
            PaintOrder::AboveUi(0)
        })
    }

    #[test]
    fn pixels_belong_to_a_box_by_their_centres() {
        let fractional = shape(Vec2::new(10.3, 20.5), Vec2::new(20.6, 30.5));
        assert_eq!(fractional.region(VIEWPORT), URect::new(110, 70, 121, 80));
        let sliver = shape(Vec2::new(10.6, 20.0), Vec2::new(11.4, 30.0));
        assert!(sliver.region(VIEWPORT).is_empty(), "no centre lies in it");
        let outside = shape(Vec2::new(-20.0, 190.0), Vec2::new(5.0, 900.0));
        assert_eq!(outside.region(VIEWPORT), URect::new(100, 240, 105, 250));
    }

    #[test]
    fn clips_may_be_infinite_or_empty() {
        let mut clipped = shape(Vec2::new(10.0, 10.0), Vec2::new(50.0, 50.0));
        clipped.clip = Some(Rect {
            min: Vec2::new(f32::NEG_INFINITY, 20.5),
            max: Vec2::new(f32::INFINITY, 30.0),
        });
        assert_eq!(clipped.region(VIEWPORT), URect::new(110, 70, 150, 80));
        clipped.clip = Some(Rect::default());
        assert!(backdrop(clipped, BackdropBlur::default()).is_none());
    }

    #[test]
    fn only_what_changes_something_is_a_panel() {
        let shape = shape(Vec2::ZERO, Vec2::splat(40.0));
        let clear = BackdropBlur::new(0.0);
        assert!(backdrop(shape, clear).is_none());
        assert!(backdrop(shape, clear.with_saturation(0.0)).is_some_and(|backdrop| !backdrop.blurs()));
        assert!(backdrop(shape, BackdropBlur::new(24.0)).is_some_and(|backdrop| backdrop.blurs()));
        assert!(backdrop(shape, BackdropBlur::new(24.0).with_opacity(0.0)).is_none());
        let flat = Shape {
            transform: Affine2::from_scale(Vec2::new(1.0, 0.0)),
            ..shape
        };
        assert!(backdrop(flat, BackdropBlur::new(24.0)).is_none());
    }

    #[test]
    fn surroundings_end_at_the_viewport() {
        let shape = shape(Vec2::splat(90.0), Vec2::splat(110.0));
        let glass = BackdropBlur::from_sigma(8.0).with_sampling(BackdropSampling::Surroundings);
        let reads = |glass| backdrop(shape, glass).map(|backdrop| backdrop.reads);
        // Four sigma, and six texels of a level that is four times coarser.
        assert_eq!(reads(glass), Some(URect::new(134, 84, 266, 216)));
        assert_eq!(reads(glass.with_edge(EdgeMode::Wrap)), Some(VIEWPORT));
        assert_eq!(
            reads(BackdropBlur::from_sigma(200.0).with_sampling(BackdropSampling::Surroundings)),
            Some(VIEWPORT)
        );
        let inside = glass.with_sampling(BackdropSampling::Inside);
        assert_eq!(reads(inside), Some(URect::new(190, 140, 210, 160)));
    }

    #[test]
    fn only_rectangles_on_whole_pixels_have_no_rim() {
        let whole = shape(Vec2::splat(10.0), Vec2::splat(21.0));
        assert!(!whole.has_rim());
        assert!(shape(Vec2::splat(10.25), Vec2::splat(21.25)).has_rim());
        let round = Shape {
            radii: [0.0, 4.0, 0.0, 0.0],
            ..whole
        };
        assert!(round.has_rim());
        assert!(
            !Shape {
                is_soft: false,
                ..round
            }
            .has_rim()
        );
    }
}
