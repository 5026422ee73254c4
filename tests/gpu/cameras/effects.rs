//! The blur beside every other effect of a camera.

use super::*;
use bevy::anti_alias::AntiAliasPlugin;
use bevy::anti_alias::contrast_adaptive_sharpening::ContrastAdaptiveSharpening;
use bevy::anti_alias::fxaa::Fxaa;
use bevy::anti_alias::smaa::Smaa;
use bevy::anti_alias::taa::TemporalAntiAliasing;
use bevy::asset::uuid_handle;
use bevy::core_pipeline::fullscreen_material::{FullscreenMaterial, FullscreenMaterialPlugin};
use bevy::core_pipeline::schedule::Core3dSystems;
use bevy::core_pipeline::tonemapping::{Tonemapping, tonemapping};
use bevy::ecs::schedule::ScheduleConfigs;
use bevy::ecs::system::BoxedSystem;
use bevy::post_process::PostProcessPlugin;
use bevy::post_process::auto_exposure::{AutoExposure, AutoExposurePlugin};
use bevy::post_process::bloom::Bloom;
use bevy::post_process::dof::{DepthOfField, DepthOfFieldMode};
use bevy::post_process::effect_stack::ChromaticAberration;
use bevy::post_process::motion_blur::MotionBlur;
use bevy::render::extract_component::ExtractComponent;
use bevy::render::render_resource::ShaderType;
use bevy::shader::ShaderRef;
use bevy::time::TimeUpdateStrategy;

const SIZE: UVec2 = UVec2::new(96, 54);

/// A perspective camera with about the usual view. Effects of motion and time need movement: it sways.
fn placed(frame: u32) -> (Projection, Transform) {
    let projection = PerspectiveProjection { near: 1.0, ..default() };
    let sway = 12.0 * (frame as f32 * 0.7).sin();
    (
        Projection::Perspective(projection),
        Transform::from_xyz(sway, 0.3 * sway, 110.0),
    )
}

fn advance(twins: &mut Twins, frame: &mut u32) {
    *frame += 1;
    twins.insert(placed(*frame));
    twins.headless.frame();
}

/// Cameras of a format, in an app with all effects.
fn twins(format: TextureFormat) -> Twins {
    Twins::with(Kind::Core3d, SIZE, format, |app| {
        app.add_plugins((PostProcessPlugin, AntiAliasPlugin, AutoExposurePlugin));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(30)));
    })
}

/// Asserts, frame by frame, that the blur comes after an effect and does not disturb it.
fn check(twins: &mut Twins, name: &str, format: TextureFormat, effect: impl Bundle + Clone) {
    let name = &format!("{name}-{format:?}");
    let mut frame = 0;
    respawn(twins, format);
    twins.sharp.insert(&mut twins.headless, effect.clone());
    settle(twins, &mut frame);
    let [with, without] = [&twins.sharp, &twins.blurred].map(|view| view.picture(&twins.headless));
    let shown = worst_difference(&with, &without).value;
    assert!(shown > 1.0 / 255.0, "{name}: the effect does nothing: {shown}");

    // Effects with a history must start together.
    respawn(twins, format);
    twins.insert(effect);
    advance(twins, &mut frame);
    advance(twins, &mut frame);
    twins.assert_identical(name);
    for sigma in [0.0_f32, 1.5, 9.0, 0.0] {
        twins.blur(GaussianBlur::from_sigma(sigma));
        for _ in 0..2 {
            advance(twins, &mut frame);
            if sigma == 0.0 {
                twins.assert_identical(name);
            } else {
                twins.assert_blurred(&format!("{name}-{sigma}"), [f64::from(sigma); 2]);
            }
        }
    }
}

/// Replaces both cameras with new ones.
fn respawn(twins: &mut Twins, format: TextureFormat) {
    for view in [&mut twins.sharp, &mut twins.blurred] {
        twins.headless.despawn(view.camera);
        *view = View::new(&mut twins.headless, Kind::Core3d, SIZE, format);
    }
    if format == HDR {
        // An exposure has an effect only with tonemapping.
        twins.insert((Hdr, Tonemapping::Reinhard));
    }
}

