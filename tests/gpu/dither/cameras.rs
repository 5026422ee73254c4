//! Cameras with `DebandDither`, and glass on them.

use super::*;
use crate::profiles::sigmas;
use crate::support::reference::varying_blur;
use bevy::camera::CompositingSpace;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};

/// A setup of a camera.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub hdr: bool,
    pub output: TextureFormat,
    pub space: Option<CompositingSpace>,
    pub tonemapping: Tonemapping,
}

/// A camera that sees the gradient, and one that shows the blur of the other.
pub struct Stage {
    pub headless: Headless,
    pub setup: Setup,
    lights: Lights,
    sharp: View,
    pub seen: View,
}

impl Setup {
    pub fn new(hdr: bool, output: TextureFormat) -> Self {
        Self {
            hdr,
            output,
            space: None,
            tonemapping: Tonemapping::None,
        }
    }

    /// Low and high dynamic range, written to both kinds of eight bits.
    pub fn all() -> Vec<Self> {
        let ranges = [false, true].into_iter();
        let plain = ranges.flat_map(|hdr| [SRGB, UNORM].map(|output| Self::new(hdr, output)));
        let encoded = [false, true].map(|hdr| Self {
            space: Some(CompositingSpace::Srgb),
            ..Self::new(hdr, SRGB)
        });
        let tonemapped = [false, true].map(|hdr| Self {
            tonemapping: Tonemapping::Reinhard,
            ..Self::new(hdr, SRGB)
        });
        plain.chain(encoded).chain(tonemapped).collect()
    }

    pub fn name(self) -> String {
        let Self {
            hdr,
            output,
            space,
            tonemapping,
        } = self;
        format!(
            "{}-{output:?}-{space:?}-{tonemapping:?}",
            if hdr { "hdr" } else { "ldr" }
        )
    }
}

impl Stage {
    pub fn new(backend: BlurBackend, setup: Setup) -> Self {
        let mut headless = warm(backend);
        let lights = Lights::new(&mut headless);
        let source = to_image(&gradient(setup.output), HDR);
        let source = headless.add_image(source);
        let world = headless.app.world_mut();
        let quad = scene::image_quad(world, source);
        world.spawn(quad);
        // Floats must be read as floats.
        let exact = if setup.hdr { HDR } else { setup.output };
        let [sharp, seen] = [exact, setup.output].map(|format| View::new(&mut headless, Kind::Core2d, SIZE, format));
        for view in [&sharp, &seen] {
            view.insert(&mut headless, (DebandDither::Enabled, setup.tonemapping));
            headless.set(view.camera, Hdr, setup.hdr);
            if let Some(space) = setup.space {
                view.insert(&mut headless, space);
            }
        }
        Self {
            headless,
            setup,
            lights,
            sharp,
            seen,
        }
    }

    pub fn insert(&mut self, components: impl Bundle) {
        self.seen.insert(&mut self.headless, components);
    }

    /// Glass over the whole picture.
    pub fn add_glass(&mut self, glass: BackdropBlur) {
        let region = BackdropRegion::new(self.seen.camera, Rect::from_corners(Vec2::ZERO, SIZE.as_vec2()));
        self.headless.spawn((region, glass));
    }

    /// No blur, no glass, and dithering.
    fn reset(&mut self) {
        let world = self.headless.app.world_mut();
        let mut regions = world.query_filtered::<Entity, With<BackdropRegion>>();
        let regions: Vec<Entity> = regions.iter(world).collect();
        for region in regions {
            world.despawn(region);
        }
        world
            .entity_mut(self.seen.camera)
            .remove::<(GaussianBlur, BlurStage, BlurProfile)>();
        self.insert(DebandDither::Enabled);
    }

    /// The camera's picture when everything has settled.
    pub fn levels(&mut self) -> Picture {
        self.headless.warm_up();
        levels(&self.seen.pixels(&self.headless))
    }

    /// Whether the GPU decodes the camera's texture from sRGB.
    fn reads_srgb(&self) -> bool {
        let Setup { hdr, output, space, .. } = self.setup;
        !hdr && output == SRGB && space.is_none()
    }

    /// The camera's picture, as its blur reads it.
    fn read(&self) -> Picture {
        let mut picture = self.sharp.picture(&self.headless);
        if self.reads_srgb() {
            picture = self.lights.read(&picture, SRGB);
        }
        if self.encodes() {
            picture.texels.iter_mut().for_each(|texel| *texel = encoded(*texel));
        }
        picture
    }

    fn encodes(&self) -> bool {
        self.setup.space == Some(CompositingSpace::Srgb)
    }

