//! What a camera's user interface consists of in a frame: the input of a schedule.

use super::clip::Clip;
use super::layer::{Shadow, reads_of};
use super::lens::Lens;
use super::shape::Shape;
use crate::plan::blurs;
use crate::settings::{BackdropBlur, BackdropLens, BackdropSampling, BlurProfile, ColorMatrices, EdgeMode, FreezeArea};
use crate::sigma_field::SigmaField;
use bevy::color::LinearRgba;
use bevy::math::{Affine2, FloatOrd, IRect, Rect, URect, UVec2, Vec2};
use bevy::prelude::Entity;
use core::ops::Range;

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

    /// That part, in pixels of the viewport.
    pub fn seen_pixels(&self) -> IRect {
        let (seen, first) = (self.seen(), self.viewport.min.as_ivec2());
        IRect {
            min: seen.min.as_ivec2() - first,
            max: seen.max.as_ivec2() - first,
        }
    }

    /// A rectangle of texels in pixels of the viewport.
    pub fn in_viewport(&self, texels: URect) -> Rect {
        let origin = self.viewport.min.as_vec2();
        Rect {
            min: texels.min.as_vec2() - origin,
            max: texels.max.as_vec2() - origin,
        }
    }
}

/// The user interface of one camera.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// What the camera paints into.
    pub picture: Picture,
    /// The largest side of a texture.
    pub limit: u32,
    /// Whether visible groups are painted on the surfaces around them, because they cannot be filtered.
    pub is_flat: bool,
    /// All items, by sort key.
    pub items: &'a [Item],
    /// Glass, in any order.
    pub backdrops: &'a [Backdrop],
    /// Filtered groups in stacking order: a group comes before the groups inside it.
    pub filters: &'a [Filter],
}

/// Something that is painted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Its sort key.
    pub key: FloatOrd,
    /// Where it paints, in pixels of the viewport. `None` if it may be anywhere.
    pub bounds: Option<Rect>,
    /// What it is.
    pub what: What,
}

/// What an item is. Backdrops and filters are named by their indices in the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum What {
    /// An item of Bevy or of another crate.
    #[default]
    Other,
    /// Nothing: it ends Bevy's batches.
    Mark,
    /// Glass.
    Glass(usize),
    /// The hole that glass makes in the picture of its own node's group.
    Hole(usize),
    /// The result of a group.
    Result(usize),
}

/// A place of an own item at a node, among the items of Bevy's user interface.
///
/// Bevy's sort keys are the place of a node in the stack of all nodes, plus an offset: -0.1 for the node's shadow, 0 for its background,
/// more for everything else. Glass lies between the shadow and the background. But its cut lies halfway to the node before: the node's
/// own shadow fills the box, and the glass must not see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// What lies below glass and groups ends here. A mark ends Bevy's batches.
    Cut,
    /// Glass, and the hole that it makes in the picture of its own node's group.
    Glass,
    /// The result of a group, over the glass of its own node.
    Result,
    /// The result of a group without its node: over everything that the node itself paints.
    Content,
}

impl Slot {
    /// The sort key of an own item of the node at this place in the stack.
    pub fn key(self, stack_index: u32) -> FloatOrd {
        let offset = match self {
            Self::Cut => -0.5,
            Self::Glass => -0.05,
            Self::Result => -0.04,
            Self::Content => 0.4,
        };
        FloatOrd(stack_index as f32 + offset)
    }
}

/// Sort keys before and after all others.
pub const FIRST: FloatOrd = FloatOrd(f32::NEG_INFINITY);
pub const LAST: FloatOrd = FloatOrd(f32::INFINITY);

/// The place in the stack of the node to which an item with this sort key belongs. Items of other crates may have negative keys.
pub fn node_of(FloatOrd(key): FloatOrd) -> i64 {
    (key + 0.5).floor() as i64
}

/// Where glass is painted among everything else, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GlassOrder {
    /// A region under the user interface.
    BelowUi(i32),
    /// A node, by its place in the stack of all nodes.
    Node(u32),
    /// A region over the user interface.
    AboveUi(i32),
}

