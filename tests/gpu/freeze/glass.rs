//! Glass: nodes and regions.

use super::*;
use crate::backdrop::glass;
use crate::backdrop::pane::Pane;
use crate::backdrop::stage::{SIZE, Stage};
use crate::support::compositor::{assert_painted, compose};

fn step(stage: &mut Stage, frame: u32) {
    stir(&mut stage.headless, frame);
    stage.headless.frame();
}

fn stages() -> impl Iterator<Item = Stage> {
    let formats = BACKENDS.into_iter().zip([LDR, HDR]);
    formats.map(|(backend, format)| Stage::with_figures(backend, format))
}

/// The texels of a rectangle.
fn part(pixels: &Pixels, area: URect) -> Vec<u8> {
    let texel = pixels.bytes.len() / (pixels.width * pixels.height) as usize;
    let row = |y: u32| {
        let at = |x: u32| (y * pixels.width + x) as usize * texel;
        pixels.bytes[at(area.min.x)..at(area.max.x)].to_vec()
    };
    (area.min.y..area.max.y).flat_map(row).collect()
}

/// Asserts that two pictures have the same bits in an area.
pub fn assert_part(name: &str, got: &Pixels, expected: &Pixels, area: URect) {
    if part(got, area) != part(expected, area) {
        assert_near(name, got, expected, area, 0.0);
        panic!("{name}: some bits differ, but no value");
    }
}

/// Asserts that two pictures differ in an area by at most `most`, as a share of the peak, or of 1 if the peak is lower.
fn assert_near(name: &str, got: &Pixels, expected: &Pixels, area: URect, most: f64) {
    let [min, size] = [area.min, area.size()].map(|pair| pair.to_array().map(|side| side as usize));
    let [got, expected] = [got, expected].map(|pixels| to_picture(pixels).crop(min, size));
    let peak = expected.texels.iter().flatten().copied().fold(1.0, f64::max);
    assert_close(name, &got, &expected, &RGBA, most * peak);
}

/// The allowed difference from a live picture: none in a texture as large as the camera's. In a texture of another size,
/// positions between two texels are rounded differently, which costs at most two levels of eight bits.
fn most_different(sampling: BackdropSampling, keeps: FreezeArea) -> f64 {
    match keeps {
        FreezeArea::Region if !is_whole(sampling) => 0.008,
        _ => 0.0,
    }
}

#[test]
fn a_moving_scene_does_not_show_through_glass() {
    let area = URect::new(30, 20, 150, 90);
    let outside = URect::new(0, 92, SIZE.x, SIZE.y);
    for mut stage in stages() {
        for (sampling, keeps) in [
            (BackdropSampling::Inside, FreezeArea::Region),
            (BackdropSampling::Inside, FreezeArea::Viewport),
            (BackdropSampling::Surroundings, FreezeArea::Region),
        ] {
            let name = stage.name(&format!("{sampling:?}-{keeps:?}"));
            let pane = Pane::new([30.0, 20.0, 120.0, 70.0], glass(5.0).with_sampling(sampling));
            stage.show(|ui| ui.pane(&pane));
            step(&mut stage, 1);
            stage.headless.warm_up();
            let live = stage.pixels();
            stage.change(0, (FreezeBlur, keeps));
            step(&mut stage, 1);
            let first = stage.pixels();
            let most = most_different(sampling, keeps);
            assert_near(&format!("{name}-first"), &first, &live, area, most);
            for frame in 2..12 {
                step(&mut stage, frame);
                let [plain, got] = [&stage.plain, &stage.glass].map(|view| view.pixels(&stage.headless));
                assert_part(&format!("{name}-{frame}"), &got, &first, area);
                assert_part(&format!("{name}-outside-{frame}"), &got, &plain, outside);
            }
            // The blur holds the picture of the kept area, and its result, which is a level of the blur.
            let texel = if stage.format == HDR { 8 } else { 4 };
            let is_region = (sampling, keeps) == (BackdropSampling::Inside, FreezeArea::Region);
            let kept = if is_region { area.size() } else { SIZE };
            let picture = u64::from(texel * kept.element_product());
            let held = bytes_held(&stage.headless);
            assert!(
                held > picture && held < picture + u64::from(8 * area.size().element_product()),
                "{name}: {held} bytes are held, {picture} of them the picture"
            );
            // Colours, opacity, radius and position act on the kept picture.
            let still = {
                stir(&mut stage.headless, 1);
                stage.headless.remove::<FreezeBlur>(stage.panes[0]);
                let mut thawed = Vec::new();
                for change in changes(sampling) {
                    stage.change(0, change);
                    stage.headless.frame();
                    thawed.push(stage.pixels());
                }
                thawed
            };
            stage.change(0, pane.glass);
            stage.headless.frame();
            stage.change(0, FreezeBlur);
            stage.headless.frame();
            for (index, (change, expected)) in changes(sampling).into_iter().zip(&still).enumerate() {
                stage.change(0, change);
                step(&mut stage, 20 + index as u32);
                let got = stage.pixels();
                assert_near(&format!("{name}-change-{index}"), &got, expected, area, most);
            }
            stage.clear();
            stage.headless.frames(6);
            assert_eq!(bytes_held(&stage.headless), 0, "{name}: all is given back");
        }
    }
}

