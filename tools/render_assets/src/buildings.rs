//! The row of houses behind the harbour, and the lighthouse.

use crate::stage::{DARK, Paint, Stage, WARM};
use crate::texture::{hash, hex, noise, texture};
use bevy::prelude::*;
use std::f32::consts::{PI, TAU};

/// The houses, with lamps along the water.
pub fn street(stage: &mut Stage) {
    let walls = [
        0xce5a46, 0xdcad50, 0x508cae, 0xcebfa6, 0x5a997c, 0xc46f8b, 0xda9040, 0x959db8, 0xb84838,
    ];
    let stone = stage.textured(256, vec2(60.0, 1.5), |p| {
        let course = 0.5 * (p.y * 4.0).floor();
        let joint = (p * vec2(2.0, 4.0) + vec2(course, 0.0)).fract().min_element() < 0.06;
        Vec3::splat(if joint { 0.05 } else { 0.14 + 0.2 * noise(p * 16.0, 16) })
    });
    let tiles = stage.textured(128, vec2(6.0, 10.0), |p| {
        let bulge = 0.7 + 0.6 * ((p.x * 4.0).fract() * PI).sin();
        vec3(0.34, 0.09, 0.05) * (0.25 + (p.y * 2.0).fract()) * bulge
    });
    stage.block(vec3(-12.0, 0.0, -18.0), vec3(43.0, 0.9, 12.0), &stone);
    let mut x = -25.0;
    for (number, wall) in (0..).zip(walls.map(hex)) {
        let size = vec3(2.9 + 1.5 * hash(number + 40), 4.4 + 3.6 * hash(number + 7), 5.0);
        let place = Transform::from_xyz(x + size.x / 2.0, 0.9, -15.5 - 0.6 * hash(number));
        stage.within(place, |stage| house(stage, number, size, wall, &tiles));
        x += size.x + 0.06;
    }
    let iron = stage.paint(DARK);
    for post in 0..6u8 {
        let foot = vec3(-20.0 + 5.4 * f32::from(post), 0.9, -12.4);
        stage.rod(foot, foot + Vec3::Y * 2.4, 0.05, &iron);
        stage.lamp(foot + Vec3::Y * 2.5, 0.13, WARM, 90_000.0);
    }
}

fn house(stage: &mut Stage, number: u32, size: Vec3, wall: Vec3, tiles: &Paint) {
    let cells = vec2((size.x / 1.05).round(), (size.y / 1.45).round());
    let front = |p| facade(p, number * 17 + 3, wall, cells);
    let base = stage.add(texture(UVec2::splat(512), |p| front(p).0));
    let lights = stage.add(texture(UVec2::splat(512), |p| front(p).1));
    let bricks = stage.lit(base.into(), Some(lights), Vec3::splat(1.5), 0.9);
    let plain = stage.paint(wall * 0.8);
    stage.block(Vec3::ZERO, size, &bricks);
    let (top, stepped) = (Transform::from_xyz(0.0, size.y, 0.0), number.is_multiple_of(2));
    stage.within(top, |stage| roof(stage, size, stepped, &plain, tiles));
}

/// The colour of a house front, with bricks and window frames, and the light that its windows emit.
fn facade(p: Vec2, seed: u32, wall: Vec3, cells: Vec2) -> (Vec3, Vec3) {
    let course = (p.y * 64.0).floor();
    let brick = vec2(p.x * 32.0 + 0.5 * (course % 2.0), p.y * 64.0);
    let mortar = brick.fract().cmplt(vec2(0.08, 0.14)).any();
    let tone = 0.75 + 0.5 * hash(brick.x as u32 + 997 * course as u32 + seed);
    let stone = if mortar { wall * 0.35 + 0.06 } else { wall * tone };
    let (cell, f) = ((p * cells).as_uvec2(), (p * cells).fract());
    let (window, q) = (seed * 71 + cell.x * 13 + cell.y * 131, (f - 0.5).abs());
    let bars = q.x < 0.02 || (q.y - 0.1).abs() < 0.015;
    if q.cmpgt(vec2(0.31, 0.37)).any() {
        (stone, Vec3::ZERO)
    } else if q.cmpgt(vec2(0.27, 0.34)).any() || bars {
        (Vec3::splat(0.6), Vec3::ZERO)
    } else {
        let lit = if hash(window) < 0.6 {
            0.5 + hash(window + 5)
        } else {
            0.02
        };
        let blind = 0.55 + 0.45 * (f.y * 1.6).min(1.0);
        let hue = WARM.lerp(vec3(1.0, 0.85, 0.55), hash(window + 9));
        (Vec3::splat(0.01), hue * lit * blind)
    }
}

