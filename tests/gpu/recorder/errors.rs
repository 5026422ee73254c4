//! Requests that cannot be recorded are reported once, and leave the target alone.

use super::*;
use crate::support::images::layered;
use bevy_gaussian_blur::recorder::BlurState;

const FORMAT: TextureFormat = TextureFormat::Rgba16Float;

/// Runs frames, and returns all errors of a recording. Nothing may have been recorded.
fn errors_of(headless: &mut Headless, recording: Recording) -> Vec<BlurError> {
    headless.recordings().0 = vec![recording];
    headless.frames(10);
    let mut recordings = headless.recordings();
    let recording = recordings.0.pop().expect("it is there");
    assert_eq!((recording.recorded, recording.state), (0, BlurState::Nothing));
    recording.errors
}

/// Asserts that a recording has one error, once, and that it is the right one.
fn assert_fails(headless: &mut Headless, recording: Recording, is_right: impl Fn(&BlurError) -> bool) {
    let errors = errors_of(headless, recording);
    assert!(matches!(&errors[..], [error] if is_right(error)), "{errors:?}");
}

/// What a texture needs.
const USED: TextureUsages = TextureUsages::TEXTURE_BINDING
    .union(TextureUsages::RENDER_ATTACHMENT)
    .union(TextureUsages::COPY_DST);

fn image(headless: &mut Headless, usages: TextureUsages) -> Handle<Image> {
    let mut image = to_image(&inputs::patterns(40, 30)[0], FORMAT);
    image.texture_descriptor.usage = usages;
    headless.add_image(image)
}

#[test]
fn what_cannot_be_recorded_is_said_once() {
    by_both_backends(|headless| {
        let source = image(headless, USED);
        let target = target(headless, [40, 30], FORMAT);
        let blur = |settings: Settings| Recording::new(&source, &target, settings);
        let wanted = |sigma: Vec2| Settings {
            sigma,
            ..Settings::new(1.0)
        };
        for sigma in [
            Vec2::new(f32::NAN, 1.0),
            Vec2::new(1.0, -2.0),
            Vec2::new(f32::INFINITY, 0.0),
        ] {
            assert_fails(headless, blur(wanted(sigma)), |error| {
                matches!(error, BlurError::InvalidSigma(_)) && error.to_string().contains("at least 0")
            });
        }
        let bounds = Settings {
            region: Some(URect::new(2, 2, 20, 20)),
            bounds: Some(URect::new(4, 0, 40, 30)),
            ..Settings::new(2.0)
        };
        assert_fails(headless, blur(bounds), |error| {
            matches!(error, BlurError::InvalidBounds { .. })
        });
        let beyond = Settings {
            bounds: Some(URect::new(0, 0, 41, 30)),
            ..Settings::new(2.0)
        };
        assert_fails(headless, blur(beyond), |error| {
            matches!(error, BlurError::InvalidBounds { .. })
        });
    });
}

#[test]
fn textures_that_cannot_be_used_are_named() {
    by_both_backends(|headless| {
        let usable = image(headless, USED);
        let unread = image(headless, USED - TextureUsages::TEXTURE_BINDING);
        let unwritten = image(headless, USED - TextureUsages::RENDER_ATTACHMENT);
        let small = target(headless, [39, 30], FORMAT);
        let of = |source: &Handle<Image>, target: &Handle<Image>| Recording::new(source, target, Settings::new(2.0));
        assert_fails(headless, of(&unread, &usable), |error| {
            matches!(error, BlurError::MissingUsage { image: "source", .. })
        });
        assert_fails(headless, of(&usable, &unwritten), |error| {
            matches!(error, BlurError::MissingUsage { image: "target", .. })
        });
        assert_fails(headless, of(&usable, &small), |error| {
            matches!(error, BlurError::SizeMismatch { .. })
        });
        let depth = {
            let mut image = to_image(&inputs::patterns(40, 30)[0], TextureFormat::R32Float);
            image.texture_descriptor.format = TextureFormat::Depth32Float;
            image.texture_descriptor.usage = USED - TextureUsages::COPY_DST;
            image.data = None;
            headless.add_image(image)
        };
        assert_fails(headless, of(&depth, &usable), |error| {
            matches!(error, BlurError::UnsupportedSource { .. })
        });
    });
}

