//! Glass inside groups: it sees the picture below the group, and over it what the group has painted so far.

use super::content::boxes;
use super::group::{Group, layers, nothing, on_one, over, paint, whole};
use crate::backdrop::pane::{Pane, node};
use crate::backdrop::stage::{HDR, LDR, Ui};
use crate::support::compositor::glass_over;
use crate::support::formats::quantised;
use crate::support::reference::{Picture, tree};
use crate::support::scene::Kind;
use crate::trees::assert_shown;
use bevy::camera::CameraMainTextureUsages;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy_gaussian_blur::prelude::*;

/// Something that a group paints.
#[derive(Clone)]
enum Part {
    /// Nodes.
    Nodes(fn(&mut Ui, Entity)),
    /// Glass.
    Glass(Pane),
    /// A group in the group.
    Group(UiFilter, Vec<Part>),
}

/// A green box on the right.
fn green(ui: &mut Ui, parent: Entity) {
    let corner = node(Vec2::new(120.0, 25.0), Vec2::new(24.0, 60.0));
    let colour = BackgroundColor(Color::linear_rgba(0.2, 0.9, 0.3, 0.7));
    ui.spawn_in(parent, (corner, colour));
}

fn build(parts: &[Part], ui: &mut Ui, parent: Entity) {
    for part in parts {
        match part {
            Part::Nodes(nodes) => nodes(ui, parent),
            Part::Glass(pane) => {
                ui.pane_in(parent, pane.bundle());
            }
            Part::Group(filter, parts) => {
                let node = Node {
                    position_type: PositionType::Absolute,
                    ..whole()
                };
                let inner = ui.spawn_in(parent, (node, filter.clone()));
                build(parts, ui, inner);
            }
        }
    }
}

/// The pictures of all nodes without a background, in the order in which they are painted.
fn alone(group: &mut Group, parts: &[Part], pictures: &mut Vec<Picture>) {
    for part in parts {
        match part {
            Part::Nodes(nodes) => {
                group.show((), nodes);
                let [.., picture] = group.pictures();
                pictures.push(picture);
            }
            Part::Glass(_) => {}
            Part::Group(_, parts) => alone(group, parts, pictures),
        }
    }
}

/// The picture of a group without its background, if the group lies over `below`. The format rounds after each part.
fn painted(
    parts: &[Part],
    below: &Picture,
    alone: &mut impl Iterator<Item = Picture>,
    format: TextureFormat,
) -> Picture {
    let mut all = nothing(below);
    for part in parts {
        let behind = quantised(&over(below, &all), format);
        all = match part {
            Part::Nodes(_) => over(&all, &alone.next().expect("all have been painted")),
            Part::Glass(pane) => glass_over(&pane.panel(1.0), &all, &behind, format),
            Part::Group(filter, parts) => {
                let inner = painted(parts, &behind, alone, format);
                paint(&all, &layers(&inner, filter, 1.0, format), format)
            }
        };
        all = quantised(&all, format);
    }
    all
}

impl Group {
    fn check_parts(&mut self, name: &str, filter: &UiFilter, parts: &[Part]) {
        let mut pictures = Vec::new();
        alone(self, parts, &mut pictures);
        self.show(filter.clone(), |ui, parent| build(parts, ui, parent));
        let [below, got, _] = self.pictures();
        let format = self.stage.format;
        let group = painted(parts, &below, &mut pictures.into_iter(), format);
        let expected = paint(&below, &layers(&group, filter, 1.0, format), format);
        // Glass adds four roundings: of the group, of the group over `below` (twice), and of the glass itself.
        let more = if format == LDR { 1.0 / 255.0 } else { 0.0 };
        self.assert_within(name, &got, &expected, more);
    }
}

fn pane(glass: BackdropBlur) -> Part {
    Part::Glass(Pane::new([40.0, 20.0, 100.0, 70.0], glass).with_radii([8.0; 4]))
}

