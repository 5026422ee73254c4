//! Groups of everything that Bevy's user interface paints, blurs that vary, several cameras, and cameras over nothing.

use super::*;
use crate::backdrop::interface::{spawn_all, stage};
use crate::backdrop::pane::Pane;
use crate::backdrop::stage::Ui;

fn shadowed() -> UiFilter {
    UiFilter::shadow(Vec2::new(4.0, 3.0), 6.0, Color::BLACK.with_alpha(0.7))
}

#[test]
fn every_kind_of_item() {
    for backend in one_backend() {
        let (stage, content) = stage(backend);
        let mut group = Group::of(stage, Kind::Core2d);
        for (name, filter) in [("faded", UiFilter::opacity(0.5)), ("soft", UiFilter::from_sigma(2.0))] {
            group.check(&format!("kinds-{name}"), &filter, |ui, parent| {
                spawn_all(ui, parent, &content);
            });
        }
    }
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
        // What is kept lies in a texture of its own, in which positions are rounded differently.
        let (eased, stronger) = measured(&inside(&eased), &inside(&stronger), LDR);
        assert_close("eased-frozen-glass", &eased, &stronger, &RGBA, 1.01 / 255.0);
        group.stage.headless.remove::<FreezeBlur>(pane_entity);
        group.stage.headless.warm_up();
        let [_, live, _] = group.pictures();
        assert!(
            inside(&live) != inside(&before),
            "the cover is not seen through live glass"
        );
    });
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
            assert_close("little-alpha", &got, &unfiltered, &RGBA, 0.5 / 1023.0);
        }
    });
    let messages = logs::all("Rgb10a2Unorm");
    let said = messages.iter().filter(|message| message.contains("UiFilter"));
    assert!(said.count() <= 1, "{messages:?}");
}

/// A neutral filter changes no bit.
#[test]
fn neutral_filters() {
    on_one(Kind::Core2d, LDR, |group| {
        group.show((), boxes);
        let [_, unfiltered, _] = group.pictures();
        let without_length = UiRect::new(Val::Auto, Val::Percent(0.0), Val::Px(-1.0), Val::Px(f32::NAN));
        let shadow = DropShadow::new(Vec2::ONE, 3.0, Color::NONE);
        for (width, color) in [
            (0.0, Color::BLACK),
            (-2.0, Color::BLACK),
            (f32::NAN, Color::WHITE),
            (3.0, Color::NONE),
        ] {
            let neutral = UiFilter::fade(without_length)
                .with_shadow(shadow)
                .with_outline(width, color);
            group.show(neutral, boxes);
            let [_, filtered, _] = group.pictures();
            assert!(unfiltered == filtered, "a neutral filter changes the picture");
        }
    });
}

/// Lengths are in logical pixels of the user interface: half as long, with twice as many physical pixels in each, they are the same.
#[test]
fn scale_factors() {
    on_one(Kind::Core2d, LDR, |group| {
        let mut shown = |scale: f32| {
            group.stage.set_scale_factor(scale);
            group.stage.clear();
            let camera = group.stage.glass.camera;
            group.stage.add(camera, true, &|ui: &mut Ui| {
                let at = |left: f32, top: f32, width: f32, height: f32| {
                    node(Vec2::new(left, top) / scale, Vec2::new(width, height) / scale)
                };
                let filter = UiFilter::shadow(Vec2::new(4.0, 3.0) / scale, 8.0 / scale, Color::BLACK);
                let filter = filter.with_outline(2.0 / scale, Color::WHITE);
                ui.spawn((
                    at(0.0, 0.0, 203.0, 117.0),
                    BackgroundColor(Color::linear_rgb(0.3, 0.5, 0.1)),
                ));
                let list = ui.spawn((at(0.0, 0.0, 203.0, 117.0), filter));
                let white = BackgroundColor(Color::WHITE.with_alpha(0.7));
                ui.spawn_in(list, (at(20.0, 30.0, 44.0, 26.0), white));
                let text = (Text::new("Aa"), TextFont::from_font_size(28.0 / scale));
                ui.spawn_in(list, (at(60.0, 34.0, 60.0, 40.0), text));
            });
            group.stage.headless.warm_up();
            group.stage.glass.picture(&group.stage.headless)
        };
        let [one, two] = [1.0, 2.0].map(&mut shown);
        assert!(
            !one.texels.iter().all(|texel| *texel == one.texels[0]),
            "something is seen"
        );
        assert_close("scale-factor-2", &two, &one, &RGBA, 0.0);
    });
}

/// The thinnest lines around groups are hardly visible.
#[test]
fn thin_lines_are_hardly_visible() {
    on_one(Kind::Core2d, LDR, |group| {
        let mut shown = |width: f32| {
            group.show(UiFilter::outline(width, Color::BLACK), boxes);
            let [_, filtered, _] = group.pictures();
            filtered
        };
        let [none, thin] = [0.0, 0.01].map(&mut shown);
        let most = worst_difference(&none, &thin).value;
        // The group is stored before, in eight bits of encoded light. A line that jumped would be 64 levels.
        assert!(most <= 8.0 / 255.0, "{} levels", most * 255.0);
    });
}
