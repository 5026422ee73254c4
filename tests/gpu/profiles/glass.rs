//! Glass whose blur varies over its box.

use super::*;
use crate::support::scene::SIZE;

/// The box of the glass in the usual picture.
const ORIGIN: [usize; 2] = [31, 17];
const EXTENT: [usize; 2] = [120, 81];

#[test]
fn the_box_of_glass_is_its_own() {
    for backend in one_backend() {
        let mut headless = warm(backend);
        scene::spawn(&mut headless, Kind::Core2d, 1.0);
        let View { camera, target } = View::new(&mut headless, Kind::Core2d, SIZE, LDR);
        let sharp = scene::shot(&mut headless, &target);
        let pair = |texels: [usize; 2]| Vec2::new(texels[0] as f32, texels[1] as f32);
        let rect = Rect::from_corners(pair(ORIGIN), pair(ORIGIN) + pair(EXTENT));
        let glass = BackdropBlur::from_sigma(9.0);
        let region = BackdropRegion::new(camera, rect);
        let pane = headless.spawn((region, glass));
        for (name, profile) in profiles() {
            headless.insert(pane, profile.clone());
            let got = scene::shot(&mut headless, &target);
            let inside = |picture: &Picture| picture.crop(ORIGIN, EXTENT);
            let all = sigmas(&profile, EXTENT, 9.0);
            let wanted = expected(&inside(&sharp), &all, [1.0; 2], EdgeMode::Mirror);
            let wanted = within_rounding(&inside(&got), &wanted, LDR);
            let name = format!("profile-glass-{backend:?}-{name}");
            assert_close(&name, &inside(&got), &wanted, &RGB, 6.0 / 255.0);
            for y in 0..sharp.height {
                for x in 0..sharp.width {
                    let [column, row] = [x.wrapping_sub(ORIGIN[0]), y.wrapping_sub(ORIGIN[1])];
                    let is_inside = column < EXTENT[0] && row < EXTENT[1];
                    if !is_inside || all[row * EXTENT[0] + column] < 0.03 {
                        assert_eq!(got.at(x, y), sharp.at(x, y), "{name}: ({x}, {y}) is sharp");
                    }
                }
            }
        }
    }
}
