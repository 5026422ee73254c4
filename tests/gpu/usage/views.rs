//! Sources whose view is a part of a texture.

use super::*;
use crate::support::images::{asset, layered};

const LAYERS: u32 = 4;
const LEVELS: u32 = 2;

/// The contents of each level of a layer: no two layers are equal.
fn levels(layer: u32) -> [Picture; LEVELS as usize] {
    let scale = 1.0 - 0.2 * f64::from(layer);
    [(61, 47), (30, 23)].map(|(width, height)| {
        let picture = &pictures(width, height)[layer as usize % 2];
        Picture::from_fn(width, height, |x, y| picture.at(x, y).map(|value| value * scale))
    })
}

/// A texture of some layers, each with all its levels.
fn texture(layers: u32) -> Image {
    let layers: Vec<Vec<Picture>> = (0..layers).map(|layer| levels(layer).to_vec()).collect();
    layered(&layers, FORMAT)
}

/// One level of one layer.
fn part(layer: u32, level: u32) -> TextureViewDescriptor<'static> {
    TextureViewDescriptor {
        dimension: Some(TextureViewDimension::D2),
        base_array_layer: layer,
        array_layer_count: Some(1),
        base_mip_level: level,
        mip_level_count: Some(1),
        ..default()
    }
}

/// Blurs the contents of a view.
fn assert_blurs(name: &str, layers: u32, view: TextureViewDescriptor<'static>, shown: &Picture) {
    let mut headless = warm(BlurBackend::Compute);
    let mut source = texture(layers);
    source.texture_view_descriptor = Some(view);
    let source = headless.add_image(source);
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(3.5), plain(source));
    assert_eq!(finished(&mut headless, 10), 1, "{name}");
    let target = target_of(&headless, entity);
    assert_eq!(headless.read_image(&target).format, FORMAT, "{name}");
    let descriptor = asset(&headless, &target).texture_descriptor;
    let parts = [descriptor.size.depth_or_array_layers, descriptor.mip_level_count];
    assert_eq!(parts, [1, 1], "{name}: layers and levels");
    assert_blur(name, &headless, &target, shown, 3.5);
}

#[test]
fn a_layer() {
    for (layer, level) in [(2, 0), (0, 1), (3, 1)] {
        let shown = &levels(layer)[level as usize];
        assert_blurs(&format!("layer-{layer}-{level}"), LAYERS, part(layer, level), shown);
    }
}

#[test]
fn a_level() {
    let view = part(0, 1);
    let shown = &levels(0)[1];
    assert_blurs("level", 1, view.clone(), shown);
    // The dimension is implied if there is one layer, and the number of levels if one is left.
    let view = TextureViewDescriptor {
        dimension: None,
        mip_level_count: None,
        ..view
    };
    assert_blurs("last-levels", 1, view, shown);
}
