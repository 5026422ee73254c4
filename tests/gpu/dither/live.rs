//! Dithering that is switched while an app runs as games do.

use super::*;
use bevy::core_pipeline::tonemapping::DebandDither;

/// No frame is sharp because a dithering shader is new.
#[test]
fn no_frame_is_sharp_when_dithering_is_switched() {
    for backend in one_backend() {
        let mut live = Live::new(backend, |_| {});
        scene::spawn(&mut live.headless, Kind::Core2d, 1.0);
        let size = UVec2::new(60, 40);
        let views = [(); 2].map(|()| View::new(&mut live.headless, Kind::Core2d, size, SRGB));
        views.iter().for_each(|view| live.watch(&view.target));
        views[1].insert(&mut live.headless, GaussianBlur::from_sigma(6.0));
        live.wait_until_ready();
        // Shots come late: earlier ones do not count.
        let first = live.frame();
        let mut checked = 0_usize;
        let mut frame = 0_usize;
        while checked < 80 {
            frame += 1;
            assert!(frame < 10_000, "the scene is not seen");
            // The first frames are for Bevy's own shaders.
            let dither = if checked < 20 || (frame / 7).is_multiple_of(2) {
                DebandDither::Disabled
            } else {
                DebandDither::Enabled
            };
            // Bevy compiles other sprites then, which are missing for a while on both cameras.
            for view in &views {
                view.insert(&mut live.headless, dither);
            }
            live.frame();
            for shot in live.shots() {
                let [Some(sharp), Some(blurred)] = &shot.images[..] else {
                    panic!("an image is missing");
                };
                if shot.frame < first || sharp.is_flat() {
                    continue;
                }
                let exact = gaussian_blur(&to_picture(sharp), [6.0; 2], EdgeMode::Clamp);
                let errors = super::Errors::new(&levels(blurred), &to_levels(&exact, SRGB));
                assert!(errors.texel < 1.35, "{backend:?}, frame {}: {errors:?}", shot.frame);
                checked += 1;
            }
        }
    }
}
