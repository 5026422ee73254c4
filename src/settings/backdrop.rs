//! Glass: blurs the picture behind a node of the user interface, or behind any rectangle of a viewport.

use super::color_functions::{ColorStep, colors_problem};
use super::ranges::{NumberRange, Problem};
use super::strength::{BlurUnit, EdgeMode, GaussianBlur};
use bevy::prelude::*;

/// Frosted glass: blurs everything that was painted before this node, the scene and the user interface, behind the node.
///
/// It needs the feature `ui`. Add it to a node of Bevy's user interface, or next to a [`BackdropRegion`](crate::BackdropRegion), which
/// needs no node. The node's own background, border, text and children stay sharp on top; give it a half-transparent
/// background for milk glass. Glass over glass sees the glass below it. All fields may change in any frame.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// fn open_menu(mut commands: Commands) {
///     commands.spawn((
///         Node { width: px(400), height: px(300), border_radius: BorderRadius::all(px(24)), ..default() },
///         BackgroundColor(Color::WHITE.with_alpha(0.2)),
///         BackdropBlur::new(60.0),
///     ));
/// }
/// ```
///
/// # Shape
///
/// The glass has the shape of the node's border box, with its four radii, its transform and its subpixel position. It is
/// antialiased like the node's background, and its ancestors clip it. Hidden nodes have no glass. The blur covers the
/// axis-aligned rectangle of pixels around that shape, cut by clip and viewport: see [`BackdropSampling`].
///
/// The node's own shadow ([`BoxShadow`](https://docs.rs/bevy/latest/bevy/ui/struct.BoxShadow.html)) fills its box too.
/// The glass does not see this shadow, and covers it inside the box.
///
/// A `UiFilter` on the same node filters the node and its children, not the glass below them. For a shadow that falls into the glass
/// (`DropShadow::inset`), put the filter on a parent.
///
#[doc = include_str!("../../docs/cameras.md")]
///
/// # Colour
///
/// Glass blurs light. Browsers blur encoded values, which makes lights darker and dark fringes wider. The [steps](Self::colors) of
/// colour then work on values encoded as sRGB, as the functions of CSS do. (A camera with `CompositingSpace::Srgb` holds encoded
/// values, and glass blurs these; with `CompositingSpace::Oklab` the steps change nothing.)
///
/// On a camera with `DebandDither::Enabled` glass is dithered if the output has eight bits, so that dark gradients have no
/// bands. Where the glass is not solid, the dithered glass is mixed with the picture below.
///
/// # Cost
///
/// The cost grows with the area of the glass. Backdrops that do not lie over each other are blurred together. A backdrop
/// over something that was painted after the first backdrop needs separate passes. So does every backdrop after a
/// `MaterialNode`, which may paint anywhere, unless a `BackdropMaterialPlugin` declares that it does not.
///
/// # The first glass of an app
///
/// The shaders of glass compile in the background when the app starts, unless
/// [`GaussianBlurPlugin::precompile_ui`](crate::GaussianBlurPlugin::precompile_ui) is `false` or compiling blocks the main thread:
/// then the first `BackdropBlur` starts it, whatever its radius, hidden or not. The first
/// [`BlurProfile`](crate::BlurProfile) beside a `BackdropBlur` starts the compilation of the shaders for varying blurs.
/// [`BlurReadiness`](crate::BlurReadiness) includes all of them.
///
/// Where threads compile, no frame waits. Until its shaders are compiled, glass is painted in its [`fallback`](Self::fallback), and
/// nothing else changes. Where compiling blocks the main thread, the frame with the first glass takes longer.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[must_use]
pub struct BackdropBlur {
    /// How strong the blur is. Default: the default [`GaussianBlur`], with [`EdgeMode::Mirror`].
    ///
    /// Logical pixels are those of the user interface, `UiScale` included. The node's transform scales the radius along
    /// each axis if the node is upright, otherwise by the root of its determinant. Values out of range mean "no blur" and
    /// are reported once. Without a blur the [colours](Self::colors), the [grain](Self::grain) and a
    /// [`BackdropLens`](crate::BackdropLens) still apply; if they change nothing either, there is no glass and no work.
    ///
    /// [`edge`](GaussianBlur::edge) acts at the border of the pixels that [`sampling`](Self::sampling) lets the blur read.
    pub blur: GaussianBlur,
    /// Which pixels the blur may read. Default: [`BackdropSampling::Inside`].
    pub sampling: BackdropSampling,
    /// What colours the blurred picture, one step after the other. Default: none.
    ///
    /// The first eight steps that change something count; that there are more is reported once.
    pub colors: Vec<ColorStep>,
    /// How opaque the glass is: `mix(picture below, glass, opacity)`, alpha included.
    ///
    /// Range: 0 to 1; values beyond count as 0 or 1. NaN counts as 1 and is reported once. Default: 1.
    pub opacity: f32,
    /// The colour that is painted in the shape of the glass, over the picture below, where no blur is: while blurs are
    /// [off](crate::BlurSwitch::Off), and until the shaders of glass are compiled. It fades with [`opacity`](Self::opacity).
    ///
    /// Default: [`Color::NONE`], nothing.
    pub fallback: Color,
    /// How strong the noise of the glass is, like that of a matte pane: 0 is none, and at 1 its standard deviation is 8/255 of
    /// encoded values. It is static, fixed to the glass, and leaves alpha alone.
    ///
    /// Range: 0 to 1; values beyond count as 0 or 1. NaN counts as 0 and is reported once. Default: 0.
    pub grain: f32,
}

