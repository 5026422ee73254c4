//! A blur keeps no bind groups that it no longer needs: each would keep its textures alive.

use super::*;
use crate::support::counters::Held;
use crate::support::images::layered;

/// An image of some layers.
fn image(layers: usize) -> Image {
    if layers == 1 {
        return to_image(&picture(33, 20), FORMAT);
    }
    layered(&vec![vec![picture(33, 20)]; layers], FORMAT)
}

fn bind_groups(headless: &Headless) -> i64 {
    Held::by(&headless.app).of("bind groups")
}

#[test]
fn an_image_of_six_layers_becomes_one_of_one_layer() {
    let mut headless = gpu(record);
    let source = headless.add_image(image(1));
    let every_frame = plain(source.clone()).with_update(BlurUpdate::EveryFrame);
    images::spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), every_frame);
    finished(&mut headless, 15);
    let at_first = bind_groups(&headless);
    for layers in [6, 1, 1, 1, 1, 3, 1] {
        replace_image(&mut headless, &source, image(layers));
        finished(&mut headless, 10);
    }
    assert_eq!(bind_groups(&headless), at_first);
}