/// A lens bends the kept picture, and goes on to follow its settings.
#[test]
fn a_lens_bends_what_is_kept() {
    let area = URect::new(30, 20, 150, 90);
    let lens = |displacement: f32| BackdropLens {
        bevel: 20.0,
        displacement,
        dispersion: 0.5,
        ..default()
    };
    for mut stage in stages() {
        let sigmas = [0.0, 5.0];
        let samplings = [BackdropSampling::Inside, BackdropSampling::Surroundings];
        let areas = [FreezeArea::Region, FreezeArea::Viewport];
        let all = sigmas.map(|sigma| samplings.map(|sampling| areas.map(|keeps| (sigma, sampling, keeps))));
        for (sigma, sampling, keeps) in all.into_iter().flatten().flatten() {
            let name = stage.name(&format!("lens-{sigma}-{sampling:?}-{keeps:?}"));
            let pane = Pane::new([30.0, 20.0, 120.0, 70.0], glass(sigma).with_sampling(sampling));
            stage.clear();
            stage.show(|ui| {
                ui.pane_of((pane.bundle(), lens(12.0)));
            });
            step(&mut stage, 1);
            stage.headless.warm_up();
            let live = stage.pixels();
            stage.change(0, lens(-6.0));
            stage.headless.frame();
            let outwards = stage.pixels();
            stage.change(0, (lens(12.0), FreezeBlur, keeps));
            step(&mut stage, 1);
            let most = most_different(sampling, keeps);
            assert_near(&format!("{name}-first"), &stage.pixels(), &live, area, most);
            for frame in 2..5 {
                step(&mut stage, frame);
                assert_near(&format!("{name}-{frame}"), &stage.pixels(), &live, area, most);
            }
            stage.change(0, lens(-6.0));
            step(&mut stage, 5);
            assert_near(&format!("{name}-outwards"), &stage.pixels(), &outwards, area, most);
        }
    }
}

/// Whether the whole viewport is kept, whatever the [`FreezeArea`] is.
fn is_whole(sampling: BackdropSampling) -> bool {
    sampling == BackdropSampling::Surroundings
}

/// Settings of a solid pane, one after the other.
fn changes(sampling: BackdropSampling) -> [BackdropBlur; 4] {
    [
        glass(2.0),
        glass(5.0).with_color(ColorStep::Saturate(0.3)),
        glass(17.0).with_color(ColorStep::Brightness(1.4)),
        glass(5.0),
    ]
    .map(|glass| glass.with_sampling(sampling))
}

