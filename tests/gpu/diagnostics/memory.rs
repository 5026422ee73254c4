//! The GPU memory of blurs: the plugin's own figure and the counters of wgpu.

use super::*;
use crate::support::counters::intermediates;
use crate::support::images;
use bevy::diagnostic::DiagnosticsStore;
use bevy::window::{WindowRef, WindowResolution};

/// A half float for each of four channels.
const TEXEL: u32 = 8;

#[test]
fn the_bytes_are_those_of_the_intermediates() {
    let mut headless = app();
    let [one, other] = ["One", "Other"].map(|name| camera(&mut headless, name));
    headless.warm_up();
    let bytes = |headless: &mut Headless| {
        headless.frames(4);
        intermediates(headless)
    };
    assert_eq!(bytes(&mut headless), 0.0, "there is no blur");
    let named = headless.app.world().resource::<DiagnosticsStore>().iter();
    let blurs = named.filter(|figure| figure.path().as_str().starts_with("render/gaussian_blur"));
    assert_eq!(blurs.count(), 0, "there is no blur");

    // Without an octave there is one texture between the two passes.
    let exact = f64::from(SIZE.element_product() * TEXEL);
    blur(&mut headless, one, WEAK);
    assert_eq!(bytes(&mut headless), exact);
    // One octave: two textures of half the size with three more texels on every side.
    let half = (SIZE / 2 + 6).element_product() * TEXEL;
    let octave = f64::from(2 * half);
    unblur(&mut headless, one);
    headless.frames(SOON);
    blur(&mut headless, other, STRONG);
    assert_eq!(bytes(&mut headless), octave);
    // Textures of other sizes have room to grow.
    blur(&mut headless, one, WEAK);
    let both = bytes(&mut headless);
    assert!((octave + exact..octave + 1.4 * exact).contains(&both), "{both}");
    unblur(&mut headless, one);
    assert_eq!(bytes(&mut headless), octave);
    blur(&mut headless, other, 0.0);
    assert_eq!(bytes(&mut headless), 0.0);
    headless.frames(SOON);
    blur(&mut headless, other, WEAK);
    assert_eq!(bytes(&mut headless), exact);
    headless.despawn(other);
    assert_eq!(bytes(&mut headless), 0.0);
}

#[test]
fn what_a_blur_held_is_released() {
    let mut headless = app();
    let camera = camera(&mut headless, "Main");
    headless.warm_up();
    headless.warm_up();
    let before = held(&headless);
    for sigma in [WEAK, STRONG, 40.0] {
        blur(&mut headless, camera, sigma);
        headless.warm_up();
        headless.warm_up();
        let busy = held(&headless);
        headless.frames(20);
        assert_eq!(held(&headless), busy, "nothing piles up");
        assert!(
            busy.texture_bytes > before.texture_bytes && busy.bind_groups > before.bind_groups,
            "{before:?}, {busy:?}"
        );
        assert!(busy.buffers > before.buffers, "{before:?}, {busy:?}");
        unblur(&mut headless, camera);
        headless.frames(SOON);
        let after = held(&headless);
        println!("σ {sigma}: {before:?}, then {busy:?}, then {after:?}");
        assert_eq!(after, before, "σ {sigma}: the component has gone");
    }
}

/// The memory that the GPU's driver has allocated.
#[derive(Debug, PartialEq)]
struct Held {
    texture_bytes: isize,
    bind_groups: isize,
    buffers: isize,
}

fn held(headless: &Headless) -> Held {
    let counters = headless
        .render_world()
        .resource::<RenderDevice>()
        .wgpu_device()
        .get_internal_counters();
    Held {
        texture_bytes: counters.hal.texture_memory.read(),
        bind_groups: counters.hal.bind_groups.read(),
        buffers: counters.hal.buffers.read(),
    }
}

#[test]
fn photos_of_many_sizes_share_textures() {
    let mut headless = app();
    headless.warm_up();
    let mut alone = 0;
    for index in 0..30_u32 {
        let size = UVec2::new(100 + 5 * index, 90 + 4 * index);
        alone += u64::from(size.element_product() * TEXEL);
        let [picture, _] = inputs::patterns(size.x as usize, size.y as usize);
        let source = headless.add_image(to_image(&picture, HDR));
        let image = images::plain(source).with_update(BlurUpdate::EveryFrame);
        images::spawn(&mut headless, GaussianBlur::from_sigma(WEAK), image);
    }
    (0..2 * SOON).for_each(|_| headless.frame());
    let bytes = intermediates(&headless);
    println!("30 sizes: {bytes} bytes instead of {alone}");
    assert!(bytes > 0.0 && bytes < 0.5 * alone as f64, "{bytes} bytes of {alone}");
}

