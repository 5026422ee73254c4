//! A group is no change of the nodes inside it: on Bevy 0.20, only nodes that change are extracted anew.

use super::*;
use crate::backdrop::stage::{Stage, Ui};
use crate::support::scene::whole;
use bevy::ui::CalculatedClip;
use bevy::ui_render::ExtractedUiNodes;

/// The number of nodes whose clips have changed since the frame before.
#[derive(Resource, Default)]
struct ChangedClips(usize);

fn count(clips: Query<(), Changed<CalculatedClip>>, mut changed: ResMut<ChangedClips>) {
    changed.0 = clips.iter().count();
}

/// The number of nodes that Bevy has extracted anew. Bevy 0.19 extracts all in every frame, and forgets them.
fn extracted(nodes: &ExtractedUiNodes) -> usize {
    nodes.uinodes.len()
}

const NODES: usize = 2000;

/// A list of many nodes in a node that clips, which it returns, and the list.
fn list(ui: &mut Ui, filter: impl Bundle) -> [Entity; 2] {
    let clip = Node {
        overflow: Overflow::scroll_y(),
        ..node(Vec2::new(40.0, 20.0), Vec2::new(100.0, 70.0))
    };
    let clip = ui.spawn((clip, BackgroundColor(Color::WHITE)));
    let list = ui.spawn_in(clip, (whole(), filter));
    for index in 0..NODES {
        let place = Vec2::new((index % 10) as f32 * 12.0 - 8.0, (index / 10) as f32 * 9.0 - 20.0);
        let color = Color::hsl(index as f32 * 47.0, 0.9, 0.5);
        ui.spawn_in(list, (node(place, Vec2::new(9.0, 6.0)), BackgroundColor(color)));
    }
    [clip, list]
}

fn frame(stage: &mut Stage) -> [usize; 2] {
    stage.headless.frame();
    let extracted = extracted(stage.headless.render_world().resource::<ExtractedUiNodes>());
    [stage.headless.app.world().resource::<ChangedClips>().0, extracted]
}

/// Asserts that the change of the frame before reaches the nodes, and that nothing changes after that. The picture is that of new
/// nodes.
fn assert_one_change(stage: &mut Stage, name: &str, least: usize) {
    let [clips, _] = frame(stage);
    assert!(
        clips >= least,
        "{name}: {clips} clips change in the frame of the change"
    );
    assert_still(stage, name);
}

fn assert_still(stage: &mut Stage, name: &str) {
    for _ in 0..3 {
        assert_eq!(frame(stage), [0, 0], "{name}: clips that changed, nodes extracted anew");
    }
}

#[test]
fn nodes_at_rest_stay_unchanged() {
    for backend in one_backend() {
        let count_changes = |app: &mut App| {
            app.init_resource::<ChangedClips>().add_systems(Last, count);
        };
        let mut stage = Stage::with(backend, Kind::Core2d, LDR, count_changes);
        let camera = stage.glass.camera;
        let shown = std::cell::Cell::new([Entity::PLACEHOLDER; 2]);
        stage.add(camera, true, &|ui: &mut Ui| {
            shown.set(list(ui, UiFilter::from_sigma(2.0)))
        });
        let [clip, list] = shown.get();
        stage.headless.warm_up();
        assert_still(&mut stage, "at rest");
        let blurred = stage.pictures()[1].clone();
        // A larger filter grows the clips of all nodes.
        let set = |stage: &mut Stage, entity: Entity, components: UiFilter| {
            stage.headless.insert(entity, components);
        };
        set(&mut stage, list, UiFilter::from_sigma(4.0));
        assert_one_change(&mut stage, "a larger blur", NODES);
        assert_ne!(stage.pictures()[1], blurred);
        set(&mut stage, list, UiFilter::from_sigma(2.0));
        assert_one_change(&mut stage, "the first blur", NODES);
        assert_eq!(stage.pictures()[1], blurred, "the old blur is back");
        // One that ends and comes back in the next frame.
        set(&mut stage, list, UiFilter::default());
        assert_one_change(&mut stage, "no filter", NODES);
        set(&mut stage, list, UiFilter::from_sigma(2.0));
        let [clips, _] = frame(&mut stage);
        assert!(clips >= NODES, "{clips} clips change");
        let world = stage.headless.app.world_mut();
        world.entity_mut(clip).get_mut::<Node>().expect("a node").height = Val::Px(50.0);
        assert_one_change(&mut stage, "a lower list", NODES);
        let low = stage.pictures()[1].clone();
        assert_ne!(low, blurred);
        let world = stage.headless.app.world_mut();
        world.entity_mut(clip).get_mut::<Node>().expect("a node").height = Val::Px(70.0);
        assert_one_change(&mut stage, "the first list", NODES);
        assert_eq!(stage.pictures()[1], blurred, "the old list is back");
    }
}
