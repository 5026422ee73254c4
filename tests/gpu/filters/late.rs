//! Filters that change after the groups of a frame have been found: in `Last`, for example. They act in the next frame, as a whole.

use super::*;
use crate::backdrop::stage::{Stage, Ui};

/// What happens to all filters at the end of the next frame.
#[derive(Resource, Clone, Copy, Default)]
enum Late {
    #[default]
    Nothing,
    Blur(f32),
    Remove,
}

fn change(mut late: ResMut<Late>, mut filters: Query<(Entity, &mut UiFilter)>, mut commands: Commands) {
    match core::mem::take(&mut *late) {
        Late::Nothing => {}
        Late::Blur(radius) => filters
            .iter_mut()
            .for_each(|(_, mut filter)| filter.blur.radius = radius),
        Late::Remove => filters.iter().for_each(|(entity, _)| {
            commands.entity(entity).remove::<UiFilter>();
        }),
    }
}

/// A list that clips a row which is larger than the list.
fn list(ui: &mut Ui, filter: Option<UiFilter>) {
    let list = Node {
        overflow: Overflow::clip(),
        ..node(Vec2::new(40.0, 25.0), Vec2::new(90.0, 50.0))
    };
    let list = ui.spawn(list);
    let row = node(Vec2::splat(-10.0), Vec2::new(110.0, 70.0));
    let row = ui.spawn_in(list, (row, BackgroundColor(Color::linear_rgb(0.9, 0.2, 0.1))));
    if let Some(filter) = filter {
        ui.insert(row, filter);
    }
    let hole = node(Vec2::splat(20.0), Vec2::splat(30.0));
    ui.spawn_in(row, (hole, BackgroundColor(Color::BLACK)));
}

fn shown(group: &mut Group, filter: Option<UiFilter>) -> Picture {
    group.stage.clear();
    let camera = group.stage.glass.camera;
    group.stage.add(camera, true, &|ui: &mut Ui| list(ui, filter.clone()));
    group.stage.headless.warm_up();
    let [_, got, _] = group.pictures();
    got
}

/// No frame shows one half of a change: the clips of the filter before with the filter after it. A removed filter left its row clipped by
/// nothing for a frame.
#[test]
fn a_late_change_acts_in_the_next_frame() {
    let stage = Stage::with(BlurBackend::Compute, Kind::Core2d, LDR, |app| {
        app.init_resource::<Late>().add_systems(Last, change);
    });
    let mut group = Group::of(stage, Kind::Core2d);
    let weak = UiFilter::blur(0.0).with_opacity(0.9);
    let soft = weak.clone().with_radius(18.0);
    let looks =
        [None, Some(weak.clone()), Some(soft.clone())].map(|filter| (filter.clone(), shown(&mut group, filter)));
    let look = |filter: Option<&UiFilter>| {
        &looks
            .iter()
            .find(|(known, _)| known.as_ref() == filter)
            .expect("it was shown")
            .1
    };
    for (name, before, late, after) in [
        ("removed", Some(&soft), Late::Remove, None),
        ("removed, weak", Some(&weak), Late::Remove, None),
        ("stronger", Some(&weak), Late::Blur(18.0), Some(&soft)),
        ("weaker", Some(&soft), Late::Blur(0.0), Some(&weak)),
    ] {
        shown(&mut group, before.cloned());
        group.stage.headless.app.insert_resource(late);
        for (frame, expected) in [before, after, after].into_iter().enumerate() {
            group.stage.headless.frame();
            let [_, got, _] = group.pictures();
            let off = worst_difference(&got, look(expected));
            assert_eq!(off.value, 0.0, "{name}, frame {frame}: {off:?}");
        }
    }
}
