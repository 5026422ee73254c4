//! Filters of the user interface: a node and its descendants are blurred, coloured, shadowed and faded as one picture.

use super::backdrop::HasBlur;
use super::color_functions::{ColorStep, colors_problem};
use super::ranges::{NumberRange, Problem};
use super::strength::{EdgeMode, GaussianBlur};
use bevy::prelude::*;
use bevy::reflect::enums::Enum;

/// Filters this node and its descendants as one picture, as CSS `filter` and `opacity` do.
///
/// It goes on a node of Bevy's user interface (feature `ui`). All fields may change in any frame.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// fn spawn(mut commands: Commands) {
///     // A title with a soft shadow:
///     commands.spawn((Text::new("Aurora"), UiFilter::shadow(vec2(0.0, 4.0), 12.0, Color::BLACK)));
///     // Letters with a line around them:
///     commands.spawn((Text::new("Score"), UiFilter::outline(2.0, Color::BLACK)));
///     // A panel that is out of focus:
///     commands.spawn((Node::default(), UiFilter::blur(9.0).with_color(ColorStep::Saturate(0.4))));
///     // A HUD that fades as one:
///     commands.spawn((Node::default(), UiFilter::opacity(0.5)));
/// }
/// ```
///
/// # The order
///
/// The group is painted, [faded](Self::fade) towards sides of its box, [blurred](Self::blur) and [coloured](Self::colors), step by step, on
/// values encoded as sRGB, as in CSS. A [line](Self::outline) around the result lies below it, [shadows](Self::shadows) of both lie below
/// both, and [`opacity`](Self::opacity) fades all of that. A [`BlurProfile`](crate::BlurProfile) beside it lets the blur vary over the
/// node's border box, unless a [`BackdropBlur`](crate::BackdropBlur) is there as well: then it varies the glass, and the filter belongs on
/// a parent. Until its mask is loaded, the group is sharp; the rest of the filter applies.
///
/// # The group
///
/// The group is the node with all its descendants in Bevy's stacking order. A descendant with `GlobalZIndex` leaves the
/// group, as it leaves the order of its parent. Filters inside a group act before the group's own. The node's own overflow
/// clips the group before it is filtered, and its ancestors clip the result: a shadow reaches beyond the node, not beyond a
/// scroll list around it. Transforms act before the filter: the filter's lengths are lengths on the screen, scaled by the
/// node's transform along the x and the y of the screen.
///
/// Glass on the node itself ([`BackdropBlur`](crate::BackdropBlur)) lies under the group and its shadows: it is not filtered and
/// casts no shadow, but fades with [`opacity`](Self::opacity). The node's `BoxShadow` is not visible through it.
///
/// Glass on other nodes of the group sees what lies below the group, and what the group has painted before the glass. It sees both without
/// this filter, which then applies to the glass, too: in a HUD that fades, the glass shows its siblings at full strength, and fades with
/// them. Of what a node that [`is_rounded`](Self::is_rounded) clips, it sees nothing beyond the bounds of the node's box. In CSS a filter on
/// an ancestor cuts glass off from what lies below. On a transparent camera, what lies below shows through such glass where its blur is
/// transparent.
///
/// Materials and other crates' items are drawn into the group as they are. For their edges to be right, they must blend as
/// Bevy's user interface does (`BlendState::ALPHA_BLENDING`). The bounds of a `MaterialNode` are known if
/// [`BackdropMaterialPlugin`](crate::BackdropMaterialPlugin) has been added for its material, otherwise the group is as large as
/// the viewport.
///
/// A filter changes what is painted, not the layout, and not what the pointer hits.
///
/// A group needs a camera whose picture has at least eight bits of alpha. On others, for example `R8Unorm` or `Rgb10a2Unorm`, it is
/// not filtered, which is logged once.
///
/// # Cost
///
/// A neutral filter costs nothing and changes no bit; its [`edge`](GaussianBlur::edge) is [`Transparent`](EdgeMode::Transparent). Any other filter paints its group into a texture in every frame, blurs
/// the texture and paints the result; the cost grows with the area of the group. Groups that do not contain each other share
/// textures and passes.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[must_use]
pub struct UiFilter {
    /// How strong the blur is. Default: none.
    ///
    /// Logical pixels are scaled by `UiScale`, as in the rest of the user interface. With the [`edge`](GaussianBlur::edge)
    /// [`Transparent`](EdgeMode::Transparent), which [`UiFilter::default`] and the short forms have, everything outside the group is
    /// transparent, and the blur spreads beyond it, as in CSS. With any other one, the group ends at the bounds of the node's border box,
    /// even without a blur: nothing beyond is shown, and the blur reads there what the mode says. So a group that fills the screen keeps
    /// its border. Values out of range mean "no blur" and are reported once.
    pub blur: GaussianBlur,
    /// What colours the blurred group, one step after the other. Default: none.
    ///
    /// The first eight steps that change something count; that there are more is reported once.
    pub colors: Vec<ColorStep>,
    /// A line around the blurred and coloured group, in the shape of its alpha. Default: none.
    pub outline: GroupOutline,
    /// Shadows and glows of the group, in the shape of its alpha. The first one lies on top. Default: none.
    pub shadows: Vec<DropShadow>,
    /// How opaque the group and its shadows are, as in CSS `opacity`.
    ///
    /// Range: 0 to 1; values beyond count as 0 or 1. NaN counts as 1 and is reported once. Default: 1.
    pub opacity: f32,
    /// Whether the node's descendants are clipped to its rounded padding box, as CSS `overflow: clip` clips with a `border-radius`.
    /// Default: `false`.
    ///
    /// They are clipped, with smooth edges, before the group is blurred, coloured, shadowed and faded: the shadow of a rounded card is
    /// rounded. The box turns and scales with the node. The node's own background, border, `BoxShadow` and `Outline` are drawn as
    /// ever, so a background in another colour than what lies on it may show as a thin line along the smooth edges.
    pub is_rounded: bool,
    /// Over which length the group fades at each side of the node's padding box, as a scroll list fades at its ends. Default:
    /// [`UiRect::ZERO`], which does not fade.
    ///
    /// The group is transparent at such a side and beyond it, and opaque from this length on inwards, with a linear ramp in between.
    /// Where two ramps meet, the product of both counts. [`Val::Px`] is logical pixels, and [`Val::Percent`] is of the box along
    /// that axis. The box turns and scales with the node. A length may grow from 0 without a jump if the group ends at that side of
    /// the box, as a clipped list does: what lies beyond the side vanishes at once.
    ///
    /// The node's own background and border fade, too. [Blur](Self::blur), [colours](Self::colors) and [shadows](Self::shadows) are
    /// those of the faded group, so shadows fade with it. Glass in the group fades with the group; glass of the node itself does not.
    ///
    /// Range: finite and at least 0. Other values and [`Val::Auto`] count as 0; the former are reported once.
    pub fade: UiRect,
}

