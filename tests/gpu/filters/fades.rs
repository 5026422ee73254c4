//! Groups that fade towards sides of their node, in settings that trees do not have.

use super::*;
use crate::backdrop::stage::Ui;
use bevy::ecs::system::RunSystemOnce;

/// Beside a list: the recipe of `docs/questions.md`.
#[derive(Component)]
struct FadingEnds;

fn fade_ends(mut lists: Query<(&ComputedNode, &mut UiFilter), With<FadingEnds>>) {
    for (node, mut filter) in &mut lists {
        let to_logical = node.inverse_scale_factor();
        let above = node.scroll_position.y * to_logical;
        let below = (node.content_size() - node.size()).y * to_logical - above;
        let fade = UiRect {
            top: Val::Px(above.clamp(0.0, 24.0)),
            bottom: Val::Px(below.clamp(0.0, 24.0)),
            ..UiRect::ZERO
        };
        if filter.fade != fade {
            filter.fade = fade;
        }
    }
}

/// Only ends that hide something fade, and from nothing on: at the start, near it, in the middle and at the end.
#[test]
fn ends_of_a_list_fade_as_far_as_they_hide_something() {
    on_one(Kind::Core2d, LDR, |group| {
        group.stage.clear();
        let camera = group.stage.glass.camera;
        let lists = std::sync::Mutex::new(Vec::new());
        group.stage.add(camera, true, &|ui: &mut Ui| {
            let list = Node {
                overflow: Overflow::scroll_y(),
                ..node(Vec2::new(40.0, 25.0), Vec2::new(66.0, 60.0))
            };
            let white = BackgroundColor(Color::linear_rgb(1.0, 1.0, 1.0));
            let list = ui.spawn((list, FadingEnds, UiFilter::default()));
            ui.spawn_in(list, (node(Vec2::ZERO, Vec2::new(66.0, 200.0)), white));
            lists.lock().expect("no test panicked").push(list);
        });
        let list = lists.into_inner().expect("no test panicked")[0];
        for (scrolled, [top, bottom]) in [
            (0.0, [0.0, 24.0]),
            (3.0, [3.0, 24.0]),
            (70.0, [24.0, 24.0]),
            (137.0, [24.0, 3.0]),
            (140.0, [24.0, 0.0]),
        ] {
            let world = group.stage.headless.app.world_mut();
            world.entity_mut(list).insert(ScrollPosition(Vec2::new(0.0, scrolled)));
            group.stage.headless.warm_up();
            let world = group.stage.headless.app.world_mut();
            world.run_system_once(fade_ends).expect("it has what it needs");
            group.stage.headless.warm_up();
            let [below, got, _] = group.pictures();
            for y in 25..85_usize {
                let from = |inwards: f64, length: f64| if length > 0.0 { (inwards / length).min(1.0) } else { 1.0 };
                let share = from(y as f64 - 24.5, top) * from(84.5 - y as f64, bottom);
                let expected = share + below.at(70, y)[1] * (1.0 - share);
                let off = 255.0 * (got.at(70, y)[1] - expected).abs();
                assert!(off <= 3.0, "scrolled by {scrolled}, row {y}: off by {off}/255");
            }
        }
    });
}

/// Lengths in percent are shares of the padding box, along their axis.
#[test]
fn percentages_are_of_the_padding_box() {
    on_one(Kind::Core2d, LDR, |group| {
        let mut shown = |fade: UiRect| {
            group.stage.clear();
            let camera = group.stage.glass.camera;
            group.stage.add(camera, true, &|ui: &mut Ui| {
                let list = Node {
                    border: UiRect::new(Val::Px(10.0), Val::Px(4.0), Val::Px(6.0), Val::Px(14.0)),
                    ..node(Vec2::new(40.0, 25.0), Vec2::new(66.0, 60.0))
                };
                ui.spawn((list, BackgroundColor(Color::WHITE), UiFilter::fade(fade)));
            });
            group.stage.headless.warm_up();
            group.stage.pixels().bytes
        };
        let whole = shown(UiRect::ZERO);
        // 52 pixels wide, and 40 high.
        let (percent, pixels) = (Val::Percent, Val::Px);
        for (in_percent, in_pixels) in [
            (UiRect::left(percent(25.0)), UiRect::left(pixels(13.0))),
            (UiRect::top(percent(50.0)), UiRect::top(pixels(20.0))),
            (UiRect::all(percent(12.5)), UiRect::axes(pixels(6.5), pixels(5.0))),
        ] {
            let [got, expected] = [in_percent, in_pixels].map(&mut shown);
            assert!(got == expected && got != whole, "{in_percent:?}");
        }
    });
}
