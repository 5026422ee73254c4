//! Groups of everything that Bevy's user interface paints, blurs that vary, several cameras, and cameras over nothing.

use super::content::boxes;
use super::group::{Group, layers, nothing, on_one, over, paint, whole};
use crate::backdrop::interface::{spawn_all, stage};
use crate::backdrop::pane::{Pane, node};
use crate::backdrop::stage::{BACKENDS, LDR, Ui};
use crate::profiles::sigmas;
use crate::support::assert_close;
use crate::support::compositor::glass_over;
use crate::support::formats::quantised;
use crate::support::logs;
use crate::support::reference::{Functions, Picture, Step, tree, varying_blur};
use crate::support::scene::Kind;
use crate::trees::assert_shown;
use bevy::prelude::*;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

fn shadowed() -> UiFilter {
    UiFilter::shadow(Vec2::new(4.0, 3.0), 6.0, Color::BLACK.with_alpha(0.7))
}

#[test]
fn every_kind_of_item() {
    for backend in BACKENDS {
        let Some((stage, content)) = stage(backend) else {
            return;
        };
        let mut group = Group::of(stage, Kind::Core2d);
        for (name, filter) in [
            ("faded", UiFilter::opacity(0.5)),
            ("soft", UiFilter::from_sigma(2.0)),
            ("shadow", shadowed()),
        ] {
            group.check(&format!("kinds-{name}"), &filter, |ui, parent| {
                spawn_all(ui, parent, &content);
            });
        }
    }
}

/// A profile lets the blur vary over the node's box, which is the viewport here.
#[test]
fn blurs_that_vary() {
    on_one(Kind::Core2d, LDR, |group| {
        let profile = BlurProfile::Linear {
            start: Vec2::new(0.1, 0.5),
            end: Vec2::new(0.9, 0.6),
            from: 0.0,
            to: 1.0,
        };
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        let sigma = 6.0;
        let of_texel = sigmas(&profile, [alone.width, alone.height], sigma);
        let blurred = varying_blur(&alone, EdgeMode::Transparent, |x, y| [of_texel[y * alone.width + x]; 2]);
        for (name, filter) in [("alone", UiFilter::default()), ("shadow", shadowed())] {
            let blurs = filter.clone().with_radius(3.0 * sigma as f32);
            group.show((blurs, profile.clone()), boxes);
            let [_, got, _] = group.pictures();
            let painted = paint(&below, &layers(&quantised(&blurred, LDR), &filter, 1.0, LDR), LDR);
            // A varying blur may be off by two levels.
            group.assert_within(&format!("varies-{name}"), &got, &painted, 2.0 / 255.0);
        }
    });
}

/// Two cameras, each with its own filter, one with glass inside.
#[test]
fn two_cameras() {
    on_one(Kind::Core2d, LDR, |group| {
        group.show((), boxes);
        let [below, _, alone] = group.pictures();
        let [weak, strong] = [UiFilter::from_sigma(1.5), shadowed().with_opacity(0.6)];
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(3.0));
        group.stage.clear();
        let [plain, glass] = [group.stage.plain.camera, group.stage.glass.camera];
        group.stage.add(plain, false, &|ui: &mut Ui| {
            let node = ui.spawn((whole(), weak.clone()));
            boxes(ui, node);
        });
        group.stage.add(glass, true, &|ui: &mut Ui| {
            let node = ui.spawn((whole(), strong.clone()));
            boxes(ui, node);
            ui.pane_in(node, pane.bundle());
        });
        group.stage.headless.warm_up();
        let [first, second, _] = group.pictures();
        let painted = paint(&below, &layers(&alone, &weak, 1.0, LDR), LDR);
        group.assert_painted("cameras-first", &first, &painted);
        let behind = quantised(&over(&below, &alone), LDR);
        let all = quantised(&glass_over(&pane.panel(1.0), &alone, &behind, LDR), LDR);
        let painted = paint(&below, &layers(&all, &strong, 1.0, LDR), LDR);
        group.assert_within("cameras-second", &second, &painted, 1.0 / 255.0);
    });
}

/// On a camera with a transparent clear colour, a filtered group keeps its alpha.
#[test]
fn over_nothing() {
    on_one(Kind::Core2d, LDR, |group| {
        group.show((), boxes);
        let [.., alone] = group.pictures();
        for (name, filter) in [
            ("faded", UiFilter::opacity(0.5)),
            ("soft", UiFilter::from_sigma(2.0)),
            ("shadow", shadowed()),
        ] {
            group.stage.clear();
            let camera = group.alone.camera;
            group.stage.add(camera, false, &|ui: &mut Ui| {
                let node = ui.spawn((whole(), filter.clone()));
                boxes(ui, node);
            });
            group.stage.headless.warm_up();
            let [.., got] = group.pictures();
            let painted = paint(&nothing(&alone), &layers(&alone, &filter, 1.0, LDR), LDR);
            group.assert_painted(&format!("over-nothing-{name}"), &got, &painted);
        }
    });
}

