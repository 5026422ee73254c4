//! The sky, the moon, and their light.

use crate::stage::Stage;
use crate::texture::{hash, noise, texture};
use bevy::light::GlobalAmbientLight;
use bevy::prelude::*;

pub fn backdrop(stage: &mut Stage) {
    let dusk = stage.add(texture(uvec2(2048, 768), dusk));
    let dusk = stage.add(StandardMaterial {
        unlit: true,
        ..dusk.into()
    });
    let sheet = Rectangle::new(340.0, 120.0);
    stage.shape(sheet, &dusk, vec3(0.0, 60.0, -150.0), Vec3::ONE);

    let craters = |p: Vec2| Vec3::splat(0.1 + 1.6 * noise(p * vec2(12.0, 6.0), 12).powi(2));
    let craters = stage.add(texture(UVec2::splat(256), craters));
    let moon = stage.lit(Color::BLACK.into(), Some(craters), vec3(4.0, 3.5, 2.8), 0.5);
    stage.ball(vec3(-33.0, 50.0, -140.0), 4.2, &moon);
    let moonlight = DirectionalLight {
        color: Color::srgb(0.62, 0.72, 1.0),
        illuminance: 900.0,
        shadow_maps_enabled: true,
        ..default()
    };
    let place = Transform::from_xyz(-6.0, 8.0, 7.0).looking_at(Vec3::ZERO, Vec3::Y);
    stage.world.spawn((moonlight, place));
    stage.world.insert_resource(GlobalAmbientLight {
        color: Color::srgb(0.55, 0.6, 1.0),
        brightness: 260.0,
        ..default()
    });
}

/// Dusk from the horizon (bottom) to the zenith, with stars, thin clouds and two ridges of hills.
fn dusk(p: Vec2) -> Vec3 {
    let up = 1.0 - p.y;
    let glow = vec3(0.95, 0.30, 0.10).lerp(vec3(0.28, 0.07, 0.22), (up * 3.6).min(1.0));
    let air = glow.lerp(vec3(0.010, 0.016, 0.075), (up * 1.5).clamp(0.0, 1.0).powf(0.6));
    let cloud = (noise(p * vec2(8.0, 40.0), 8) - 0.5).max(0.0) * (1.0 - up).powi(2) * 2.2;
    let texel = (p * vec2(2048.0, 768.0)).as_uvec2();
    let stars = match hash(texel.x + texel.y * 2053) {
        rare if rare > 0.9987 => hash(texel.x * 31 + texel.y) * up * 1.3,
        _ => 0.0,
    };
    let ridge = |seed: f32, scale: f32| noise(vec2(p.x * 16.0 + seed, seed), 1024) * scale;
    match up {
        u if u < ridge(3.3, 0.16) => vec3(0.020, 0.018, 0.050) + noise(p * 64.0, 64) * 0.012,
        u if u < ridge(40.7, 0.27) => vec3(0.075, 0.035, 0.085),
        _ => air + cloud * vec3(0.9, 0.32, 0.22) + stars,
    }
}