/// A line around a group, in the shape of its alpha: around letters, icons and panels.
///
/// It lies below the group, as a shadow does, and so shows through translucent parts. [Shadows](UiFilter::shadows) fall from the group
/// with its line; those [inside of the group](DropShadow::is_inset) lie on the group alone.
///
/// Around what covers a tenth of a pixel or more, the line is as opaque as its colour; around less, it is fainter. Alpha counts as the
/// covered share of a pixel, so around a translucent panel the line is narrower than around an opaque one, by less than a pixel. Corners
/// are round. Straight lines end within a tenth of a pixel of their width, and within a fifth if they are oblique.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct GroupOutline {
    /// How far it reaches beyond the group, in logical pixels, scaled with the node's transform. It may grow from 0 without a jump.
    /// Default: 0, no line.
    ///
    /// It ends at 16 physical pixels, because its cost grows with the square of its width. Range: finite and at least 0; other values
    /// count as 0 and are reported once.
    pub width: f32,
    /// Its colour, with its opacity. The group's [colour functions](UiFilter::colors) do not change it. Default: black.
    pub color: Color,
}

impl Default for GroupOutline {
    fn default() -> Self {
        Self {
            width: 0.0,
            color: Color::BLACK,
        }
    }
}

impl GroupOutline {
    /// The width, in range: 0 if the line is invisible.
    pub(crate) fn seen_width(&self) -> f32 {
        let width = NumberRange::Positive.value_or(0.0, self.width);
        if self.color.alpha() > 0.0 { width } else { 0.0 }
    }
}