/// Glass that may be visible.
#[derive(Clone, Debug, PartialEq)]
pub struct Backdrop {
    /// The main world's entity, by which blurs are kept from frame to frame.
    pub entity: Entity,
    /// When it is painted.
    pub order: GlassOrder,
    /// What is painted.
    pub shape: Shape,
    /// The visible part of the viewport. For glass inside a group this holds the clips inside the group, and those
    /// around it grown by the reach of the filters.
    pub clip: Option<Clip>,
    /// Whether it sees what surrounds it.
    pub is_open: bool,
    /// The standard deviations along x and y in texels. If both are too small for a blur, the colour functions still apply.
    pub sigma: Vec2,
    /// What lies beyond the texels that are read.
    pub edge: EdgeMode,
    /// The share of sigma that each texel gets, `None` if every texel gets all of it.
    pub field: Option<SigmaField>,
    /// The steps of colour of the blurred picture.
    pub colors: ColorMatrices,
    /// Between 0 and 1.
    pub opacity: f32,
    /// The strength of the noise, between 0 and 1.
    pub grain: f32,
    /// What is painted where no blur is.
    pub fallback: LinearRgba,
    /// Whether blurs are switched off: only the fallback is painted, and nothing is frozen.
    pub is_plain: bool,
    /// How it is frozen, `None` if it is not.
    pub freeze: Option<FrozenGlass>,
    /// What distinguishes the glass that sees one backdrop, below the first of it: the node that says so.
    pub shares: Option<Entity>,
    /// How it refracts, `None` if it is flat.
    pub lens: Option<Lens>,
}

/// How glass is frozen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrozenGlass {
    /// What is kept.
    pub keeps: FreezeArea,
    /// The texels of the camera's texture that have been kept, `None` until then.
    pub taken: Option<URect>,
}

impl Backdrop {
    /// Glass with these settings and this profile, which varies over the whole box, visible or not. `scale` is physical pixels per
    /// logical pixel.
    pub fn new(
        entity: Entity,
        (settings, lens): (&BackdropBlur, Option<&BackdropLens>),
        profile: Option<&BlurProfile>,
        (shape, scale): (Shape, f32),
        picture: &Picture,
    ) -> Self {
        let [opacity, grain] = settings.shares();
        // A radius out of range means no blur; `validation` reports it.
        let sigma = settings.blur.sigma_in_texels(scale, picture.viewport.height());
        let from_corner = Affine2::from_translation(-0.5 * shape.size);
        let to_picture = Affine2::from_translation(picture.viewport.min.as_vec2());
        Self {
            entity,
            order: GlassOrder::BelowUi(0),
            shape,
            clip: None,
            is_open: settings.sampling == BackdropSampling::Surroundings,
            sigma: (sigma.unwrap_or(Vec2::ZERO) * shape.scale()).min(Vec2::splat(f32::MAX)),
            edge: settings.blur.edge,
            field: SigmaField::new(profile, shape.size, to_picture * shape.transform * from_corner),
            colors: ColorMatrices::new(&settings.colors),
            opacity,
            grain,
            fallback: settings.fallback.to_linear(),
            is_plain: false,
            freeze: None,
            shares: None,
            lens: lens.and_then(|lens| Lens::new(lens, scale, &shape)),
        }
    }

    /// The same glass; `None` if it cannot be seen, for example because its node is hidden. Glass that shares a backdrop then remains
    /// with an opacity of 0: all glass of its group sees what lies below the first one.
    pub fn if_seen(self, is_hidden: bool) -> Option<Self> {
        // Frozen glass shows its picture even without a blur, and takes the picture even at opacity 0.
        let freeze = self.freeze.filter(|_| !self.is_plain);
        let is_flat = self.colors.is_neutral() && self.grain <= 0.0 && self.lens.is_none();
        let changes = self.blurs() || !is_flat || freeze.is_some();
        let changes = changes && (!self.is_plain || self.fallback.alpha > 0.0);
        let is_seen = self.opacity > 0.0 || freeze.is_some_and(|freeze| freeze.taken.is_none());
        let is_seen = changes && is_seen && self.shape.is_drawable() && !is_hidden;
        let (freeze, opacity) = if is_seen { (freeze, self.opacity) } else { (None, 0.0) };
        (is_seen || self.shares.is_some()).then_some(Self {
            freeze,
            opacity,
            ..self
        })
    }

    /// Whether anything is blurred.
    pub fn blurs(&self) -> bool {
        blurs(self.sigma)
    }

    /// Whether it takes a picture in this frame.
    pub fn takes(&self) -> bool {
        self.freeze.is_some_and(|freeze| freeze.taken.is_none())
    }

