//! The quay with its freight, the boats, and the garlands between them.

use crate::buildings::frustum;
use crate::stage::{DARK, Stage, WARM};
use crate::texture::{hash, hex, noise};
use bevy::prelude::*;

/// The checkered quay in front, its iron fence and two lamp posts.
pub fn quay(stage: &mut Stage) {
    let paving = stage.textured(512, vec2(30.0, 7.0), |p| {
        let (cell, f) = ((p * 8.0).as_uvec2(), (p * 8.0).fract() - 0.5);
        let dark = (p * 2.0).as_uvec2().element_sum().is_multiple_of(2);
        let edge = (f.powf(4.0).element_sum() * 16.0).min(1.0);
        let wear = (0.6 + 0.5 * hash(cell.x + cell.y * 8)) * (0.6 + 0.8 * noise(p * 32.0, 32));
        hex(if dark { 0x655a5e } else { 0xbfada0 }) * wear * (1.0 - 0.85 * edge)
    });
    stage.block(vec3(0.0, 0.0, 13.0), vec3(60.0, 1.0, 14.0), &paving);
    let (iron, brass) = (stage.paint(DARK), stage.paint(vec3(0.8, 0.5, 0.12)));
    let edge = |x: f32, y: f32| vec3(x, 1.0 + y, 6.3);
    for bar in -64..64i16 {
        let x = f32::from(bar) * 0.16;
        let (height, radius, knob) = match bar % 12 {
            0 => (1.2, 0.045, &brass),
            _ => (1.0, 0.013, &iron),
        };
        stage.rod(edge(x, 0.0), edge(x, height), radius, &iron);
        stage.ball(edge(x, height), radius * 1.8, knob);
    }
    for height in [0.15, 0.72, 0.9] {
        stage.rod(edge(-12.0, height), edge(12.0, height), 0.02, &iron);
    }
    for x in [-6.6, 2.9] {
        stage.within(Transform::from_xyz(x, 1.0, 6.6), |stage| {
            stage.rod(Vec3::ZERO, Vec3::Y * 4.4, 0.06, &iron);
            stage.rod(Vec3::ZERO, Vec3::Y * 0.5, 0.13, &iron);
            stage.rod(vec3(-0.5, 4.0, 0.0), vec3(0.5, 4.0, 0.0), 0.03, &iron);
            for (x, y) in [(-0.5, 3.85), (0.0, 4.5), (0.5, 3.85)] {
                stage.lamp(vec3(x, y, 0.0), 0.12, WARM, 120_000.0);
            }
        });
    }
}

/// Crates and barrels on the quay.
pub fn freight(stage: &mut Stage) {
    let planks = stage.textured(256, Vec2::ONE, |p| {
        let frame = (p - 0.5).abs().max_element() > 0.4 || (p.x - p.y).abs() < 0.09;
        let gap = (p.y * 6.0).fract() < 0.06 && !frame;
        let along = if frame { vec2(32.0, 8.0) } else { vec2(4.0, 32.0) };
        let tone = if frame { 1.3 } else { 0.8 } * (0.6 + 0.7 * noise(p * along, 64));
        if gap { DARK } else { vec3(0.36, 0.19, 0.08) * tone }
    });
    let staves = stage.textured(256, Vec2::ONE, |p| {
        let hoop = ((p.y - 0.5).abs() - 0.33).abs() < 0.05;
        let tone = 0.5 + (p.x * 20.0).fract();
        if hoop { DARK } else { vec3(0.28, 0.10, 0.05) * tone }
    });
    for (x, z, turn) in [(-6.1, 7.4, 0.2), (2.0, 7.3, 0.4)] {
        let place = Transform::from_xyz(x, 1.4, z).with_scale(Vec3::splat(0.8));
        stage.cube(&planks, place.with_rotation(Quat::from_rotation_y(turn)));
    }
    for (x, z) in [(-5.2, 7.2), (1.2, 7.1), (0.6, 7.5)] {
        stage.rod(vec3(x, 1.0, z), vec3(x, 1.75, z), 0.28, &staves);
    }
}

/// A fishing boat with a lit cabin, a mast and its rigging.
pub fn boat(stage: &mut Stage, color: u32) {
    let (paint, white) = (stage.paint(hex(color)), stage.paint(Vec3::splat(0.75)));
    let (wood, rope) = (stage.paint(vec3(0.22, 0.1, 0.04)), stage.paint(DARK));
    let cabin = stage.glow(WARM * 2.0);
    stage.shape(frustum(0.74, 1.0, 1.0), &paint, Vec3::ZERO, vec3(2.7, 0.84, 0.95));
    stage.shape(Torus::new(0.955, 1.045), &white, Vec3::Y * 0.86, vec3(2.7, 1.6, 0.95));
    stage.block(vec3(-0.9, 0.85, 0.0), vec3(1.3, 0.6, 1.0), &white);
    stage.block(vec3(-0.9, 1.43, 0.0), vec3(1.2, 0.36, 0.9), &cabin);
    stage.block(vec3(-0.9, 1.77, 0.0), vec3(1.5, 0.1, 1.2), &paint);
    for x in [-1.5, -1.2, -0.9, -0.6, -0.3] {
        stage.rod(vec3(x, 1.4, 0.47), vec3(x, 1.8, 0.47), 0.03, &white);
    }
    let (mast, boom) = (vec3(0.5, 5.9, 0.0), vec3(-2.5, 2.6, 0.0));
    stage.rod(vec3(0.5, 0.8, 0.0), mast, 0.06, &wood);
    stage.rod(vec3(0.4, 2.2, 0.0), boom, 0.05, &wood);
    stage.rod(mast, boom, 0.014, &rope);
    for (x, z) in [(2.6, 0.0), (-2.6, 0.0), (0.9, 0.9), (0.1, -0.9), (0.1, 0.9)] {
        stage.rod(mast, vec3(x, 0.9, z), 0.014, &rope);
    }
    stage.lamp(mast + Vec3::Y * 0.1, 0.1, vec3(0.2, 1.0, 0.5), 15_000.0);
    stage.lamp(vec3(0.2, 1.9, 0.0), 0.1, WARM, 40_000.0);
}

/// A sagging wire with coloured bulbs.
pub fn garland(stage: &mut Stage, from: Vec3, to: Vec3, sag: f32, bulbs: u32) {
    let wire = stage.paint(DARK);
    let hues = [0xff2200, 0xffa010, 0x10e040, 0x1060ff, 0xff1070];
    let glows = hues.map(|hue| stage.glow(hex(hue) * 5.0));
    let at = |i: u32| {
        let t = i as f32 / bulbs as f32;
        from.lerp(to, t) - Vec3::Y * 4.0 * sag * t * (1.0 - t)
    };
    for (i, glow) in (0..bulbs).zip(glows.iter().cycle()) {
        stage.rod(at(i), at(i + 1), 0.018, &wire);
        stage.ball(at(i) - Vec3::Y * 0.09, 0.075, glow);
    }
}