    /// The output for blurred values.
    fn stored(&self, blurred: &Picture) -> Picture {
        to_levels(blurred, if self.encodes() { UNORM } else { self.setup.output })
    }

    /// The levels of the camera's picture after exact blurs with these edge modes, one after the other.
    pub fn expected(&self, edges: &[EdgeMode]) -> Picture {
        let blurred = edges
            .iter()
            .fold(self.read(), |picture, edge| gaussian_blur(&picture, SIGMA, *edge));
        self.stored(&blurred)
    }
}

fn encoded([red, green, blue, alpha]: [f64; 4]) -> [f64; 4] {
    let [red, green, blue] = [red, green, blue].map(encode_srgb);
    [red, green, blue, alpha]
}

/// One check, and the name of its setup.
type Check = fn(&mut Stage, &str);

const CHECKS: [Check; 6] = [
    a_dark_gradient_has_no_bands,
    what_varies_has_no_bands,
    glass_has_no_bands,
    levels_stay_levels,
    noise_does_not_add_up,
    the_noise_stands_still,
];

fn check_all(hdr: bool) {
    let setups = Setup::all().into_iter().filter(|setup| setup.hdr == hdr).enumerate();
    // The kinds of passes take turns.
    let of_setup = |(index, setup)| {
        let backends = BACKENDS.into_iter().enumerate();
        let chosen = backends.filter(move |(turn, _)| is_turn(index, *turn, BACKENDS.len()));
        chosen.map(move |(_, backend)| (index, setup, backend))
    };
    for (index, setup, backend) in setups.flat_map(of_setup) {
        let mut stage = Stage::new(backend, setup);
        // Setups of one kind of passes take turns, too.
        let checks = CHECKS.into_iter().enumerate();
        for (_, check) in checks.filter(|(number, _)| is_turn(index / BACKENDS.len() + number, 0, 2)) {
            check(&mut stage, &format!("{}-{backend:?}", setup.name()));
            stage.reset();
        }
    }
}

#[test]
fn cameras_of_a_low_dynamic_range() {
    check_all(false);
}

#[test]
fn cameras_of_a_high_dynamic_range() {
    check_all(true);
}

fn a_dark_gradient_has_no_bands(stage: &mut Stage, name: &str) {
    for blur_stage in [BlurStage::AfterTonemapping, BlurStage::AfterUi] {
        stage.insert((GaussianBlur::new(RADIUS), blur_stage));
        let got = stage.levels();
        assert_dithered(name, &got, &stage.expected(&[EdgeMode::Clamp]));
    }
    let expected = stage.expected(&[EdgeMode::Clamp]);
    stage.insert(DebandDither::Disabled);
    assert_banded(name, &stage.levels(), &expected);
}

/// The gradient runs along x, so one reference row is enough: the mean of all rows, which may contain Bevy's own noise.
fn what_varies_has_no_bands(stage: &mut Stage, name: &str) {
    let profile = linear([Vec2::ZERO, Vec2::X], [1.0, 0.3]);
    stage.insert((GaussianBlur::new(RADIUS), profile.clone()));
    let got = stage.levels();
    let read = stage.read();
    let row = Picture::from_fn(read.width, 1, |x, _| {
        let column = (0..read.height).map(|y| read.at(x, y));
        let sum = column.fold([0.0; 4], |sum, texel| {
            [0, 1, 2, 3].map(|channel| sum[channel] + texel[channel])
        });
        sum.map(|channel| channel / read.height as f64)
    });
    let sigmas = sigmas(&profile, [row.width, 1], SIGMA[0]);
    let blurred = varying_blur(&row, EdgeMode::Clamp, |x, _| [sigmas[x]; 2]);
    let blurred = Picture::from_fn(read.width, read.height, |x, _| blurred.at(x, 0));
    // Interpolation between sigma levels is slightly off, and Bevy's noise is not the same in all rows.
    assert_dithered_within(1.1, &format!("varying-{name}"), &got, &stage.stored(&blurred));
}

fn glass_has_no_bands(stage: &mut Stage, name: &str) {
    stage.add_glass(BackdropBlur::new(RADIUS));
    let got = stage.levels();
    let expected = stage.expected(&[EdgeMode::Mirror]);
    assert_dithered(&format!("glass-{name}"), &got, &expected);
    stage.insert(DebandDither::Disabled);
    assert_banded(&format!("glass-{name}"), &stage.levels(), &expected);
}

