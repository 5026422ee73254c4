//! A mesh that shows a target, when the plugin fits the target to another size.

use super::*;

const RED: [f64; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f64; 4] = [0.0, 1.0, 0.0, 1.0];

fn flat(side: usize, colour: [f64; 4]) -> Image {
    to_image(&Picture::from_fn(side, side, |_, _| colour), LDR)
}

type Shown<'a> = (&'a BlurImage, &'a MeshMaterial2d<ColorMaterial>);

/// The code in the documentation of `BlurImage::target`.
fn show(finished: On<BlurFinished>, blurs: Query<Shown>, mut materials: ResMut<Assets<ColorMaterial>>) {
    if let Ok((image, material)) = blurs.get(finished.entity)
        && let Some(mut material) = materials.get_mut(&material.0)
    {
        material.texture = image.target.clone();
    }
}

/// A red image on a mesh, replaced by a larger green one. Returns a camera's picture of it before and after.
fn colours(with_observer: bool) -> [[f64; 4]; 2] {
    let mut headless = warm(BlurBackend::Compute);
    let target = scene::target(&mut headless, UVec2::splat(20), LDR);
    scene::camera(&mut headless, Kind::Core2d, &target, Msaa::Off);
    let source = headless.add_image(flat(16, RED));
    let world = headless.app.world_mut();
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Rectangle::new(30.0, 30.0));
    let material = world
        .resource_mut::<Assets<ColorMaterial>>()
        .add(ColorMaterial::default());
    let shown = (Mesh2d(mesh), MeshMaterial2d(material.clone()));
    let entity = world
        .spawn((shown, GaussianBlur::from_sigma(2.0), plain(source.clone())))
        .id();
    headless.frame();
    let world = headless.app.world_mut();
    let blurred = world.get::<BlurImage>(entity).and_then(|image| image.target.clone());
    let mut materials = world.resource_mut::<Assets<ColorMaterial>>();
    materials.get_mut(&material).expect("it was added").texture = blurred;
    if with_observer {
        world.entity_mut(entity).observe(show);
    }
    let before = centre(&mut headless, &target);
    headless.insert_image(&source, flat(32, GREEN));
    let after = centre(&mut headless, &target);
    [before, after]
}

fn centre(headless: &mut Headless, target: &Handle<Image>) -> [f64; 4] {
    headless.frames(5);
    scene::shot(headless, target).at(10, 10)
}

#[test]
fn a_mesh_shows_the_new_target_when_its_material_is_written() {
    let (left_alone, written) = (colours(false), colours(true));
    assert_eq!(written, [RED, GREEN]);
    assert_eq!(
        left_alone,
        [RED, RED],
        "Bevy follows by itself now: the documentation is out of date"
    );
}