fn small(left: f32, glass: BackdropBlur) -> Part {
    Part::Glass(Pane::new([left, 35.0, 40.0, 40.0], glass).with_radii([4.0; 4]))
}

fn filters() -> [(&'static str, UiFilter); 5] {
    let shadow = UiFilter::shadow(Vec2::new(4.0, 3.0), 6.0, Color::BLACK.with_alpha(0.7));
    [
        ("faded", UiFilter::opacity(0.6)),
        ("soft", UiFilter::from_sigma(2.0)),
        ("inverted", UiFilter::default().with_color(ColorStep::Invert(1.0))),
        ("shadow", shadow.clone()),
        (
            "all",
            shadow
                .with_opacity(0.7)
                .with_radius(4.0)
                .with_color(ColorStep::Saturate(0.3)),
        ),
    ]
}

#[test]
fn sees_below_the_group_and_what_the_group_has_painted() {
    for (kind, format) in [(Kind::Core2d, LDR), (Kind::Core3d, HDR)] {
        on_one(kind, format, |group| {
            for (name, filter) in filters() {
                let glass = BackdropBlur::from_sigma(3.0);
                let parts = [Part::Nodes(boxes), pane(glass.clone()), Part::Nodes(green)];
                group.check_parts(&format!("glass-{name}"), &filter, &parts);
                // Glass over glass. The sigma of the second pane needs many levels.
                let open = BackdropBlur::from_sigma(14.0).with_sampling(BackdropSampling::Surroundings);
                let parts = [
                    pane(glass.clone().with_opacity(0.8)),
                    Part::Nodes(boxes),
                    small(70.0, open),
                    small(95.0, glass),
                ];
                group.check_parts(&format!("glass-over-glass-{name}"), &filter, &parts);
            }
        });
    }
}

#[test]
fn in_groups_in_groups() {
    // In eight bits, the rounding of so many layers would add up to three levels.
    on_one(Kind::Core2d, HDR, |group| {
        let glass = || small(60.0, BackdropBlur::from_sigma(3.0));
        for (name, inner) in filters() {
            let [deep, plain] = [vec![Part::Nodes(boxes), glass()], vec![Part::Nodes(green)]];
            let outer = UiFilter::shadow(Vec2::new(2.0, 5.0), 3.0, Color::WHITE).with_opacity(0.8);
            let parts = [
                Part::Nodes(green),
                Part::Group(inner.clone(), deep.clone()),
                Part::Group(inner.clone(), plain),
                small(95.0, BackdropBlur::from_sigma(5.0)),
                Part::Group(UiFilter::from_sigma(1.0), deep.clone()),
            ];
            group.check_parts(&format!("glass-nested-{name}"), &outer, &parts);
            let parts = [Part::Group(UiFilter::opacity(0.7), vec![Part::Group(inner, deep)])];
            group.check_parts(&format!("glass-deep-{name}"), &UiFilter::from_sigma(1.5), &parts);
        }
    });
}

/// A filter that becomes slightly non-neutral changes the picture only slightly.
#[test]
fn does_not_pop_when_a_filter_leaves_neutral() {
    on_one(Kind::Core2d, LDR, |group| {
        let parts = [
            Part::Nodes(boxes),
            pane(BackdropBlur::from_sigma(4.0)),
            Part::Nodes(green),
        ];
        let mut show = |filter: UiFilter| {
            group.show(filter, |ui, parent| build(&parts, ui, parent));
            let [_, got, _] = group.pictures();
            got
        };
        let [neutral, nearly] = [UiFilter::default(), UiFilter::opacity(0.999)].map(&mut show);
        group.assert_within("glass-pop", &nearly, &neutral, 1.0 / 255.0);
    });
}

/// Opaque glass covers the shadow of its own node. That also holds if the node is filtered: its picture lies over the glass, with a
/// hole in place of the shadow.
#[test]
fn own_glass_covers_the_shadow_of_its_node() {
    on_one(Kind::Core2d, LDR, |group| {
        let shadow = BoxShadow::new(
            Color::linear_rgba(0.0, 0.3, 0.0, 0.8),
            Val::Px(5.0),
            Val::Px(6.0),
            Val::Px(2.0),
            Val::Px(4.0),
        );
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(4.0));
        let mut show = |filter: UiFilter, is_nested: bool| {
            group.show((), |ui, parent| {
                boxes(ui, parent);
                let parent = if is_nested {
                    ui.spawn_in(parent, (whole_over(), UiFilter::opacity(0.999)))
                } else {
                    parent
                };
                if let Some(card) = ui.pane_in(parent, (pane.bundle(), shadow.clone(), filter.clone())) {
                    let inside = node(Vec2::splat(20.0), Vec2::splat(25.0));
                    ui.spawn_in(card, (inside, BackgroundColor(Color::linear_rgba(0.9, 0.1, 0.1, 0.5))));
                }
            });
            let [_, got, _] = group.pictures();
            got
        };
        let neutral = show(UiFilter::default(), false);
        let nearly = show(UiFilter::opacity(0.999), false);
        let nested = show(UiFilter::opacity(0.999), true);
        group.assert_within("own-shadow", &nearly, &neutral, 1.0 / 255.0);
        group.assert_within("own-shadow-nested", &nested, &neutral, 1.5 / 255.0);
    });
}