impl Default for BackdropBlur {
    fn default() -> Self {
        Self {
            blur: GaussianBlur::default().with_edge(EdgeMode::Mirror),
            sampling: BackdropSampling::Inside,
            colors: Vec::new(),
            opacity: 1.0,
            fallback: Color::NONE,
            grain: 0.0,
        }
    }
}

impl BackdropBlur {
    /// Glass with a blur of the given radius, which is three standard deviations, in logical pixels.
    pub fn new(radius: f32) -> Self {
        Self::default().with_radius(radius)
    }

    /// Glass with a blur of the given standard deviation, as CSS `blur()` takes it, in logical pixels.
    pub fn from_sigma(sigma: f32) -> Self {
        Self::new(GaussianBlur::from_sigma(sigma).radius)
    }

    /// The same glass with another [`sampling`](Self::sampling).
    pub fn with_sampling(self, sampling: BackdropSampling) -> Self {
        Self { sampling, ..self }
    }

    /// The same glass with another [`grain`](Self::grain).
    pub fn with_grain(self, grain: f32) -> Self {
        Self { grain, ..self }
    }

    /// The same glass with another [`fallback`](Self::fallback).
    pub fn with_fallback(self, fallback: Color) -> Self {
        Self { fallback, ..self }
    }

    /// The opacity and the grain, in range.
    pub(crate) fn shares(&self) -> [f32; 2] {
        [(1.0, self.opacity), (0.0, self.grain)].map(|(neutral, share)| NumberRange::Share.value_or(neutral, share))
    }

    /// What is out of range.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let shares = [("opacity", self.opacity), ("grain", self.grain)];
        let shares = shares.map(|(name, share)| NumberRange::Share.problem(name, share));
        let others = [self.blur.problem(), colors_problem(&self.colors)];
        others.into_iter().chain(shares).flatten().collect()
    }
}

impl HasBlur for BackdropBlur {
    fn shared(&mut self) -> (&mut GaussianBlur, &mut Vec<ColorStep>, &mut f32) {
        (&mut self.blur, &mut self.colors, &mut self.opacity)
    }
}

/// What [`BackdropBlur`] and `UiFilter` share: a blur, colours and an opacity, and the short forms that change them.
pub trait HasBlur: Sized {
    /// The blur, the steps of colour, and the opacity.
    fn shared(&mut self) -> (&mut GaussianBlur, &mut Vec<ColorStep>, &mut f32);