#[test]
fn slow_videos_allocate_nothing() {
    let mut headless = app();
    let mut videos = Vec::new();
    for size in [UVec2::new(120, 70), SIZE] {
        let [picture, _] = inputs::patterns(size.x as usize, size.y as usize);
        let image = to_image(&picture, HDR);
        let source = headless.add_image(image.clone());
        images::spawn(
            &mut headless,
            GaussianBlur::from_sigma(WEAK),
            images::plain(source.clone()),
        );
        videos.push((source, image));
    }
    headless.warm_up();
    let textures = held(&headless).texture_bytes;
    for frame in 0..20 {
        // A new picture in every fourth frame.
        if frame % 4 == 0 {
            for (source, image) in &videos {
                images::replace_image(&mut headless, source, image.clone());
            }
        }
        headless.frame();
        assert_eq!(
            held(&headless).texture_bytes,
            textures,
            "frame {frame}: the textures are kept"
        );
    }
}

/// Shows a frame of a camera in a viewport of this size. Returns the bytes of all textures.
fn show(headless: &mut Headless, camera: Entity, size: UVec2) -> isize {
    let mut camera = headless.get_mut::<Camera>(camera);
    camera.viewport = Some(viewport(UVec2::ZERO, size));
    headless.frame();
    held(headless).texture_bytes
}

#[test]
fn an_animated_viewport_allocates_nothing() {
    let mut headless = app();
    let camera = camera(&mut headless, "Animated");
    blur(&mut headless, camera, WEAK);
    let show = |headless: &mut Headless, size: UVec2| show(headless, camera, size);
    show(&mut headless, SIZE);
    headless.warm_up();
    headless.warm_up();
    let bytes = show(&mut headless, SIZE);
    for frame in 0..20 {
        let size = SIZE - UVec2::new(frame * 7 % 21, frame * 3 % 11);
        assert_eq!(show(&mut headless, size), bytes, "frame {frame}: {size}");
    }
}

/// The border of a window that is dragged, or a viewport that is eased: a size in every frame. Textures of past sizes must not pile
/// up until they have been idle for a second.
#[test]
fn a_size_that_changes_in_every_frame_holds_a_few_sets() {
    for (backend, profile) in one_backend()
        .into_iter()
        .flat_map(|backend| [BlurProfile::Uniform, band()].map(|profile| (backend, profile)))
    {
        let mut headless = with_scene(gpu_with(backend, measure));
        let camera = camera(&mut headless, "Resized");
        headless.warm_up();
        let before = show(&mut headless, camera, SIZE);
        let blur = (GaussianBlur::from_sigma(20.0), profile.clone());
        headless.insert(camera, blur);
        headless.warm_up();
        let mut show = |size: UVec2| show(&mut headless, camera, size) - before;
        let set = show(SIZE);
        let smaller = (0..60).map(|step| SIZE - UVec2::new(80, 45) * step / 60);
        let most = smaller.clone().chain(smaller.rev()).map(&mut show).max();
        let most = most.unwrap_or(0) as f64 / set as f64;
        println!("{backend:?}, {profile:?}: {most:.1} sets at most");
        assert!(
            set > 0 && most <= 3.5,
            "{backend:?}, {profile:?}: {most} sets of {set} bytes"
        );
    }
}

fn band() -> BlurProfile {
    BlurProfile::Band {
        center: Vec2::splat(0.5),
        direction: Vec2::X,
        sharp: 0.1,
        soft: 0.3,
    }
}

#[test]
fn a_camera_without_a_texture_holds_none() {
    let mut headless = app();
    let camera = camera(&mut headless, "Minimised");
    blur(&mut headless, camera, STRONG);
    headless.warm_up();
    let busy = held(&headless);
    // The image that it renders to stays.
    let _image = headless.app.world().get::<RenderTarget>(camera).cloned();
    let minimised = Window {
        resolution: WindowResolution::new(0, 0),
        ..Default::default()
    };
    let world = headless.app.world_mut();
    let window = world.spawn(minimised).id();
    let target = RenderTarget::Window(WindowRef::Entity(window));
    world.entity_mut(camera).insert(target);
    world.get_mut::<Projection>(camera).expect("a camera").set_changed();
    (0..2 * SOON).for_each(|_| headless.frame());
    let octave = (SIZE / 2 + 6).element_product() * TEXEL * 2;
    let idle = held(&headless);
    assert!(
        busy.texture_bytes - idle.texture_bytes >= octave as isize,
        "{busy:?}, then {idle:?}"
    );
    headless.despawn(camera);
}
