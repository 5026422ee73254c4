//! Nodes to spawn, and their layers for the compositor.

use super::*;
use crate::support::compositor::{Fill, Layer, Panel};
use crate::support::functions;
use crate::support::reference::{Clip, Shape};

/// A node of glass, in logical pixels. Its box has to lie on whole physical pixels before its transform, since Bevy's
/// layout rounds it to them.
#[derive(Clone, Debug)]
pub struct Pane {
    pub origin: Vec2,
    pub size: Vec2,
    /// Top left, top right, bottom right, bottom left.
    pub radii: [f32; 4],
    /// Clockwise.
    pub angle: f32,
    pub scale: Vec2,
    pub offset: Vec2,
    pub glass: BackdropBlur,
}

/// A plain node on whole pixels.
#[derive(Clone, Copy, Debug)]
pub struct Square {
    pub origin: Vec2,
    pub size: Vec2,
    /// In linear light, not multiplied by alpha.
    pub colour: [f32; 4],
}

/// The layers of some panes, one over the other.
pub fn layers(panes: &[Pane]) -> Vec<Layer> {
    panes.iter().map(Pane::layer).collect()
}

impl Pane {
    pub fn new([left, top, width, height]: [f32; 4], glass: BackdropBlur) -> Self {
        Self {
            origin: Vec2::new(left, top),
            size: Vec2::new(width, height),
            radii: [0.0; 4],
            angle: 0.0,
            scale: Vec2::ONE,
            offset: Vec2::ZERO,
            glass,
        }
    }

    pub fn with_radii(self, radii: [f32; 4]) -> Self {
        Self { radii, ..self }
    }

    pub fn turned(self, angle: f32) -> Self {
        Self { angle, ..self }
    }

    pub fn scaled(self, x: f32, y: f32) -> Self {
        let scale = Vec2::new(x, y);
        Self { scale, ..self }
    }

    pub fn moved(self, x: f32, y: f32) -> Self {
        let offset = Vec2::new(x, y);
        Self { offset, ..self }
    }

    /// The node as the child of a node that begins at `parent`.
    pub fn node_in(&self, parent: Vec2) -> Node {
        let [top_left, top_right, bottom_right, bottom_left] = self.radii;
        Node {
            border_radius: BorderRadius::px(top_left, top_right, bottom_right, bottom_left),
            ..node(self.origin - parent, self.size)
        }
    }

    pub fn node(&self) -> Node {
        self.node_in(Vec2::ZERO)
    }

    pub fn transform(&self) -> UiTransform {
        UiTransform {
            translation: Val2::px(self.offset.x, self.offset.y),
            scale: self.scale,
            rotation: Rot2::radians(self.angle),
        }
    }

    pub fn bundle(&self) -> (Node, UiTransform, BackdropBlur) {
        (self.node(), self.transform(), self.glass.clone())
    }

    /// The expected panel if a logical pixel has `scale` physical ones. The radius must be in logical pixels.
    pub fn panel(&self, scale: f64) -> Panel {
        let blur = &self.glass.blur;
        assert_eq!(
            blur.unit,
            BlurUnit::LogicalPixels,
            "of other units the test knows the sigma"
        );
        let (sin, cos) = f64::from(self.angle).sin_cos();
        let [x, y] = self.scale.to_array().map(f64::from);
        let scales = [(cos * x).hypot(sin * y), (sin * x).hypot(cos * y)];
        let sigma = f64::from(blur.sigma()) * scale;
        let aspect = blur.aspect.to_array();
        let physical = |length: f32| f64::from(length) * scale;
        let least = physical(0.5 * self.size.min_element());
        Panel {
            shape: Shape {
                centre: (self.origin + 0.5 * self.size + self.offset).to_array().map(physical),
                size: self.size.to_array().map(physical),
                axes: [[cos * x, sin * x], [-sin * y, cos * y]],
                radii: self.radii.map(|radius| physical(radius).min(least)),
            },
            clip: Clip::EVERYTHING,
            is_soft: true,
            ramp: None,
            sigma: [0, 1].map(|axis| sigma * scales[axis] * f64::from(aspect[axis])),
            edge: blur.edge,
            sees_surroundings: self.glass.sampling == BackdropSampling::Surroundings,
            functions: functions::functions(&self.glass.colors),
            opacity: f64::from(self.glass.opacity),
            lens: None,
        }
    }

    /// [`panel`](Self::panel) if a logical pixel is a physical one.
    pub fn layer(&self) -> Layer {
        Layer::glass(self.panel(1.0))
    }
}

impl Square {
    pub fn new([left, top, width, height]: [f32; 4], colour: [f32; 4]) -> Self {
        Self {
            origin: Vec2::new(left, top),
            size: Vec2::new(width, height),
            colour,
        }
    }

    pub fn bundle(&self) -> (Node, BackgroundColor) {
        let [red, green, blue, alpha] = self.colour;
        let colour = Color::linear_rgba(red, green, blue, alpha);
        (node(self.origin, self.size), BackgroundColor(colour))
    }

    /// The expected layer if a logical pixel is a physical one.
    pub fn layer(&self) -> Layer {
        let corner = |at: Vec2| at.to_array().map(|side| side as usize);
        Layer::Fill(Fill {
            min: corner(self.origin),
            max: corner(self.origin + self.size),
            colour: self.colour.map(f64::from),
        })
    }
}
