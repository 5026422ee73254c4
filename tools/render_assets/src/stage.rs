//! Helpers that put objects into the scene.

use crate::texture::texture;
use bevy::math::Affine2;
use bevy::prelude::*;

/// The colour of lamps and lit windows.
pub const WARM: Vec3 = Vec3::new(1.0, 0.5, 0.16);
/// The colour of iron, rope and wire.
pub const DARK: Vec3 = Vec3::splat(0.02);

pub type Paint = Handle<StandardMaterial>;

/// Puts objects into the world, each relative to `frame`.
pub struct Stage<'w> {
    pub world: &'w mut World,
    frame: Transform,
    cube: Handle<Mesh>,
    rod: Handle<Mesh>,
    ball: Handle<Mesh>,
}

impl<'w> Stage<'w> {
    pub fn new(world: &'w mut World) -> Self {
        let mut meshes = world.resource_mut::<Assets<Mesh>>();
        Stage {
            cube: meshes.add(Cuboid::from_length(1.0)),
            rod: meshes.add(Cylinder::new(1.0, 1.0).mesh().resolution(16)),
            ball: meshes.add(Sphere::new(1.0).mesh().uv(48, 24)),
            frame: Transform::IDENTITY,
            world,
        }
    }

    /// Lets `build` put objects relative to a frame within this one.
    pub fn within(&mut self, place: Transform, build: impl FnOnce(&mut Self)) {
        let outer = self.frame;
        self.frame = outer * place;
        build(self);
        self.frame = outer;
    }

    pub fn add<A: Asset>(&mut self, asset: impl Into<A>) -> Handle<A> {
        self.world.resource_mut::<Assets<A>>().add(asset)
    }

    pub fn paint(&mut self, color: Vec3) -> Paint {
        self.add(Color::from(LinearRgba::from_vec3(color)))
    }

    pub fn textured(&mut self, size: u32, repeat: Vec2, color: impl Fn(Vec2) -> Vec3) -> Paint {
        let texture = self.add(texture(UVec2::splat(size), color));
        self.add(StandardMaterial {
            uv_transform: Affine2::from_scale(repeat),
            perceptual_roughness: 0.8,
            ..texture.into()
        })
    }

    /// A black surface that emits the same light everywhere.
    pub fn glow(&mut self, radiance: Vec3) -> Paint {
        self.lit(Color::BLACK.into(), None, radiance, 0.5)
    }

    /// A surface that emits light, in the pattern of a texture if there is one.
    pub fn lit(&mut self, base: StandardMaterial, pattern: Option<Handle<Image>>, radiance: Vec3, rough: f32) -> Paint {
        self.add(StandardMaterial {
            emissive: LinearRgba::from_vec3(radiance),
            emissive_texture: pattern,
            perceptual_roughness: rough,
            ..base
        })
    }

    fn put(&mut self, mesh: Handle<Mesh>, paint: &Paint, place: Transform) {
        let looks = (Mesh3d(mesh), MeshMaterial3d(paint.clone()));
        self.world.spawn((looks, self.frame * place));
    }

    /// A mesh that is used once.
    pub fn shape(&mut self, mesh: impl Into<Mesh>, paint: &Paint, at: Vec3, scale: Vec3) {
        let mesh = self.add(mesh);
        self.put(mesh, paint, Transform::from_translation(at).with_scale(scale));
    }

    /// A cube of size 1, placed by the transform.
    pub fn cube(&mut self, paint: &Paint, place: Transform) {
        self.put(self.cube.clone(), paint, place);
    }

    /// A cuboid that stands on `foot`.
    pub fn block(&mut self, foot: Vec3, size: Vec3, paint: &Paint) {
        let centre = Transform::from_translation(foot + Vec3::Y * size.y / 2.0);
        self.cube(paint, centre.with_scale(size));
    }

    pub fn ball(&mut self, centre: Vec3, radius: f32, paint: &Paint) {
        let place = Transform::from_translation(centre).with_scale(Vec3::splat(radius));
        self.put(self.ball.clone(), paint, place);
    }

    pub fn rod(&mut self, from: Vec3, to: Vec3, radius: f32, paint: &Paint) {
        let along = to - from;
        let place = Transform::from_translation(from + along / 2.0)
            .with_rotation(Quat::from_rotation_arc(Vec3::Y, along.normalize()))
            .with_scale(vec3(radius, along.length(), radius));
        self.put(self.rod.clone(), paint, place);
    }

    /// A small, very bright ball and its light.
    pub fn lamp(&mut self, at: Vec3, radius: f32, color: Vec3, lumens: f32) {
        let glow = self.glow(color * 60.0);
        self.ball(at, radius, &glow);
        let light = PointLight {
            color: LinearRgba::from_vec3(color).into(),
            intensity: lumens,
            radius,
            ..default()
        };
        self.world.spawn((light, self.frame * Transform::from_translation(at)));
    }
}
