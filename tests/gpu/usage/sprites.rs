//! A group of sprites as one picture between others, by the recipe of `docs/questions.md`, against the float64 reference.

use super::*;
use crate::support::bundled;

const SIZE: UVec2 = UVec2::new(160, 120);
const GROUP: RenderLayers = RenderLayers::layer(2);

/// The opacity with which the group is shown, that of its shadow, and the pixels by which the shadow lies farther right and down.
const SHARES: [f32; 2] = [0.8, 0.7];
const OFFSET: [usize; 2] = [5, 4];
const SIGMA: f32 = 3.0;

/// Boxes from left, top, right and bottom, with their light: one below the group, and one above.
const BELOW: ([usize; 4], [f32; 3]) = ([0, 50, 160, 90], [0.9, 0.6, 0.1]);
const ABOVE: ([usize; 4], [f32; 3]) = ([70, 0, 90, 120], [0.1, 0.3, 0.8]);
const CLEAR: [f32; 3] = [0.05, 0.1, 0.02];

fn camera(order: isize, clear: Color, target: &Handle<Image>, layers: RenderLayers) -> impl Bundle + use<> {
    let camera = Camera {
        order,
        clear_color: ClearColorConfig::Custom(clear),
        ..default()
    };
    let target = RenderTarget::Image(target.clone().into());
    (Camera2d, camera, target, Msaa::Off, layers)
}

fn sprite_of(([left, top, right, bottom], [red, green, blue]): ([usize; 4], [f32; 3]), z: f32) -> impl Bundle {
    let [left, top, right, bottom] = [left, top, right, bottom].map(|side| side as f32);
    let size = Vec2::new(right - left, bottom - top);
    let centre = Vec2::new(
        0.5 * (left + right - SIZE.x as f32),
        0.5 * (SIZE.y as f32 - top - bottom),
    );
    let color = Color::linear_rgb(red, green, blue);
    (
        Sprite::from_color(color, size),
        Transform::from_translation(centre.extend(z)),
    )
}

/// Sprites with every kind of alpha, two of which overlap.
fn spawn_group(headless: &mut Headless) {
    let (image, _) = bundled::load("sprite.png");
    let badge = headless.add_image(image);
    let world = headless.app.world_mut();
    for (x, color) in [(-30.0, Color::WHITE), (20.0, Color::srgba(1.0, 0.6, 0.6, 0.7))] {
        let sprite = Sprite {
            color,
            custom_size: Some(Vec2::splat(80.0)),
            ..Sprite::from_image(badge.clone())
        };
        let place = Transform::from_xyz(x, 0.3 * x, 0.1 * x).with_rotation(Quat::from_rotation_z(0.01 * x));
        world.spawn((sprite, place, GROUP));
    }
}

/// The recipe: what it shows, and what the group's camera paints.
fn pictures(headless: &mut Headless, format: TextureFormat, alpha: BlurAlpha) -> [Picture; 2] {
    let [painted, shown, blurred, screen] = [0; 4].map(|_| scene::target(headless, SIZE, format));
    let [red, green, blue] = CLEAR;
    let world = headless.app.world_mut();
    world.spawn(camera(-1, Color::NONE, &painted, GROUP));
    world.spawn(camera(
        0,
        Color::linear_rgb(red, green, blue),
        &screen,
        RenderLayers::layer(0),
    ));
    let group = BlurImage::new(painted.clone()).with_alpha(alpha);
    world.spawn((GaussianBlur::new(0.0), group.clone().with_target(shown.clone())));
    let soft = GaussianBlur::from_sigma(SIGMA).with_edge(EdgeMode::Transparent);
    world.spawn((soft, group.with_target(blurred.clone())));
    world.spawn(sprite_of(BELOW, 0.0));
    world.spawn(sprite_of(ABOVE, 2.0));
    let [opacity, shadow] = SHARES;
    let sprite = |image: Handle<Image>, color: Color| Sprite {
        color,
        ..Sprite::from_image(image)
    };
    world.spawn((
        sprite(shown, Color::WHITE.with_alpha(opacity)),
        Transform::from_xyz(0.0, 0.0, 1.0),
    ));
    let [right, down] = OFFSET.map(|pixels| pixels as f32);
    let place = Transform::from_xyz(right, -down, 0.9);
    world.spawn((sprite(blurred, Color::BLACK.with_alpha(shadow)), place));
    spawn_group(headless);
    headless.warm_up();
    headless.frame();
    [screen, painted].map(|target| headless.picture(&target))
}

/// The same in float64, from what the group's camera painted: colours multiplied by alpha.
fn expected(group: &Picture) -> Picture {
    let soft = gaussian_blur(group, [f64::from(SIGMA); 2], EdgeMode::Transparent);
    let [opacity, dark] = SHARES.map(f64::from);
    Picture::from_fn(group.width, group.height, |x, y| {
        let inside = |[left, top, right, bottom]: [usize; 4]| (left..right).contains(&x) && (top..bottom).contains(&y);
        let opaque = |[red, green, blue]: [f32; 3]| [red, green, blue, 1.0].map(f64::from);
        if inside(ABOVE.0) {
            return opaque(ABOVE.1);
        }
        let below = opaque(if inside(BELOW.0) { BELOW.1 } else { CLEAR });
        let at = x.checked_sub(OFFSET[0]).zip(y.checked_sub(OFFSET[1]));
        let covered = at.map_or(0.0, |(x, y)| dark * soft.at(x, y)[3]);
        let above = group.at(x, y);
        let over = |channel: usize| {
            let below = below[channel] * (1.0 - covered);
            opacity * above[channel] + below * (1.0 - opacity * above[3])
        };
        [over(0), over(1), over(2), 1.0]
    })
}

/// The texels that the group covers in part, as a picture that is black elsewhere.
fn fringes(picture: &Picture, group: &Picture) -> Picture {
    Picture::from_fn(picture.width, picture.height, |x, y| {
        let alpha = group.at(x, y)[3];
        if alpha > 0.02 && alpha < 0.98 {
            picture.at(x, y)
        } else {
            [0.0; 4]
        }
    })
}

#[test]
fn a_group_of_sprites_lies_between_others() {
    for (format, tolerance) in [(HDR, 1.0), (LDR, 2.0)] {
        let mut headless = warm(BlurBackend::Compute);
        let [got, group] = pictures(&mut headless, format, BlurAlpha::Unpremultiply);
        let expected = within_rounding(&got, &expected(&group), format);
        let fringe = group.texels.iter().filter(|texel| texel[3] > 0.02 && texel[3] < 0.98);
        assert!(fringe.count() > 200, "the group has fringes and overlaps");
        let name = format!("sprites-{format:?}");
        assert_close(&name, &got, &expected, &RGB, tolerance / 255.0);
        let [got, expected] = [&got, &expected].map(|picture| fringes(picture, &group));
        assert_close(&format!("{name}-fringes"), &got, &expected, &RGB, tolerance / 255.0);
    }
}

/// Without the conversion, the fringes are dark: the recipe needs it.
#[test]
fn without_the_conversion_the_fringes_are_dark() {
    let mut headless = warm(BlurBackend::Compute);
    let [got, group] = pictures(&mut headless, HDR, BlurAlpha::Straight);
    let expected = expected(&group);
    let [got, expected] = [&got, &expected].map(|picture| fringes(picture, &group));
    let texels = got.texels.iter().flatten().zip(expected.texels.iter().flatten());
    let darkest = texels.map(|(got, expected)| expected - got).fold(0.0, f64::max);
    assert!(darkest > 0.1, "{darkest}");
}