#[test]
fn textures_that_are_read_and_written_are_named() {
    by_both_backends(|headless| {
        let pictures = vec![vec![inputs::patterns(40, 30)[0].clone(), inputs::patterns(20, 15)[0].clone()]; 2];
        let levels = layered(&pictures[..1], FORMAT);
        let levels = headless.add_image(levels);
        let level = |level| Shown {
            image: levels.clone(),
            view: Some((level, 0, FORMAT)),
        };
        // The view of the image shows both levels.
        assert_fails(
            headless,
            Recording::new(&levels, level(1), Settings::new(2.0)),
            |error| matches!(error, BlurError::OverlappingViews { .. }),
        );
        assert_fails(
            headless,
            Recording::new(level(0), &levels, Settings::new(2.0)),
            |error| {
                matches!(
                    error,
                    BlurError::WideView {
                        image: "target",
                        levels: 2,
                        layers: 1
                    }
                )
            },
        );
        let array = headless.add_image(layered(&pictures, FORMAT));
        let target = target(headless, [40, 30], FORMAT);
        assert_fails(headless, Recording::new(&array, &target, Settings::new(2.0)), |error| {
            matches!(
                error,
                BlurError::WideView {
                    image: "source",
                    layers: 2,
                    ..
                }
            )
        });
        let masked = Settings {
            profile: Some((BlurProfile::Mask(Handle::default()), Some(Shown::from(&target)))),
            ..Settings::new(2.0)
        };
        assert_fails(headless, Recording::new(level(0), &target, masked.clone()), |error| {
            matches!(error, BlurError::MaskIsTarget)
        });
        let wide = Settings {
            profile: Some((BlurProfile::Mask(Handle::default()), Some(Shown::from(&array)))),
            ..masked
        };
        assert_fails(headless, Recording::new(level(0), &target, wide), |error| {
            matches!(error, BlurError::UnsupportedMask { .. })
        });
    });
}

#[test]
fn a_failure_that_is_mended_is_forgotten() {
    by_both_backends(|headless| {
        let source = image(headless, USED);
        let target = target(headless, [40, 30], FORMAT);
        let mut recording = Recording::new(&source, &target, Settings::new(f32::NAN));
        recording.settings.sigma = Vec2::NAN;
        headless.recordings().0 = vec![recording];
        for sigma in [f32::NAN, 2.0, f32::NAN] {
            headless.recordings().0[0].settings.sigma = Vec2::splat(sigma);
            headless.frames(5);
        }
        let recordings = headless.recordings();
        let recording = &recordings.0[0];
        assert_eq!(
            (recording.errors.len(), recording.recorded),
            (2, 1),
            "{:?}",
            recording.errors
        );
    });
}

#[test]
fn a_blur_that_changes_nothing_records_nothing() {
    by_both_backends(|headless| {
        let source = image(headless, USED);
        let errors = errors_of(headless, Recording::new(&source, &source, Settings::new(0.02)));
        assert!(errors.is_empty(), "{errors:?}");
        let nowhere = Settings {
            region: Some(URect::new(50, 50, 60, 60)),
            ..Settings::new(4.0)
        };
        let errors = errors_of(headless, Recording::new(&source, &source, nowhere));
        assert!(errors.is_empty(), "{errors:?}");
    });
}

/// A render system that records every blur of the test, prepared or not, into another image than it was prepared for.
#[test]
fn what_was_prepared_for_something_else_is_not_recorded() {
    by_both_backends(|headless| {
        let source = image(headless, USED | TextureUsages::COPY_SRC);
        let smaller = target(headless, [39, 30], FORMAT);
        let alike = target(headless, [40, 30], FORMAT);
        let other = target(headless, [40, 30], TextureFormat::Rgba8Unorm);
        for (wrong, is_wrong) in [(&smaller, true), (&other, true), (&source, true), (&alike, false)] {
            let target = target(headless, [40, 30], FORMAT);
            let mut recording = Recording::new(&source, &target, Settings::new(3.0));
            recording.records_into = Some(Shown::from(wrong));
            headless.recordings().0 = vec![recording];
            headless.frames(6);
            let recorded = headless.recordings().0[0].recorded;
            assert_eq!(recorded, usize::from(!is_wrong), "into {wrong:?}");
        }
        // A blur that is not prepared in a frame is not recorded in it.
        let mut recording = Recording::new(&source, &alike, Settings::new(3.0));
        (recording.most, recording.rests_after) = (usize::MAX, 5);
        headless.recordings().0 = vec![recording];
        headless.frames(12);
        let recorded = headless.recordings().0[0].recorded;
        assert!((1..=5).contains(&recorded), "recorded {recorded} times");
    });
}

/// As a system in `Core3d` does with several cameras.
#[test]
fn a_blur_that_blurs_its_own_result_is_reported_once() {
    by_both_backends(|headless| {
        let mut warnings = |name: &str, (turns, in_place, source_is_fresh, sigma): (usize, bool, bool, f32)| {
            let source = image(headless, USED);
            let target = if in_place {
                source.clone()
            } else {
                image(headless, USED)
            };
            let settings = Settings {
                source_is_fresh,
                ..Settings::new(sigma)
            };
            let warning = format!("recorder-{name}: recorded twice in a frame");
            let before = logs::count(&warning);
            let mut recording = Recording::new(&source, &target, settings);
            (recording.turns, recording.most) = (turns, usize::MAX);
            recording.label = Some(BlurLabel::new(&format!("recorder-{name}")));
            headless.recordings().0 = vec![recording];
            headless.frames(8);
            logs::count(&warning) - before
        };
        assert_eq!(warnings("twice", (2, true, false, 3.0)), 1);
        assert_eq!(warnings("thrice", (3, true, false, 3.0)), 1);
        assert_eq!(warnings("once", (1, true, false, 3.0)), 0);
        assert_eq!(warnings("fresh", (2, true, true, 3.0)), 0);
        assert_eq!(warnings("apart", (2, false, false, 3.0)), 0);
        assert_eq!(warnings("sharp", (2, true, false, 0.01)), 0);
    });
}