/// Under glass that hardly blurs, stored levels do not change, unless the GPU decodes them to other values.
fn levels_stay_levels(stage: &mut Stage, name: &str) {
    stage.insert(GaussianBlur::new(RADIUS));
    let once = stage.levels();
    stage.add_glass(BackdropBlur::from_sigma(0.1));
    let twice = stage.levels();
    if !stage.reads_srgb() || stage.lights.error() < 0.005 {
        let pairs = once.texels.iter().zip(&twice.texels);
        let changed = pairs.filter(|(once, twice)| once != twice).count();
        assert_eq!(changed, 0, "{name}: texels have changed under clear glass");
    }
}

/// The noise below the glass is blurred with everything else.
fn noise_does_not_add_up(stage: &mut Stage, name: &str) {
    stage.insert(GaussianBlur::new(RADIUS));
    let once = stage.levels();
    stage.add_glass(BackdropBlur::new(RADIUS));
    let got = stage.levels();
    // Without HDR, the glass reads dithered levels, which are known.
    let expected = if stage.setup.hdr {
        stage.expected(&[EdgeMode::Clamp, EdgeMode::Mirror])
    } else {
        let format = if stage.reads_srgb() { SRGB } else { UNORM };
        let below = stage.lights.read(&from_levels(&once, format), format);
        to_levels(&gaussian_blur(&below, SIGMA, EdgeMode::Mirror), format)
    };
    assert_dithered(&format!("twice-{name}"), &got, &expected);
}

fn from_levels(levels: &Picture, format: TextureFormat) -> Picture {
    Picture::from_fn(levels.width, levels.height, |x, y| {
        let texel = levels.at(x, y).map(|level| level / 255.0);
        if format == SRGB {
            let [red, green, blue, alpha] = texel;
            let [red, green, blue] = [red, green, blue].map(decode_srgb);
            [red, green, blue, alpha]
        } else {
            texel
        }
    })
}

fn the_noise_stands_still(stage: &mut Stage, name: &str) {
    stage.insert(GaussianBlur::new(RADIUS));
    let first = stage.levels();
    for _ in 0..3 {
        stage.headless.frame();
        assert!(
            levels(&stage.seen.pixels(&stage.headless)) == first,
            "{name}: the noise moves"
        );
    }
}

/// The noise depends on the texels of the target, like Bevy's, and not on those of a viewport. Bright values are
/// dithered like dark ones.
#[test]
fn a_whole_scene() {
    for (kind, hdr) in [(Kind::Core2d, false), (Kind::Core3d, false), (Kind::Core3d, true)] {
        let mut headless = warm_with(BlurBackend::Compute, scene::plugins(kind));
        let lights = Lights::new(&mut headless);
        scene::spawn(&mut headless, kind, 1.0);
        let exact = if hdr { HDR } else { SRGB };
        let [sharp, seen] = [exact, SRGB].map(|format| View::new(&mut headless, kind, scene::SIZE, format));
        let viewport = viewport(UVec2::new(13, 7), UVec2::new(160, 96));
        for view in [&sharp, &seen] {
            headless.get_mut::<Camera>(view.camera).viewport = Some(viewport.clone());
            // 3D materials dither with or without tonemapping, so the sharp camera dithers, too: it shows the blur's
            // source.
            view.insert(&mut headless, DebandDither::Enabled);
            headless.set(view.camera, Hdr, hdr);
        }
        let blur = GaussianBlur::from_sigma(20.0);
        seen.insert(&mut headless, blur);
        headless.warm_up();
        let crop = |picture: &Picture| picture.crop([13, 7], [160, 96]);
        let mut read = sharp.picture(&headless);
        if !hdr {
            read = lights.read(&read, SRGB);
        }
        let exact = gaussian_blur(&crop(&read), [20.0; 2], EdgeMode::Clamp);
        // The part of the target that is blurred, at its position.
        let whole = |part: &Picture| {
            Picture::from_fn(203, 117, |x, y| {
                let is_inside = (13..173).contains(&x) && (7..103).contains(&y);
                if is_inside { part.at(x - 13, y - 7) } else { [0.0; 4] }
            })
        };
        let expected = whole(&to_levels(&exact, SRGB));
        let got = whole(&crop(&levels(&seen.pixels(&headless))));
        let errors = super::Errors::new(&got, &expected);
        let share = super::share_of_bevys(&got, &expected);
        println!("{kind:?}-{hdr}: {errors:.3?}, {:.1} % as Bevy has it", 100.0 * share);
        // If nothing is bright, the error of the blur itself may be larger, in levels.
        assert!(errors.texel <= 1.1 && errors.block <= 0.1, "{kind:?}-{hdr}: {errors:?}");
        assert!(share > 0.95, "{kind:?}-{hdr}: {share}");
    }
}
