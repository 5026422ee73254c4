//! The system sets of the main world: changes before them count in the same frame.

use super::*;
use crate::support::images::ready_app;
use bevy_gaussian_blur::BlurSystems;

/// The work of the systems in the next frame.
#[derive(Resource, Default)]
struct Wanted {
    blur: Option<GaussianBlur>,
    source: Option<(Handle<Image>, Image)>,
}

fn change_settings(mut wanted: ResMut<Wanted>, mut blurs: Query<&mut GaussianBlur>) {
    if let Some(blur) = wanted.blur.take() {
        blurs.iter_mut().for_each(|mut it| *it = blur);
    }
}

fn change_source(mut wanted: ResMut<Wanted>, mut images: ResMut<Assets<Image>>) {
    if let Some((handle, image)) = wanted.source.take() {
        *images.get_mut(&handle).expect("it was added") = image;
    }
}

/// How many blurs have been reported before [`Update`].
#[derive(Resource, Default)]
struct Reported {
    in_pre_update: usize,
    in_all: usize,
}

#[test]
fn what_is_changed_before_the_sets_counts_in_the_same_frame() {
    let setup = |app: &mut App| {
        app.init_resource::<Wanted>().add_systems(
            PostUpdate,
            (
                change_settings.before(BlurSystems::Collect),
                change_source.before(BlurSystems::Fit),
            ),
        );
    };
    let mut headless = ready_app(setup);
    let [first, _] = pictures(61, 47);
    let source = headless.add_image(image(&first));
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(2.0), plain(source.clone()));
    finished(&mut headless, 10);
    let target = target_of(&headless, entity);
    for sigma in [3.5, 9.0, 1.0] {
        let mut wanted = headless.app.world_mut().resource_mut::<Wanted>();
        wanted.blur = Some(GaussianBlur::from_sigma(sigma));
        headless.frame();
        assert_blur(&format!("before-collect-{sigma}"), &headless, &target, &first, sigma);
    }
    for (width, height) in [(90, 30), (7, 80), (61, 47)] {
        let [_, second] = pictures(width, height);
        let mut wanted = headless.app.world_mut().resource_mut::<Wanted>();
        wanted.source = Some((source.clone(), image(&second)));
        headless.frame();
        let name = format!("before-fit-{width}x{height}");
        assert_blur(&name, &headless, &target, &second, 1.0);
    }
}

#[test]
fn reports_come_before_what_is_ordered_after_them() {
    let setup = |app: &mut App| {
        app.init_resource::<Reported>()
            .add_observer(|_: On<BlurFinished>, mut reported: ResMut<Reported>| reported.in_all += 1);
        let look = |mut reported: ResMut<Reported>| reported.in_pre_update = reported.in_all;
        app.add_systems(PreUpdate, look.after(BlurSystems::Report));
    };
    let mut headless = ready_app(setup);
    let source = headless.add_image(image(&pictures(61, 47)[0]));
    let image = plain(source).with_update(BlurUpdate::EveryFrame);
    spawn(&mut headless, GaussianBlur::from_sigma(2.0), image);
    finished(&mut headless, 10);
    let reported = headless.app.world().resource::<Reported>();
    assert!(reported.in_all >= 9, "a blur is reported in every frame");
    assert_eq!(reported.in_pre_update, reported.in_all);
}
