//! What filters show while the threads that compile their pipelines are busy with other tasks. No frame waits for them.

use super::*;
use crate::backdrop::show::Show;

const COLOUR: [f32; 3] = [0.8, 0.3, 0.1];
const BOX: [usize; 4] = [12, 8, 36, 20];

/// How far the group reaches beyond the list that clips it.
const MORE: usize = 5;

/// Spawns a group on one of the cameras, in a list that clips it, and waits until its pipeline is compiled.
fn spawn_box(show: &mut Show) {
    let [left, top, width, height] = BOX.map(|side| side as f32);
    let [red, green, blue] = COLOUR;
    let list = Node {
        overflow: Overflow::clip(),
        ..node(Vec2::new(left, top), Vec2::new(width, height))
    };
    let more = MORE as f32;
    let larger = (
        node(Vec2::splat(-more), Vec2::new(width + 2.0 * more, height + 2.0 * more)),
        BackgroundColor(Color::linear_rgb(red, green, blue)),
    );
    let world = show.live.headless.app.world_mut();
    let list = world.spawn((list, UiTargetCamera(show.cameras[1]))).id();
    show.pane = Some(world.spawn((larger, ChildOf(list))).id());
    show.settle();
    show.live.frames(30);
    show.live.shots();
}

fn pictures(shot: &Shot) -> [Picture; 2] {
    [0, 1].map(|index| to_picture(shot.images[index].as_ref().expect("a target")))
}

/// Asserts that a shot shows the filtered box over the scene.
fn assert_filtered(shot: &Shot, filter: &UiFilter) {
    let [below, got] = pictures(shot);
    let [left, top, width, height] = BOX;
    let (right, bottom) = (left + width, top + height);
    let [red, green, blue] = COLOUR.map(f64::from);
    let all = Picture::from_fn(below.width, below.height, |_, _| [red, green, blue, 1.0]);
    let group = clipped(&all, [left - MORE, top - MORE, right + MORE, bottom + MORE]);
    let shown = clipped(&filtered(&group, filter, LDR), [left, top, right, bottom]);
    let expected = within_rounding(&got, &over(&below, &shown), LDR);
    let name = format!("filter-waiting-{}", shot.frame);
    assert_close(&name, &got, &expected, &RGB, 3.0 / 255.0);
}

/// Where everything was compiled when the app started, the first filter is complete in its first frame.
#[test]
fn the_first_frame_of_the_first_filter_is_filtered() {
    let filters = [
        UiFilter::opacity(0.4),
        UiFilter::from_sigma(2.0),
        UiFilter::shadow(Vec2::new(4.0, 4.0), 3.0, Color::BLACK),
    ];
    for backend in one_backend() {
        for filter in &filters {
            let mut show = Show::alone(backend);
            spawn_box(&mut show);
            let held = show.live.hold_compiler();
            show.change(filter.clone());
            let shots = show.live.shots_of(4);
            held.release();
            show.settle();
            let settled = show.live.shots_of(4).pop().expect("there are shots");
            let [_, settled] = pictures(&settled);
            // The list hides the shadow.
            if filter.shadows.is_empty() {
                shots.iter().for_each(|shot| assert_filtered(shot, filter));
            }
            for shot in &shots {
                let [_, got] = pictures(shot);
                assert_close("first-filter", &got, &settled, &RGB, 3.0 / 255.0);
            }
        }
    }
}

/// While no pipeline compiles, a group is painted without its filter. A group with opacity 0 stays invisible.
#[test]
fn without_pipelines_groups_are_not_filtered() {
    for backend in one_backend() {
        let mut show = Show::late(backend);
        spawn_box(&mut show);
        let [_, plain] = pictures(&show.live.shots_of(3)[0]);
        let held = show.live.hold_compiler();
        show.change(UiFilter::opacity(0.0));
        for shot in show.live.shots_of(3) {
            let [below, got] = pictures(&shot);
            assert_eq!(worst_difference(&got, &below).value, 0.0, "frame {}", shot.frame);
        }
        let filter = UiFilter::from_sigma(2.0).with_opacity(0.5);
        show.change(filter.clone());
        let shots = show.live.shots_of(20);
        held.release();
        for shot in &shots {
            let [_, got] = pictures(shot);
            assert_eq!(worst_difference(&got, &plain).value, 0.0, "frame {}", shot.frame);
        }
        show.settle();
        assert_filtered(show.live.shots_of(4).last().expect("there are shots"), &filter);
    }
}