    /// Which share of what lies below it covers, before its opacity, if nothing is missing that it needs.
    pub fn covers(&self) -> f32 {
        if self.is_plain {
            self.fallback.alpha.clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// Its place in the stack, if it is a node's.
    pub fn node(&self) -> Option<u32> {
        match self.order {
            GlassOrder::Node(node) => Some(node),
            GlassOrder::BelowUi(_) | GlassOrder::AboveUi(_) => None,
        }
    }
}

/// A group with its filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The main world's entity of the node.
    pub entity: Entity,
    /// The place of the node in the stack of all nodes.
    pub node: u32,
    /// The places of the group's nodes: the node with its descendants, or the descendants alone.
    pub nodes: Range<u32>,
    /// The clip by the node's ancestors, in the viewport.
    pub clip: Option<Clip>,
    /// What it clips.
    pub clips: Clips,
    /// The standard deviations of the blur along x and y, in pixels.
    pub sigma: Vec2,
    /// What the blur sees beyond the group.
    pub edge: EdgeMode,
    /// The box, upright and without round corners, beyond which nothing of the group is shown, or seen by its blur. `None` if everything
    /// around the group is transparent.
    pub border: Option<Shape>,
    /// The share of sigma that each place gets, `None` if every place gets all of it.
    pub field: Option<SigmaField>,
    /// The rounded box to which the group is clipped, or in which it fades.
    pub outline: Option<Shape>,
    /// Which share of its opacity the group gains with every pixel of that box, inwards from the left, top, right and bottom: 0 where it
    /// does not fade. `None` if it is clipped.
    pub fade: Option<[f32; 4]>,
    /// The colour functions of the group.
    pub colors: ColorMatrices,
    /// The line around the group.
    pub line: Option<Shadow>,
    /// The first one lies on top.
    pub shadows: Vec<Shadow>,
    /// Between 0 and 1.
    pub opacity: f32,
}

/// What the clip of a group's ancestors clips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clips {
    /// The result. The nodes of the group are clipped by a larger clip, or not at all.
    #[default]
    Result,
    /// The result, and Bevy clips the nodes of the group alike: the filter moves no colour from one pixel to another.
    Nodes,
    /// Only most nodes: a node with an `OverrideClip` may lie outside.
    MostNodes,
}

impl Filter {
    /// A group that changes nothing, without a place in the stack.
    pub fn neutral(entity: Entity) -> Self {
        Self {
            entity,
            node: 0,
            nodes: 0..0,
            clip: None,
            clips: Clips::default(),
            sigma: Vec2::ZERO,
            edge: EdgeMode::Transparent,
            border: None,
            field: None,
            outline: None,
            fade: None,
            colors: ColorMatrices::NEUTRAL,
            line: None,
            shadows: Vec::new(),
            opacity: 1.0,
        }
    }

    /// The same group at this node, with these nodes, and clipped.
    pub fn placed(self, node: u32, nodes: Range<u32>, clip: Option<Clip>, clips: Clips) -> Self {
        Self {
            node,
            nodes,
            clip,
            clips,
            ..self
        }
    }

    /// Whether it changes anything, and not only clips.
    pub fn changes(&self) -> bool {
        let casts = self.line.is_some() || !self.shadows.is_empty();
        let colors = self.opacity < 1.0 || !self.colors.is_neutral();
        blurs(self.sigma) || self.border.is_some() || casts || colors || self.fade.is_some()
    }

    /// How far it moves colours.
    pub fn reach(&self) -> Vec2 {
        let line = self.line.map_or(Vec2::ZERO, |line| line.reach());
        let shadows = self.shadows.iter().map(Shadow::reach).fold(Vec2::ZERO, Vec2::max);
        reads_of(self.sigma, self.edge).as_vec2() + line + shadows
    }

    /// Whether this is the group's own node, whose glass lies below the group.
    pub fn is_of(&self, node: i64) -> bool {
        i64::from(self.node) == node && self.nodes.start == self.node
    }

    /// The sort key of its result.
    pub fn key(&self) -> FloatOrd {
        let slot = if self.nodes.start == self.node {
            Slot::Result
        } else {
            Slot::Content
        };
        slot.key(self.node)
    }

    /// The clip of its result.
    pub fn result_clip(&self) -> Option<Clip> {
        self.clip.filter(|_| self.clips != Clips::MostNodes)
    }

    /// The clip that its nodes need if they are painted without a filter.
    pub fn missing_clip(&self) -> Option<Clip> {
        self.clip.filter(|_| self.clips == Clips::Result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_lie_in_order_at_their_nodes() {
        let shadow = |node: u32| FloatOrd(node as f32 - 0.1);
        for node in (0..1000).chain(65_000..65_537) {
            let keys = [
                Slot::Cut.key(node),
                shadow(node),
                Slot::Glass.key(node),
                Slot::Result.key(node),
                FloatOrd(node as f32),
                Slot::Content.key(node),
            ];
            assert!(keys.is_sorted_by(|one, other| one < other), "{keys:?}");
            assert!(keys.iter().all(|key| node_of(*key) == i64::from(node)), "{keys:?}");
        }
        assert_eq!(node_of(FloatOrd(-3.2)), -3);
    }
}
