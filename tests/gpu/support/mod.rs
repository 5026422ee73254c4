//! The code that the GPU tests share.

pub mod alpha;
pub mod browser;
pub mod bundled;
pub mod cases;
pub mod compiler;
pub mod compositor;
pub mod counters;
pub mod difference;
pub mod events;
pub mod executors;
pub mod faults;
pub mod formats;
pub mod functions;
pub mod headless;
pub mod held;
pub mod images;
pub mod inputs;
pub mod late_targets;
pub mod live;
pub mod logs;
pub mod outcomes;
pub mod pictures;
pub mod pool;
pub mod precision;
pub mod prelude;
pub mod process;
pub mod recording;
pub mod report;
pub mod scene;
pub mod twins;

pub use ::reference;
use bevy::render::settings::WgpuSettings;
use prelude::*;

/// The formats of cameras with a low dynamic range, and with a high one.
pub const LDR: TextureFormat = TextureFormat::Rgba8UnormSrgb;
pub const HDR: TextureFormat = TextureFormat::Rgba16Float;

/// All channels of a picture, and those of its colours.
pub const RGBA: [usize; 4] = [0, 1, 2, 3];
pub const RGB: [usize; 3] = [0, 1, 2];

/// By render passes alone, and by compute passes wherever possible.
pub const BACKENDS: [BlurBackend; 2] = [BlurBackend::Fragment, BlurBackend::Compute];

/// The plugin. Glass and filters compile when the first of them is spawned: most tests have neither.
pub fn plugin(backend: BlurBackend) -> GaussianBlurPlugin {
    GaussianBlurPlugin {
        backend,
        precompile_ui: false,
    }
}

/// An app with the blur.
pub fn gpu(setup: impl FnOnce(&mut App)) -> Headless {
    gpu_with(BlurBackend::Compute, setup)
}

/// Adds the plugin. Shaders for single kernels are not compiled, because most tests would have to wait for them. The module
/// `exactness` tests both kinds, the module `readiness` the change from one to the other.
pub fn add_blur(app: &mut App, backend: BlurBackend) {
    app.add_plugins(plugin(backend))
        .insert_resource(BlurCompilation { per_frame: 0 });
}

/// The same for one kind of pass.
pub fn gpu_with(backend: BlurBackend, setup: impl FnOnce(&mut App)) -> Headless {
    let with_blur = |app: &mut App| {
        add_blur(app, backend);
        setup(app);
    };
    Headless::new(with_blur)
}

/// The same for render passes, on a device without some of its features.
pub fn gpu_without(features: wgpu::Features, setup: impl FnOnce(&mut App)) -> Headless {
    let device = WgpuSettings {
        disabled_features: Some(features),
        ..default()
    };
    gpu_on(device, setup)
}

/// The same for render passes, on a device whose textures have at most `side` texels along each side.
pub fn gpu_with_side(side: u32, setup: impl FnOnce(&mut App)) -> Headless {
    let limits = headless::adapter_limits();
    let device = WgpuSettings {
        constrained_limits: Some(wgpu::Limits {
            max_texture_dimension_2d: side,
            ..limits
        }),
        ..default()
    };
    gpu_on(device, setup)
}

fn gpu_on(device: WgpuSettings, setup: impl FnOnce(&mut App)) -> Headless {
    let with_blur = |app: &mut App| {
        add_blur(app, BlurBackend::Fragment);
        setup(app);
    };
    Headless::on(device, with_blur)
}

/// Whether to test every combination, as `scripts/soak` does.
pub fn is_full() -> bool {
    std::env::var_os("BLUR_FULL").is_some()
}

/// Whether to test the case of this number with the choice of this index. Cases take so many choices in turn, unless everything is
/// asked for.
pub fn is_turn(case: usize, choice: usize, choices: usize) -> bool {
    is_full() || case % choices == choice
}

/// The kinds of passes of a test that is about neither of them: one, chosen by the test's name. What the shaders compute is compared
/// with the reference for both, by `exactness`, `formats`, `profiles::exactness` and `trees`. With `BLUR_FULL`, or on a thread without a
/// test's name, both.
pub fn one_backend() -> Vec<BlurBackend> {
    let thread = std::thread::current();
    let name = thread.name().filter(|name| name.contains("::") && !is_full());
    let letters = name.map(|name| name.bytes().map(usize::from).sum::<usize>());
    letters.map_or(BACKENDS.to_vec(), |letters| vec![BACKENDS[letters % BACKENDS.len()]])
}

/// A profile along a line.
pub fn linear([start, end]: [Vec2; 2], [from, to]: [f32; 2]) -> BlurProfile {
    BlurProfile::Linear { start, end, from, to }
}

/// Writes pictures and panics if `got` differs from `expected` by more than `tolerance` in one of `channels`.
/// Returns the worst difference.
pub fn assert_close(name: &str, got: &Picture, expected: &Picture, channels: &[usize], tolerance: f64) -> f64 {
    let left_out: Vec<usize> = (0..4).filter(|channel| !channels.contains(channel)).collect();
    let only = |picture: &Picture| {
        let mut picture = picture.clone();
        for texel in &mut picture.texels {
            left_out.iter().for_each(|channel| texel[*channel] = 0.0);
        }
        picture
    };
    let (got, expected) = (only(got), only(expected));
    let worst = difference::worst_difference(&got, &expected);
    if worst.value > tolerance {
        let folder = difference::write_failure(name, &got, &expected);
        panic!(
            "{name}: {worst:?} is {:.3}/255, more than {:.3}/255; see {}",
            worst.value * 255.0,
            tolerance * 255.0,
            folder.display()
        );
    }
    worst.value
}
