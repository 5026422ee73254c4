//! Groups on cameras that compose encoded values. Bevy's nodes write the numbers of their light there, which count as encoded.

use super::spawn::spawn;
use super::*;
use crate::support::reference::tree::{Filter, Outline};
use crate::support::reference::{Functions, Step, Storage, decode_srgb, encode_srgb};
use bevy::camera::CompositingSpace;

/// Changes the colour of a channel, but not alpha.
fn each(color: [f64; 4], change: fn(f64) -> f64) -> [f64; 4] {
    let [red, green, blue, alpha] = color;
    [change(red), change(green), change(blue), alpha]
}

/// A list that fades, an icon with a line around it, and a coloured one.
fn tree() -> Tree {
    let filtered = |left: f64, filter: Filter| Node {
        radii: [6.0; 4],
        filter: Some(filter),
        children: vec![Node::new([8.0, -5.0], [6.0, 20.0], [0.9, 0.2, 0.1, 1.0])],
        ..Node::new([left, 18.0], [24.0, 30.0], [0.2, 0.5, 0.7, 1.0])
    };
    let fade = Filter {
        fade: [0.0, 12.0, 6.0, 0.0],
        ..Filter::NEUTRAL
    };
    let line = Filter {
        outline: Some(Outline {
            width: 3.0,
            color: [0.6, 0.3, 0.1, 0.8],
        }),
        ..Filter::NEUTRAL
    };
    let colors = Filter {
        functions: Functions(vec![
            Step::Sepia(0.6),
            Step::HueRotate(40.0),
            Step::Cover([0.9, 0.1, 0.4, 0.3]),
        ]),
        fade: [0.0, 0.0, 0.0, 10.0],
        ..line.clone()
    };
    Tree {
        size: [96, 64],
        clear: [0.4, 0.5, 0.3, 1.0],
        nodes: vec![filtered(4.0, fade), filtered(36.0, line), filtered(66.0, colors)],
    }
}

/// What the camera composes: colours that the functions have changed, and the line in encoded values.
fn composed(mut tree: Tree) -> Picture {
    for node in &mut tree.nodes {
        let filter = node.filter.as_mut().expect("all are filtered");
        let functions = core::mem::replace(&mut filter.functions, Functions::NEUTRAL);
        if let Some(outline) = &mut filter.outline {
            outline.color = each(outline.color, encode_srgb);
        }
        let colored = |color| each(functions.colored(each(color, decode_srgb), true), encode_srgb);
        node.color = colored(node.color);
        node.children
            .iter_mut()
            .for_each(|child| child.color = colored(child.color));
    }
    tree.picture(Storage::Half)
}

#[test]
fn groups_are_filtered_in_encoded_values() {
    for (is_hdr, tolerance) in [(true, 1.5), (false, 2.5)] {
        let mut headless = warm(BlurBackend::Compute);
        let tree = tree();
        let view = View::new(&mut headless, Kind::Core2d, UVec2::new(96, 64), LDR);
        view.insert(&mut headless, CompositingSpace::Srgb);
        headless.set(view.camera, Hdr, is_hdr);
        let [red, green, blue] = [0, 1, 2].map(|channel| decode_srgb(tree.clear[channel]) as f32);
        let world = headless.app.world_mut();
        let mut camera = world.get_mut::<Camera>(view.camera).expect("it was spawned");
        camera.clear_color = ClearColorConfig::Custom(Color::linear_rgb(red, green, blue));
        spawn(world, &tree, view.camera);
        headless.warm_up();
        let expected = composed(tree);
        let got = view.picture(&headless);
        let encoded = Picture::from_fn(got.width, got.height, |x, y| each(got.at(x, y), encode_srgb));
        let name = format!("spaces-hdr-{is_hdr}");
        let worst = assert_close(&name, &encoded, &expected, &RGB, tolerance / 255.0);
        println!("{name}: {:.2}/255", worst * 255.0);
    }
}