/// A node over its siblings, as large as the viewport.
fn whole_over() -> Node {
    node(Vec2::ZERO, Vec2::new(203.0, 117.0))
}

/// Glass inside a group needs a copy of what lies below. On a camera whose texture cannot be copied, the group has no glass.
#[test]
fn a_camera_that_cannot_be_copied() {
    on_one(Kind::Core2d, LDR, |group| {
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        let filter = UiFilter::opacity(0.6);
        let usages = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let camera = group.stage.glass.camera;
        let mut camera = group.stage.headless.app.world_mut().entity_mut(camera);
        camera.insert(CameraMainTextureUsages(usages));
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(3.0));
        group.show(filter.clone(), |ui, parent| {
            boxes(ui, parent);
            ui.pane_in(parent, pane.bundle());
        });
        let [_, got, _] = group.pictures();
        group.assert_painted("no-copy", &got, &paint(&below, &layers(&alone, &filter, 1.0, LDR), LDR));
    });
}

/// The hole for the glass of a filtered node lies in the picture of this node, not in those of its neighbours on the page.
#[test]
fn holes_do_not_reach_neighbours() {
    let icon = tree::Node {
        filter: Some(tree::Filter {
            shadows: vec![tree::Shadow {
                offset: [3.0, 4.0],
                sigma: [2.0; 2],
                color: [0.0, 0.0, 0.0, 0.8],
                is_glow: false,
                is_inset: false,
            }],
            ..tree::Filter::NEUTRAL
        }),
        ..tree::Node::new([30.0, 20.0], [16.0, 16.0], [0.9, 0.3, 0.1, 1.0])
    };
    let tooltip = tree::Node {
        glass: Some(tree::Glass::new(2.0)),
        filter: Some(tree::Filter {
            opacity: 0.9,
            ..tree::Filter::NEUTRAL
        }),
        // So near to the icon that both are painted with one view.
        children: vec![tree::Node::new([38.0, 14.0], [8.0, 12.0], [0.1, 0.9, 0.2, 1.0])],
        ..tree::Node::new([10.0, 8.0], [70.0, 48.0], [0.0; 4])
    };
    let tree = tree::Tree {
        size: [96, 64],
        clear: [0.1, 0.3, 0.6, 1.0],
        nodes: vec![icon, tooltip],
    };
    for format in [LDR, HDR] {
        assert_shown(format, &[("hole".into(), tree.clone())]);
    }
}