#[test]
fn glass_that_moves_shows_other_parts_of_the_picture() {
    for mut stage in stages() {
        let pane = Pane::new(
            [30.0, 20.0, 60.0, 50.0],
            glass(4.0).with_sampling(BackdropSampling::Surroundings),
        );
        stage.show(|ui| ui.pane(&pane));
        step(&mut stage, 1);
        stage.headless.warm_up();
        stage.change(0, FreezeBlur);
        stage.headless.frame();
        let still = to_picture(&stage.plain.pixels(&stage.headless));
        for (frame, place) in (2..).zip([
            [90.0, 40.0, 60.0, 50.0],
            [10.0, 5.0, 180.0, 100.0],
            [60.0, 30.0, 3.0, 70.0],
        ]) {
            let moved = Pane::new(place, pane.glass.clone());
            stage.change(0, moved.node());
            step(&mut stage, frame);
            let (plain, got) = (
                stage.plain.picture(&stage.headless),
                stage.glass.picture(&stage.headless),
            );
            let frozen = compose(&still, &[moved.layer()], stage.format);
            let area = place.map(|side| side as usize);
            let expected = Picture::from_fn(plain.width, plain.height, |x, y| {
                let is_inside = (area[0]..area[0] + area[2]).contains(&x) && (area[1]..area[1] + area[3]).contains(&y);
                if is_inside { frozen.at(x, y) } else { plain.at(x, y) }
            });
            let name = stage.name(&format!("moved-{frame}"));
            assert_painted(&name, &got, &expected, &[moved.layer()], stage.format);
        }
    }
}

#[test]
fn glass_is_frozen_sharp_hidden_and_over_other_glass() {
    for mut stage in stages() {
        let area = URect::new(30, 20, 150, 90);
        let below = Pane::new([20.0, 10.0, 100.0, 60.0], glass(6.0));
        let above = Pane::new([30.0, 20.0, 120.0, 70.0], glass(0.0));
        stage.show(|ui| ui.panes(&[below.clone(), above.clone()]));
        step(&mut stage, 1);
        stage.headless.warm_up();
        let live = stage.pixels();
        // Opacity 0 in the frame in which it is frozen.
        stage.change(1, (glass(0.0).with_opacity(0.0), FreezeBlur));
        stage.headless.frame();
        stage.change(1, glass(0.0));
        for frame in 2..6 {
            step(&mut stage, frame);
            let got = stage.pixels();
            assert_part(&stage.name(&format!("sharp-{frame}")), &got, &live, area);
        }
        // A hidden pane is frozen when it becomes visible.
        stage.change(1, Visibility::Hidden);
        stage.headless.remove::<FreezeBlur>(stage.panes[1]);
        step(&mut stage, 7);
        stage.change(1, FreezeBlur);
        step(&mut stage, 8);
        stage.change(1, Visibility::Inherited);
        step(&mut stage, 9);
        let seen = stage.pixels();
        stage.change(1, Visibility::Hidden);
        step(&mut stage, 10);
        stage.change(1, Visibility::Inherited);
        step(&mut stage, 11);
        let got = stage.pixels();
        assert_part(&stage.name("hidden"), &got, &seen, area);
    }
}

#[test]
fn a_profile_varies_over_the_kept_picture() {
    for mut stage in stages() {
        // Not at the origin of the camera's texture, to which grids are locked.
        let area = URect::new(31, 19, 151, 90);
        let profile = |from: f32| linear([Vec2::ZERO, Vec2::Y], [from, 1.0]);
        for keeps in [FreezeArea::Region, FreezeArea::Viewport] {
            let pane = Pane::new([31.0, 19.0, 120.0, 71.0], glass(9.0));
            stage.show(|ui| {
                let entity = ui.pane_of((pane.node(), pane.glass.clone(), profile(0.0)));
                assert!(entity.is_some() == ui.is_glass);
            });
            step(&mut stage, 1);
            stage.headless.warm_up();
            let live = stage.pixels();
            let assert_same = |stage: &Stage, what: &str| {
                let name = stage.name(&format!("profile-{keeps:?}-{what}"));
                assert_near(
                    &name,
                    &stage.pixels(),
                    &live,
                    area,
                    most_different(pane.glass.sampling, keeps),
                );
            };
            stage.change(0, (FreezeBlur, keeps));
            stage.headless.frame();
            assert_same(&stage, "first");
            step(&mut stage, 2);
            assert_same(&stage, "later");
            stage.change(0, profile(0.5));
            step(&mut stage, 3);
            let changed = stage.pixels();
            assert!(part(&changed, area) != part(&live, area), "{}", stage.name("profile"));
            stage.change(0, profile(0.0));
            step(&mut stage, 4);
            assert_same(&stage, "back");
        }
    }
}

