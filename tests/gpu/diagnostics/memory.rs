//! The GPU memory of blurs: the plugin's own figure and the counters of wgpu.

use super::{SIZE, SOON, STRONG, WEAK, app, blur, camera, unblur, value};
use crate::support::headless::Headless;
use bevy::diagnostic::DiagnosticsStore;
use bevy::render::renderer::RenderDevice;
use bevy_gaussian_blur::diagnostics::TEXTURE_BYTES;

/// A half float for each of four channels.
const TEXEL: u32 = 8;

#[test]
fn the_bytes_are_those_of_the_intermediates() {
    let Some(mut headless) = app() else {
        return;
    };
    let [one, other] = ["One", "Other"].map(|name| camera(&mut headless, name));
    headless.warm_up();
    let bytes = |headless: &mut Headless| {
        (0..4).for_each(|_| headless.frame());
        value(headless.app.world(), &TEXTURE_BYTES).expect("the bytes are always known")
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
    blur(&mut headless, other, STRONG);
    assert_eq!(bytes(&mut headless), exact + octave);
    unblur(&mut headless, one);
    assert_eq!(bytes(&mut headless), octave);
    blur(&mut headless, other, 0.0);
    assert_eq!(bytes(&mut headless), 0.0);
    blur(&mut headless, other, WEAK);
    assert_eq!(bytes(&mut headless), exact);
    headless.app.world_mut().despawn(other);
    assert_eq!(bytes(&mut headless), 0.0);
}

#[test]
fn what_a_blur_held_is_released() {
    let Some(mut headless) = app() else {
        return;
    };
    let camera = camera(&mut headless, "Main");
    headless.warm_up();
    headless.warm_up();
    let before = held(&headless);
    for sigma in [WEAK, STRONG, 40.0] {
        blur(&mut headless, camera, sigma);
        headless.warm_up();
        headless.warm_up();
        let busy = held(&headless);
        (0..20).for_each(|_| headless.frame());
        assert_eq!(held(&headless), busy, "nothing piles up");
        assert!(
            busy.texture_bytes > before.texture_bytes && busy.bind_groups > before.bind_groups,
            "{before:?}, {busy:?}"
        );
        assert!(busy.buffers > before.buffers, "{before:?}, {busy:?}");
        unblur(&mut headless, camera);
        (0..SOON).for_each(|_| headless.frame());
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