/// A shadow or a glow of a group, as in CSS `drop-shadow()`.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[must_use]
pub struct DropShadow {
    /// The distance from the group to the shadow, in logical pixels; y goes down. Default: (0, 4).
    ///
    /// Along an axis in which the shadow's blur has a standard deviation of at least one physical pixel, which is a radius of 3, the
    /// distance is kept to a 64th of a pixel, so a shadow moves smoothly. Otherwise it is rounded to whole physical pixels, as Bevy
    /// rounds the positions of nodes.
    ///
    /// Range: finite; otherwise there is no shadow, which is reported once.
    pub offset: Vec2,
    /// How soft the shadow is: three standard deviations of its blur, in logical pixels. CSS and [`DropShadow::from_sigma`] take
    /// one standard deviation. Default: 12.
    ///
    /// Range: finite and at least 0; otherwise there is no shadow, which is reported once.
    pub radius: f32,
    /// The colour of the shadow, with its opacity. Default: black, half transparent.
    pub color: Color,
    /// Whether the colour is added as light to what lies below, instead of covering it. Default: `false`.
    ///
    /// On a camera with a transparent background, light over nothing is colour without alpha. An `ImageNode` or a sprite that shows
    /// this camera's picture multiplies by alpha, and so shows nothing of a glow.
    pub is_glow: bool,
    /// Whether the shadow falls into the group, from around it, as CSS `box-shadow: inset` falls into a box. Default: `false`.
    ///
    /// It lies on the group, inside the group's own shape, and is strongest at the borders: its alpha is one minus the blurred alpha of the
    /// group, moved by the offset. Text looks pressed into a panel, a card gets a vignette, and a [glow](Self::is_glow) shines from its
    /// border.
    ///
    /// On a node with glass of its own ([`BackdropBlur`](crate::BackdropBlur)), the glass is no part of the group, so the shadow does not
    /// fall onto it: put the filter on a parent.
    pub is_inset: bool,
}

impl Default for DropShadow {
    fn default() -> Self {
        Self {
            offset: Vec2::new(0.0, 4.0),
            radius: 12.0,
            color: Color::BLACK.with_alpha(0.5),
            is_glow: false,
            is_inset: false,
        }
    }
}

impl DropShadow {
    /// A shadow with a blur of the given radius, which is three standard deviations.
    pub fn new(offset: Vec2, radius: f32, color: Color) -> Self {
        Self {
            offset,
            radius,
            color,
            ..Self::default()
        }
    }

    /// A shadow with a blur of the given standard deviation, as CSS `drop-shadow()` takes it.
    pub fn from_sigma(offset: Vec2, sigma: f32, color: Color) -> Self {
        Self::new(offset, GaussianBlur::from_sigma(sigma).radius, color)
    }

    /// Light of this colour around the group.
    pub fn glow(radius: f32, color: Color) -> Self {
        Self {
            is_glow: true,
            ..Self::new(Vec2::ZERO, radius, color)
        }
    }

    /// The same shadow, which falls [into the group](Self::is_inset).
    pub fn inset(self) -> Self {
        Self { is_inset: true, ..self }
    }

    /// What is out of range.
    fn problem(&self) -> Option<Problem> {
        let offset = |along: f32| NumberRange::Finite.problem("offset of a shadow", along);
        let radius = || NumberRange::Positive.problem("radius of a shadow", self.radius);
        self.offset.to_array().into_iter().find_map(offset).or_else(radius)
    }

    /// Whether it is drawn.
    pub(crate) fn is_seen(&self) -> bool {
        self.problem().is_none() && self.color.alpha() > 0.0
    }
}

impl Default for UiFilter {
    fn default() -> Self {
        Self {
            blur: GaussianBlur::new(0.0).with_edge(EdgeMode::Transparent),
            colors: Vec::new(),
            outline: GroupOutline::default(),
            shadows: Vec::new(),
            opacity: 1.0,
            is_rounded: false,
            fade: UiRect::ZERO,
        }
    }
}

impl UiFilter {
    /// A blur of the given radius, which is three standard deviations, in logical pixels.
    pub fn blur(radius: f32) -> Self {
        Self::default().with_radius(radius)
    }

    /// A blur of the given standard deviation, as CSS `blur()` takes it, in logical pixels.
    pub fn from_sigma(sigma: f32) -> Self {
        Self::blur(GaussianBlur::from_sigma(sigma).radius)
    }

    /// A group with this opacity.
    pub fn opacity(opacity: f32) -> Self {
        Self::default().with_opacity(opacity)
    }

    /// A group with a shadow, whose blur has the given radius: three standard deviations.
    pub fn shadow(offset: Vec2, radius: f32, color: Color) -> Self {
        Self::default().with_shadow(DropShadow::new(offset, radius, color))
    }

    /// The same filter with one more shadow, below those that it has.
    pub fn with_shadow(mut self, shadow: DropShadow) -> Self {
        self.shadows.push(shadow);
        self
    }

    /// A filter that only clips the node's descendants to its [rounded box](Self::is_rounded).
    pub fn rounded() -> Self {
        Self::default().with_rounded(true)
    }