/// Glass that is frozen inside a group keeps the picture that it saw there, and blurs it as its settings say.
#[test]
fn frozen_glass_in_a_group() {
    on_one(Kind::Core2d, LDR, |group| {
        let pane = Pane::new([40.0, 20.0, 100.0, 70.0], BackdropBlur::from_sigma(3.0));
        group.show(UiFilter::opacity(0.7), |ui, parent| {
            boxes(ui, parent);
            ui.pane_in(parent, pane.bundle());
        });
        let [_, before, _] = group.pictures();
        group.stage.change(0, BackdropBlur::from_sigma(6.0));
        group.stage.headless.warm_up();
        let [_, stronger, _] = group.pictures();
        group.stage.change(0, BackdropBlur::from_sigma(3.0));
        group.stage.headless.warm_up();
        group.stage.change(0, FreezeBlur);
        group.stage.headless.warm_up();
        let [_, frozen, _] = group.pictures();
        assert!(frozen == before, "freezing changes what is seen");
        let covered = node(Vec2::new(60.0, 35.0), Vec2::new(30.0, 30.0));
        let pane_entity = group.stage.panes[0];
        let world = group.stage.headless.app.world_mut();
        let parent = world.get::<ChildOf>(pane_entity).expect("it is in the group").parent();
        let cover = world.spawn((covered, BackgroundColor(Color::WHITE))).id();
        world.entity_mut(parent).insert_children(0, &[cover]);
        group.stage.headless.warm_up();
        let [_, after, _] = group.pictures();
        let inside = |picture: &Picture| picture.crop([42, 22], [96, 66]);
        assert!(inside(&after) == inside(&before), "frozen glass has changed");
        group.stage.change(0, BackdropBlur::from_sigma(6.0));
        group.stage.headless.warm_up();
        let [_, eased, _] = group.pictures();
        assert_close(
            "eased-frozen-glass",
            &inside(&eased),
            &inside(&stronger),
            &[0, 1, 2, 3],
            1.0 / 255.0,
        );
        group
            .stage
            .headless
            .app
            .world_mut()
            .entity_mut(pane_entity)
            .remove::<FreezeBlur>();
        group.stage.headless.warm_up();
        let [_, live, _] = group.pictures();
        assert!(
            inside(&live) != inside(&before),
            "the cover is not seen through live glass"
        );
    });
}

/// A glow adds light to the picture of its group. Colour functions of the group change this light as well, and keep it.
#[test]
fn glows_in_coloured_groups() {
    let glow = tree::Shadow {
        offset: [0.0; 2],
        sigma: [4.0; 2],
        color: [0.8, 0.6, 0.4, 1.0],
        is_glow: true,
        is_inset: false,
    };
    let mut trees = Vec::new();
    for (name, saturation, brightness) in [
        ("neutral", 0.99, 1.0),
        ("saturated", 1.2, 1.0),
        ("bright", 1.0, 1.2),
        ("dark", 0.5, 0.6),
    ] {
        for alpha in [0.0, 0.01, 0.3, 1.0] {
            let light = tree::Node {
                filter: Some(tree::Filter {
                    shadows: vec![glow],
                    ..tree::Filter::NEUTRAL
                }),
                ..tree::Node::new([20.0, 10.0], [20.0, 12.0], [1.0; 4])
            };
            let panel = tree::Node {
                children: vec![light],
                ..tree::Node::new([10.0, 10.0], [60.0, 40.0], [0.1, 0.2, 0.1, alpha])
            };
            let group = tree::Node {
                filter: Some(tree::Filter {
                    functions: Functions(vec![Step::Saturate(saturation), Step::Brightness(brightness)]),
                    ..tree::Filter::NEUTRAL
                }),
                children: vec![panel],
                ..tree::Node::new([0.0; 2], [96.0, 64.0], [0.0; 4])
            };
            let tree = tree::Tree {
                size: [96, 64],
                clear: [0.05, 0.1, 0.1, 1.0],
                nodes: vec![group],
            };
            trees.push((format!("glow-{name}-{alpha}"), tree));
        }
    }
    assert_shown(LDR, &trees);
}

/// Two bits of alpha cannot hold a group: it is shown unfiltered, which is logged once.
#[test]
fn formats_with_little_alpha() {
    on_one(Kind::Core2d, TextureFormat::Rgb10a2Unorm, |group| {
        group.show((), boxes);
        let [below, unfiltered, _] = group.pictures();
        assert!(below != unfiltered, "the group is visible");
        for filter in [UiFilter::opacity(0.8), shadowed(), UiFilter::from_sigma(2.0)] {
            group.show(filter, boxes);
            let [_, got, _] = group.pictures();
            assert_close("little-alpha", &got, &unfiltered, &[0, 1, 2, 3], 0.5 / 1023.0);
        }
    });
    let messages = logs::all("Rgb10a2Unorm");
    let said = messages.iter().filter(|message| message.contains("UiFilter"));
    assert!(said.count() <= 1, "{messages:?}");
}