fn settle(twins: &mut Twins, frame: &mut u32) {
    twins.insert(placed(*frame));
    twins.headless.warm_up();
    for _ in 0..2 {
        advance(twins, frame);
    }
}

#[test]
fn the_blur_follows_effects_on_a_low_dynamic_range() {
    let mut twins = twins(LDR);
    check_all(&mut twins, LDR);
    let sharpening = ContrastAdaptiveSharpening {
        sharpening_strength: 0.8,
        ..default()
    };
    check(&mut twins, "sharpening", LDR, sharpening);
}

#[test]
fn the_blur_follows_effects_on_a_high_dynamic_range() {
    let mut twins = twins(HDR);
    check_all(&mut twins, HDR);
    check(&mut twins, "bloom", HDR, Bloom::NATURAL);
    check(
        &mut twins,
        "tonemapping",
        HDR,
        (Bloom::NATURAL, Tonemapping::TonyMcMapface),
    );
    check(&mut twins, "auto-exposure", HDR, AutoExposure::default());
    let aberration = ChromaticAberration {
        intensity: 0.05,
        ..default()
    };
    check(&mut twins, "aberration", HDR, aberration);
    for mode in [DepthOfFieldMode::Gaussian, DepthOfFieldMode::Bokeh] {
        let effect = DepthOfField {
            mode,
            focal_distance: 20.0,
            aperture_f_stops: 0.005,
            ..default()
        };
        check(&mut twins, &format!("dof-{mode:?}"), HDR, effect);
    }
}

/// Effects of cameras with either range.
fn check_all(twins: &mut Twins, format: TextureFormat) {
    check(twins, "fxaa", format, Fxaa::default());
    check(twins, "smaa", format, Smaa::default());
    check(twins, "taa", format, TemporalAntiAliasing::default());
    let motion_blur = MotionBlur {
        shutter_angle: 2.0,
        samples: 4,
    };
    check(twins, "motion-blur", format, motion_blur);
}

const INVERT: Handle<Shader> = uuid_handle!("5f0e3a52-6b1c-4c55-9d0c-3f5ad1a2b750");

/// A linear material: the blur of its result is the result for the blur.
#[derive(Component, ExtractComponent, Clone, Copy, ShaderType, Default)]
struct Invert {
    white: f32,
}

impl FullscreenMaterial for Invert {
    fn fragment_shader() -> ShaderRef {
        ShaderRef::Handle(INVERT)
    }

    fn schedule_configs(system: ScheduleConfigs<BoxedSystem>) -> ScheduleConfigs<BoxedSystem> {
        system
            .in_set(Core3dSystems::PostProcess)
            .after(GaussianBlurSystems::BeforeTonemapping)
            .before(tonemapping)
    }
}

fn add_inverting(app: &mut App) {
    app.add_plugins(FullscreenMaterialPlugin::<Invert>::default());
    let shader = Shader::from_wgsl(include_str!("invert.wgsl"), "invert.wgsl");
    let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
    shaders.insert(&INVERT, shader).expect("it is not there yet");
}

/// In the order that [`GaussianBlurSystems::BeforeTonemapping`] recommends, no frame loses the blur or the material.
#[test]
fn the_blur_comes_before_a_fullscreen_material() {
    let mut twins = Twins::with(Kind::Core3d, SIZE, HDR, add_inverting);
    twins.insert((Hdr, Invert { white: 1.0 }));
    twins.blur((GaussianBlur::from_sigma(2.0), BlurStage::BeforeTonemapping));
    let mut frame = 0;
    settle(&mut twins, &mut frame);
    for _ in 0..30 {
        advance(&mut twins, &mut frame);
        twins.assert_blurred(&format!("inverted-{frame}"), [2.0; 2]);
    }
    let inverted = twins.sharp.picture(&twins.headless);
    twins.insert(Invert { white: 2.0 });
    twins.headless.frame();
    assert!(twins.sharp.picture(&twins.headless) != inverted, "nothing is inverted");
}
