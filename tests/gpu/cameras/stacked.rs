//! A blurred camera over a sharp one, on one target.

use super::*;
use bevy::camera::CameraOutputMode;
use bevy::render::render_resource::BlendState;

const FORMAT: TextureFormat = HDR;
const SIGMA: f64 = 6.0;

/// The sharp camera sees the background, a textured quad. The other camera renders over it and sees the foreground: two
/// plain quads and a translucent one.
fn stack(kind: Kind, clear_color: ClearColorConfig, blend_state: Option<BlendState>) -> Twins {
    let mut twins = Twins::new(kind, SIZE, FORMAT);
    let world = twins.headless.app.world_mut();
    let mut quads = world.query::<(Entity, &MeshMaterial2d<ColorMaterial>)>();
    let quads: Vec<_> = quads
        .iter(world)
        .map(|(entity, material)| (entity, material.id()))
        .collect();
    let mut materials = world.resource_mut::<Assets<ColorMaterial>>();
    let mut foreground = Vec::new();
    for (entity, material) in quads {
        let mut material = materials.get_mut(material).expect("the scene has added it");
        if material.texture.is_none() {
            foreground.push(entity);
            let alpha = if foreground.len() == 1 { 0.5 } else { 1.0 };
            material.color.set_alpha(alpha);
        }
    }
    assert!(foreground.len() >= 3, "the scene has plain quads");
    for entity in foreground {
        world.entity_mut(entity).insert(RenderLayers::layer(1));
    }
    let target = twins.sharp.target.clone();
    twins.blurred.retarget(&mut twins.headless, target, 1.0);
    let over = Camera {
        order: 1,
        clear_color,
        output_mode: CameraOutputMode::Write {
            blend_state,
            clear_color: ClearColorConfig::None,
        },
        ..default()
    };
    twins.blur((over, RenderLayers::layer(1)));
    twins
}

/// The picture of one of the cameras alone, before it is blended into the target.
fn alone(twins: &mut Twins, camera: Entity, other: Entity) -> Picture {
    let mode = |twins: &mut Twins, mode: CameraOutputMode| {
        let mut camera = twins.headless.app.world_mut().entity_mut(camera);
        core::mem::replace(&mut camera.get_mut::<Camera>().expect("a camera").output_mode, mode)
    };
    set_active(&mut twins.headless, other, false);
    let replacing = CameraOutputMode::Write {
        blend_state: Some(BlendState::REPLACE),
        clear_color: ClearColorConfig::None,
    };
    let usual = mode(twins, replacing);
    twins.headless.warm_up();
    let picture = twins.sharp.picture(&twins.headless);
    mode(twins, usual);
    set_active(&mut twins.headless, other, true);
    picture
}

/// `over` on `under`, with the colour weighted by the blend state.
fn compose(over: &Picture, under: &Picture, weight: impl Fn(f64) -> f64) -> Picture {
    Picture::from_fn(over.width, over.height, |x, y| {
        let (over, under) = (over.at(x, y), under.at(x, y));
        let alpha = over[3];
        let mut composed: [f64; 4] =
            core::array::from_fn(|channel| over[channel] * weight(alpha) + under[channel] * (1.0 - alpha));
        composed[3] = alpha + under[3] * (1.0 - alpha);
        composed
    })
}

/// The colour of a camera is already multiplied by its alpha. Bevy's default blends it as if it were not, which darkens
/// soft borders with or without a blur; `PREMULTIPLIED_ALPHA_BLENDING` is correct.
#[test]
fn a_blurred_foreground_is_composed_over_a_sharp_background() {
    let premultiplied = Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING);
    for blend_state in [premultiplied, None] {
        let weight = |alpha: f64| if blend_state.is_some() { 1.0 } else { alpha };
        let transparent = ClearColorConfig::Custom(Color::NONE);
        let mut twins = stack(Kind::Core2d, transparent, blend_state);
        let (under, over) = (twins.sharp.camera, twins.blurred.camera);
        let background = alone(&mut twins, under, over);
        let foreground = alone(&mut twins, over, under);
        let alphas: Vec<f64> = foreground.texels.iter().map(|texel| texel[3]).collect();
        assert!(
            alphas.contains(&0.0) && alphas.contains(&1.0),
            "some is covered, some not"
        );
        twins.headless.warm_up();
        let sharp = twins.sharp.picture(&twins.headless);
        let expected = compose(&foreground, &background, weight);
        assert_close("stacked-sharp", &sharp, &expected, &RGBA, 0.3 / 255.0);
        for edge in [EdgeMode::Clamp, EdgeMode::Transparent] {
            twins.blur(sigma(SIGMA as f32).with_edge(edge));
            twins.headless.warm_up();
            let got = twins.sharp.picture(&twins.headless);
            let expected = compose(&gaussian_blur(&foreground, [SIGMA; 2], edge), &background, weight);
            let name = format!("stacked-{}-{edge:?}", blend_state.is_some());
            let worst = assert_close(&name, &got, &expected, &RGBA, 0.6 / 255.0);
            println!("{name}: {:.3}/255", worst * 255.0);
        }
    }
}

/// Without a clear the second camera draws over the picture of the first one, and so blurs both.
#[test]
fn a_camera_that_does_not_clear_blurs_what_is_below() {
    let mut twins = stack(Kind::Core2d, ClearColorConfig::None, None);
    twins.headless.warm_up();
    let sharp = twins.sharp.picture(&twins.headless);
    twins.blur(sigma(SIGMA as f32));
    twins.headless.warm_up();
    let got = twins.sharp.picture(&twins.headless);
    let expected = gaussian_blur(&sharp, [SIGMA; 2], EdgeMode::Clamp);
    assert_close("stacked-without-clear", &got, &expected, &RGBA, 0.6 / 255.0);
}

/// The lower camera is the blurred one: everything over it stays sharp.
#[test]
fn a_sharp_foreground_stays_sharp_over_a_blurred_background() {
    let premultiplied = Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING);
    let mut twins = stack(Kind::Core2d, ClearColorConfig::Custom(Color::NONE), premultiplied);
    let (under, over) = (twins.sharp.camera, twins.blurred.camera);
    let background = alone(&mut twins, under, over);
    let foreground = alone(&mut twins, over, under);
    twins.sharp.insert(&mut twins.headless, sigma(SIGMA as f32));
    twins.headless.warm_up();
    let got = twins.sharp.picture(&twins.headless);
    let below = gaussian_blur(&background, [SIGMA; 2], EdgeMode::Clamp);
    let expected = compose(&foreground, &below, |_| 1.0);
    assert_close("stacked-over-blurred", &got, &expected, &RGBA, 0.6 / 255.0);
}