    /// The same filter, which clips the node's descendants to its [rounded box](Self::is_rounded) or not.
    pub fn with_rounded(self, is_rounded: bool) -> Self {
        Self { is_rounded, ..self }
    }

    /// A group with a [line](Self::outline) of this width around it.
    pub fn outline(width: f32, color: Color) -> Self {
        Self::default().with_outline(width, color)
    }

    /// The same filter with another [`outline`](Self::outline).
    pub fn with_outline(self, width: f32, color: Color) -> Self {
        Self {
            outline: GroupOutline { width, color },
            ..self
        }
    }

    /// A filter that fades the group towards [sides of its box](Self::fade).
    pub fn fade(fade: UiRect) -> Self {
        Self::default().with_fade(fade)
    }

    /// The same filter with another [`fade`](Self::fade).
    pub fn with_fade(self, fade: UiRect) -> Self {
        Self { fade, ..self }
    }

    /// Over which lengths the group fades: left, top, right, bottom.
    pub(crate) fn fades(&self) -> [Val; 4] {
        [self.fade.left, self.fade.top, self.fade.right, self.fade.bottom]
    }

    /// Whether a shadow falls into the group.
    pub(crate) fn has_insets(&self) -> bool {
        self.shadows.iter().any(|shadow| shadow.is_inset)
    }

    /// The opacity, in range.
    pub(crate) fn opacity_in_range(&self) -> f32 {
        NumberRange::Share.value_or(1.0, self.opacity)
    }

    /// What is out of range.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        // The number of any unit. `Val::Auto` has none.
        let fade = |length: Val| {
            let number = length.field_at(0)?.try_downcast_ref()?;
            NumberRange::Positive.problem("length of a fade", *number)
        };
        let problems = [
            self.blur.problem(),
            colors_problem(&self.colors),
            self.shadows.iter().find_map(DropShadow::problem),
            NumberRange::Share.problem("opacity", self.opacity),
            NumberRange::Positive.problem("width of an outline", self.outline.width),
            self.fades().into_iter().find_map(fade),
        ];
        problems.into_iter().flatten().collect()
    }
}

impl HasBlur for UiFilter {
    fn shared(&mut self) -> (&mut GaussianBlur, &mut Vec<ColorStep>, &mut f32) {
        (&mut self.blur, &mut self.colors, &mut self.opacity)
    }
}

#[cfg(test)]
mod tests {
    use super::super::color_functions::ColorMatrices;
    use super::*;
    use crate::settings::BlurUnit;

    #[test]
    fn filters_out_of_range_are_neutral_and_say_so() {
        let wrong = UiFilter::blur(-1.0)
            .with_color(ColorStep::Saturate(f32::NAN))
            .with_shadow(DropShadow::new(Vec2::NAN, 3.0, Color::BLACK))
            .with_opacity(f32::NAN)
            .with_outline(f32::INFINITY, Color::BLACK)
            .with_fade(UiRect::left(Val::Px(-1.0)));
        let names: Vec<_> = wrong.problems().iter().map(|(name, _)| *name).collect();
        let lengths = ["width of an outline", "length of a fade"];
        assert_eq!(
            names,
            [["blur", "colors", "offset of a shadow", "opacity"].as_slice(), &lengths].concat()
        );
        assert!(ColorMatrices::new(&wrong.colors).is_neutral());
        assert_eq!(wrong.opacity_in_range(), 1.0);
        assert!(!wrong.shadows[0].is_seen());
        assert!(UiFilter::default().problems().is_empty());
    }

    #[test]
    fn the_short_forms_change_the_blur() {
        let blur = GaussianBlur::new(30.0)
            .with_unit(BlurUnit::ViewportHeight)
            .with_aspect(Vec2::X)
            .with_edge(EdgeMode::Wrap);
        let filter = UiFilter::blur(3.0)
            .with_radius(30.0)
            .with_unit(BlurUnit::ViewportHeight)
            .with_aspect(Vec2::X)
            .with_edge(EdgeMode::Wrap);
        assert_eq!(filter.blur, blur);
        assert_eq!(GaussianBlur::new(3.0).with_radius(30.0), GaussianBlur::new(30.0));
    }

    #[test]
    fn filters_take_radii_and_standard_deviations() {
        assert_eq!(UiFilter::from_sigma(4.0), UiFilter::blur(12.0));
        let shadow = DropShadow::from_sigma(Vec2::ONE, 4.0, Color::BLACK);
        assert_eq!(
            UiFilter::default().with_shadow(shadow),
            UiFilter::shadow(Vec2::ONE, 12.0, Color::BLACK)
        );
    }
}
