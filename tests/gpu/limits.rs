//! At the limits of a device: the longest textures, and no memory left.

use crate::support::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDescriptor, TextureDimension};
use bevy::tasks::block_on;
use std::sync::mpsc;
use std::thread;
use wgpu::ErrorFilter;

#[test]
fn the_longest_textures() {
    for backend in BACKENDS {
        let mut headless = gpu_with(backend, outcomes::record);
        let limits = headless.render_world().resource::<RenderDevice>().limits();
        let side = limits.max_texture_dimension_2d as usize;
        for ([width, height], sigma) in [([side, 3], 2.0), ([3, side], 30.0), ([side, 1], 30.0), ([1, side], 2.0)] {
            let picture = line(width, height);
            let image = headless.add_image(to_image(&picture, TextureFormat::Rgba16Float));
            let blurred = headless.blur(GaussianBlur::from_sigma(sigma), plain(image));
            let target = blurred.unwrap_or_else(|error| panic!("{backend:?}, {width}x{height}: {error}"));
            let name = format!("longest-{backend:?}-{width}x{height}");
            assert_blur(&name, &headless, &target, &picture, sigma);
        }
        report::row("longest texture blurred", &format!("{side} texels, {backend:?}"));
    }
}

/// Noise, in steps of up to seven texels.
fn line(width: usize, height: usize) -> Picture {
    let noise = inputs::binary_noise(64, 64);
    Picture::from_fn(width, height, |x, y| {
        let place = (x + y) / 7;
        core::array::from_fn(|channel| noise.values[(place * 31 + channel * 977) % noise.values.len()])
    })
}

/// A size at which a texture of 16 bytes per texel is too large for the device, and one of 4 bytes is not.
fn too_much(headless: &Headless) -> Option<UVec2> {
    let device = headless.render_world().resource::<RenderDevice>();
    let side = device.limits().max_texture_dimension_2d;
    let fits = |size: UVec2, format| {
        let scope = device.wgpu_device().push_error_scope(ErrorFilter::OutOfMemory);
        let texture = device.create_texture(&TextureDescriptor {
            label: Some("how much is too much"),
            size: extent(size),
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format,
            usage: TextureUsages::TEXTURE_BINDING | TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        drop(texture);
        block_on(scope.pop()).is_none()
    };
    let sizes = [2, 1].map(|part| UVec2::new(side, side / part + if part == 2 { 8 } else { 0 }));
    let is_right = |size: &UVec2| fits(*size, TextureFormat::R32Float) && !fits(*size, TextureFormat::Rgba32Float);
    sizes.into_iter().find(is_right)
}

fn extent(size: UVec2) -> Extent3d {
    Extent3d {
        width: size.x,
        height: size.y,
        depth_or_array_layers: 1,
    }
}

/// An image with one channel and no contents, which takes no memory until it is written.
fn empty(size: UVec2) -> Image {
    let mut image = Image::new_uninit(
        extent(size),
        TextureDimension::D2,
        TextureFormat::R32Float,
        RenderAssetUsages::default(),
    );
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
    image
}

#[test]
fn a_blur_for_which_there_is_no_memory_resumes() {
    // Any error of the GPU that the blur does not catch ends the test.
    let mut headless = gpu(outcomes::record);
    let Some(size) = too_much(&headless) else {
        eprintln!("NOT TESTED: this device has memory for the largest textures");
        return;
    };
    let source = headless.add_image(empty(size));
    let target = headless.add_image(empty(size));
    let blur = GaussianBlur::from_sigma(1.0);
    let entity = spawn(&mut headless, blur, plain(source.clone()).with_target(target.clone()));
    let outcome = frames(&mut headless, 20);
    let [(failed, Err(BlurError::OutOfMemory { size: wanted, .. }))] = &outcome[..] else {
        panic!("said once, and nothing else: {outcome:?}");
    };
    assert_eq!((*failed, *wanted), (entity, size));
    let sharp = inputs::patterns(60, 45)[0].clone();
    for image in [&source, &target] {
        replace_image(&mut headless, image, to_image(&sharp, TextureFormat::R32Float));
    }
    let outcome = frames(&mut headless, 20);
    assert!(outcome.iter().all(|(_, outcome)| outcome.is_ok()), "{outcome:?}");
    assert_eq!(target_of(&headless, entity), target);
    assert_blur("resumed", &headless, &target, &sharp, 1.0);
    report::row(
        "out of memory",
        &format!("{size} texels: one error event, resumed when there was room"),
    );
}

/// The blur catches the errors of its own textures, while Bevy compiles shaders on other threads and catches their
/// errors. This needs wgpu's feature `std`; without it all threads share one stack of scopes.
#[test]
fn errors_are_caught_thread_by_thread() {
    let headless = gpu_with(BlurBackend::Compute, |_| {});
    let device = headless.render_world().resource::<RenderDevice>().wgpu_device();
    let (begun, has_begun) = mpsc::channel();
    let (ended, has_ended) = mpsc::channel::<()>();
    thread::scope(move |threads| {
        let ours = device.push_error_scope(ErrorFilter::OutOfMemory);
        threads.spawn(move || {
            let theirs = device.push_error_scope(ErrorFilter::Validation);
            begun.send(()).expect("the test waits");
            // Nothing is ever sent: dropping the sender ends the wait, even if the test panics.
            let _ = has_ended.recv();
            drop(theirs);
        });
        has_begun.recv().expect("the other thread begins");
        assert!(block_on(ours.pop()).is_none());
        drop(ended);
    });
}