/// A tiled roof with a chimney; its front is a stepped gable or a plain one.
fn roof(stage: &mut Stage, size: Vec3, stepped: bool, wall: &Paint, tiles: &Paint) {
    let rise = 0.55 * size.x;
    let triangle = Triangle2d::new(vec2(-0.5, 0.0), vec2(0.5, 0.0), vec2(0.0, 1.0));
    let prism = vec3(size.x, rise, size.z - 0.1);
    stage.shape(Extrusion::new(triangle, 1.0), wall, Vec3::ZERO, prism);
    let slope = rise.atan2(size.x / 2.0);
    for side in [-1.0, 1.0] {
        let slab = Transform::from_xyz(side * size.x / 4.0, rise / 2.0 + 0.06, -0.1)
            .with_rotation(Quat::from_rotation_z(-side * slope))
            .with_scale(vec3(size.x * 0.53 / slope.cos(), 0.1, size.z + 0.2));
        stage.cube(tiles, slab);
    }
    let steps = if stepped { 5u8 } else { 0 };
    for step in (0..steps).map(f32::from) {
        let (width, height) = (size.x * (1.06 - 0.2 * step), (rise + 0.7) / 5.0);
        let foot = vec3(0.0, height * step, size.z / 2.0 - 0.15);
        stage.block(foot, vec3(width, height, 0.4), wall);
    }
    stage.block(vec3(size.x * 0.25, 0.2, -0.5), vec3(0.45, rise + 0.6, 0.45), wall);
}

/// A frustum that stands on y = 0.
pub fn frustum(radius_bottom: f32, radius_top: f32, height: f32) -> Mesh {
    let frustum = ConicalFrustum {
        radius_top,
        radius_bottom,
        height,
    };
    Mesh::from(frustum).translated_by(Vec3::Y * height / 2.0)
}

/// A striped lighthouse on a rock.
pub fn lighthouse(stage: &mut Stage) {
    let stone = |p: Vec2| Vec3::splat(0.05 + 0.22 * noise(p * 8.0, 8));
    let rock = stage.textured(256, vec2(4.0, 2.0), stone);
    let (red, white) = (vec3(0.75, 0.02, 0.02), Vec3::splat(0.8));
    let bands = |p: Vec2| if (p.y * 3.5).fract() < 0.5 { red } else { white };
    let stripes = stage.textured(256, Vec2::ONE, bands);
    let (iron, red) = (stage.paint(DARK), stage.paint(red));
    stage.shape(frustum(5.0, 3.2, 1.4), &rock, Vec3::ZERO, Vec3::ONE);
    stage.shape(frustum(1.5, 0.95, 10.0), &stripes, Vec3::Y * 1.4, Vec3::ONE);
    stage.shape(frustum(1.2, 0.05, 1.1), &red, Vec3::Y * 13.3, Vec3::ONE);
    stage.rod(Vec3::Y * 11.4, Vec3::Y * 11.6, 1.5, &iron);
    let turn = |i: u8| Quat::from_rotation_y(f32::from(i) * TAU / 24.0);
    let rim = |i, radius, y: f32| turn(i) * vec3(radius, 11.4 + y, 0.0);
    for i in 0..24 {
        stage.rod(rim(i, 1.45, 0.2), rim(i, 1.45, 1.0), 0.02, &iron);
        stage.rod(rim(i, 1.45, 1.0), rim(i + 1, 1.45, 1.0), 0.025, &iron);
        if i % 4 == 0 {
            stage.rod(rim(i, 0.9, 0.2), rim(i, 0.9, 1.9), 0.05, &iron);
        }
    }
    let glow = stage.glow(vec3(1.0, 0.85, 0.5) * 400.0);
    stage.ball(Vec3::Y * 12.45, 0.5, &glow);
    stage.lamp(Vec3::Y * 14.5, 0.1, vec3(1.0, 0.05, 0.02), 30_000.0);
    stage.lamp(vec3(-3.2, 2.6, 3.4), 0.13, WARM, 250_000.0);
}