/// A viewport may be empty for a while: a minimised window has no size.
#[test]
fn glass_survives_a_viewport_without_size() {
    for mut stage in stages() {
        stage.show(|ui| ui.pane(&Pane::new([30.0, 20.0, 120.0, 70.0], glass(4.0))));
        stage.headless.warm_up();
        stage.change(0, FreezeBlur);
        step(&mut stage, 1);
        step(&mut stage, 2);
        let before = stage.pixels();
        let camera = stage.glass.camera;
        for (frame, size) in [(3, UVec2::new(0, 50)), (5, SIZE)] {
            stage.headless.get_mut::<Camera>(camera).viewport = Some(viewport(UVec2::ZERO, size));
            step(&mut stage, frame);
            step(&mut stage, frame + 1);
        }
        let after = stage.pixels();
        assert_part("after no size", &after, &before, URect::new(32, 22, 148, 88));
    }
}

#[test]
fn regions_are_frozen_and_a_world_may_stop() {
    for (backend, layer) in BACKENDS
        .into_iter()
        .zip([BackdropLayer::BelowUi, BackdropLayer::AboveUi])
    {
        let mut stage = Stage::new(backend, Kind::Core2d, LDR);
        // A second camera on the target of the first, with glass over all of it.
        let target = stage.glass.target.clone();
        let menu = stage.spawn((
            Camera2d,
            Camera {
                order: 1,
                clear_color: ClearColorConfig::None,
                ..default()
            },
            bevy::camera::RenderTarget::Image(target.into()),
            Msaa::Off,
        ));
        let whole = Rect::from_corners(Vec2::ZERO, SIZE.as_vec2());
        let region = BackdropRegion::new(menu, whole).with_layer(layer);
        let pane = stage.spawn((region, glass(7.0)));
        step(&mut stage, 1);
        stage.headless.warm_up();
        let live = stage.pixels();
        let world = stage.glass.camera;
        stage.headless.insert(pane, FreezeBlur);
        step(&mut stage, 1);
        scene::set_active(&mut stage.headless, world, false);
        for frame in 2..8 {
            step(&mut stage, frame);
            let got = stage.pixels();
            assert!(got.bytes == live.bytes, "{}: frame {frame}", stage.name("stopped"));
        }
        scene::set_active(&mut stage.headless, world, true);
        stage.headless.remove::<FreezeBlur>(pane);
        step(&mut stage, 1);
        let got = stage.pixels();
        assert!(got.bytes == live.bytes, "{}", stage.name("thawed"));
    }
}

#[test]
fn nodes_that_cover_each_other_keep_their_own_pictures() {
    for mut stage in stages() {
        let panes = [
            Pane::new([10.0, 10.0, 80.0, 60.0], glass(3.0)),
            Pane::new([60.0, 30.0, 80.0, 60.0], glass(8.0)),
            Pane::new([120.0, 50.0, 70.0, 60.0], glass(2.0)),
        ];
        stage.show(|ui| {
            ui.panes(&panes);
            // An object between and over them, which stays live.
            ui.spawn((
                node(Vec2::new(150.0, 2.0), Vec2::new(40.0, 20.0)),
                BackgroundColor(Color::WHITE),
            ));
        });
        step(&mut stage, 1);
        stage.headless.warm_up();
        let live = stage.pixels();
        (0..3).for_each(|index| stage.change(index, FreezeBlur));
        for frame in 1..6 {
            step(&mut stage, frame);
            let got = stage.pixels();
            for area in [[10, 10, 90, 70], [60, 30, 140, 90], [120, 50, 190, 110]] {
                let [left, top, right, bottom] = area;
                let area = URect::new(left, top, right, bottom);
                assert_part(&stage.name(&format!("covering-{left}-{frame}")), &got, &live, area);
            }
        }
    }
}