    /// Changes the whole blur, its edge mode included.
    #[must_use]
    fn with_blur(mut self, blur: GaussianBlur) -> Self {
        *self.shared().0 = blur;
        self
    }

    /// Changes the [radius](GaussianBlur::radius) of the blur.
    #[must_use]
    fn with_radius(mut self, radius: f32) -> Self {
        self.shared().0.radius = radius;
        self
    }

    /// Changes the [unit](GaussianBlur::unit) of the radius.
    #[must_use]
    fn with_unit(mut self, unit: BlurUnit) -> Self {
        self.shared().0.unit = unit;
        self
    }

    /// Changes the [aspect](GaussianBlur::aspect) of the blur.
    #[must_use]
    fn with_aspect(mut self, aspect: Vec2) -> Self {
        self.shared().0.aspect = aspect;
        self
    }

    /// Changes the [edge mode](GaussianBlur::edge) of the blur.
    #[must_use]
    fn with_edge(mut self, edge: EdgeMode) -> Self {
        self.shared().0.edge = edge;
        self
    }

    /// Adds a [step of colour](BackdropBlur::colors) after those that are there.
    #[must_use]
    fn with_color(mut self, step: ColorStep) -> Self {
        self.shared().1.push(step);
        self
    }

    /// Changes the [opacity](BackdropBlur::opacity).
    #[must_use]
    fn with_opacity(mut self, opacity: f32) -> Self {
        *self.shared().2 = opacity;
        self
    }
}

/// Which pixels the blur behind glass may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BackdropSampling {
    /// The pixels behind the glass and no others: nothing beside it shines in. [`GaussianBlur::edge`] says what lies
    /// beyond them. Browsers do this, with [`EdgeMode::Mirror`].
    #[default]
    Inside,
    /// The pixels around the glass as well, like a lens. [`GaussianBlur::edge`] acts at the border of the viewport. Glass
    /// that moves over a still picture does not flicker. The cost includes the pixels around the glass.
    Surroundings,
}

/// On a node: the glass in its subtree, and its own, shares one backdrop.
///
/// All of it sees what lies below the first of it: neither each other nor the group's other nodes. Neighbours that see their
/// surroundings are then mirror images, and a list of cards that overlap is blurred at once, at the cost of one blur. A descendant
/// with `GlobalZIndex` leaves the group. Inside a filtered group ([`UiFilter`](crate::UiFilter)), the glass of that group shares a
/// backdrop of its own. Of nested groups, the innermost counts.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct BackdropGroup;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glass_out_of_range_is_neutral_and_says_so() {
        let wrong = BackdropBlur::new(f32::NAN)
            .with_color(ColorStep::Saturate(-1.0))
            .with_opacity(f32::NAN);
        assert_eq!(wrong.shares(), [1.0, 0.0]);
        let names: Vec<_> = wrong.problems().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["blur", "colors", "opacity"]);
        assert!(BackdropBlur::default().problems().is_empty());
    }

    #[test]
    fn opacity_ends_at_0_and_1() {
        for (asked, opacity) in [(-0.1, 0.0), (0.25, 0.25), (1.1, 1.0)] {
            let glass = BackdropBlur::default().with_opacity(asked);
            assert_eq!(glass.shares()[0], opacity);
            assert!(glass.problems().is_empty());
        }
    }

    #[test]
    fn glass_is_made_like_a_blur() {
        assert_eq!(BackdropBlur::from_sigma(20.0), BackdropBlur::new(60.0));
        assert_eq!(BackdropBlur::new(60.0).blur.edge, EdgeMode::Mirror);
        let glass = BackdropBlur::default()
            .with_radius(60.0)
            .with_edge(EdgeMode::Wrap)
            .with_aspect(Vec2::X);
        assert_eq!(glass.blur.radius, 60.0);
    }
}
