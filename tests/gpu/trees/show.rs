//! The app that shows trees, one on each of its cameras.

use super::spawn::{morph, spawn};
use super::*;
use crate::filters::group::measured;
use crate::support::difference::Difference;
use crate::support::headless::Reading;
use crate::support::held::{escapes, hold_back};
use crate::support::precision::error_of_blending;
use crate::support::reference::{Storage, tree};
use bevy::render::render_resource::PipelineDescriptor;

/// The sizes of viewports.
pub const SIZES: [[usize; 2]; 4] = [[96, 60], [60, 60], [96, 48], [72, 56]];

/// From this one on, they lie side by side in one target.
pub const SHARED: usize = 2;

/// The number of cameras: several of every size, because a frame with twice the cameras takes less than two frames.
pub const CAMERAS: usize = 2 * SIZES.len();

/// The app.
pub struct Screen {
    cameras: Vec<Viewer>,
    targets: Vec<Handle<Image>>,
    roots: Vec<Entity>,
    format: TextureFormat,
    is_off: bool,
    headless: Headless,
}

/// A camera, with its part of a target.
struct Viewer {
    camera: Entity,
    target: usize,
    origin: [usize; 2],
    size: [usize; 2],
}

/// The pictures of all cameras in a frame.
pub struct Shot {
    /// Of every target.
    readings: Vec<Reading>,
    /// Whether blurs were off.
    pub is_off: bool,
}

/// How pictures compare with the compositor's.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The worst difference of all trees, as a share of the brightest value of its tree.
    pub worst: f64,
    /// The trees that differ too much, with the worst difference and the pictures: those of the GPU and of the compositor.
    pub wrong: Vec<(usize, Difference, [Picture; 2])>,
    pub panes: usize,
    pub filters: usize,
    /// What the cameras show.
    pub shown: Vec<Picture>,
}

impl Verdict {
    pub fn is_wrong(&self) -> bool {
        !self.wrong.is_empty()
    }

    pub fn add(&mut self, other: &Self) {
        self.worst = self.worst.max(other.worst);
        self.panes += other.panes;
        self.filters += other.filters;
    }
}

impl Screen {
    pub fn new(backend: BlurBackend, format: TextureFormat) -> Self {
        let targets = [&SIZES[..1], &SIZES[1..SHARED], &SIZES[SHARED..]];
        Self::of_targets(backend, format, &targets.repeat(CAMERAS / SIZES.len()))
    }

    /// One with four cameras of one size, each of which has its target.
    pub fn of_one_size(backend: BlurBackend, format: TextureFormat) -> Self {
        Self::of_targets(backend, format, &[&SIZES[..1]; 4])
    }

    fn of_targets(backend: BlurBackend, format: TextureFormat, targets: &[&[[usize; 2]]]) -> Self {
        let mut screen = Self {
            cameras: Vec::new(),
            targets: Vec::new(),
            roots: Vec::new(),
            format,
            is_off: false,
            headless: warm(backend),
        };
        stamps::take(&mut screen.headless);
        targets.iter().for_each(|sizes| screen.add_target(sizes));
        screen
    }

    /// Adds a target, and cameras whose viewports lie side by side in it.
    fn add_target(&mut self, sizes: &[[usize; 2]]) {
        let headless = &mut self.headless;
        let width: usize = sizes.iter().map(|size| size[0]).sum();
        let height = if sizes.len() == 1 { sizes[0][1] } else { 60 };
        let first = View::new(
            headless,
            Kind::Core2d,
            UVec2::new(width as u32, height as u32),
            self.format,
        );
        let mut origin = [0; 2];
        for (index, size) in sizes.iter().enumerate() {
            let camera = match index {
                0 => first.camera,
                _ => scene::camera(headless, Kind::Core2d, &first.target, Msaa::Off),
            };
            headless.set(camera, Hdr, self.format == HDR);
            let mut settings = headless.get_mut::<Camera>(camera);
            settings.order = self.cameras.len() as isize;
            if sizes.len() > 1 {
                let [position, size] = [origin, *size].map(|pair| UVec2::from_array(pair.map(|side| side as u32)));
                settings.viewport = Some(viewport(position, size));
            }
            self.cameras.push(Viewer {
                camera,
                target: self.targets.len(),
                origin,
                size: *size,
            });
            origin = [origin[0] + size[0], 3];
        }
        self.targets.push(first.target.clone());
    }

    pub fn is_hdr(&self) -> bool {
        self.format == HDR
    }

    /// Turns blurs on or off.
    pub fn set_switch(&mut self, switch: BlurSwitch) {
        self.is_off = switch == BlurSwitch::Off;
        self.headless.app.insert_resource(switch);
    }

    /// Changes the trees shown before into these, node by node, and renders one frame.
    pub fn morph(&mut self, trees: &[Tree]) {
        if self.roots.is_empty() {
            self.replace(trees);
        }
        let world = self.headless.app.world_mut();
        for ((tree, viewer), root) in trees.iter().zip(&self.cameras).zip(&self.roots) {
            clear(world, tree, viewer.camera);
            morph(world, &tree.nodes, *root);
        }
        self.headless.app.update();
    }

    /// Freezes some of the glass that is shown: every third pane in the order of the trees. Entities have other numbers in an app that
    /// other tests have used.
    pub fn freeze(&mut self, coin: u64) {
        let world = self.headless.app.world_mut();
        let mut children = world.query::<&Children>();
        let children = children.query(world);
        let nodes = self
            .roots
            .iter()
            .flat_map(|root| children.iter_descendants_depth_first(*root));
        let glass = nodes.filter(|node| world.entity(*node).contains::<BackdropBlur>());
        let frozen: Vec<Entity> = glass.skip((coin % 3) as usize).step_by(3).collect();
        for entity in frozen {
            world.entity_mut(entity).insert(FreezeBlur);
        }
    }

    /// Nothing is frozen any more.
    pub fn thaw(&mut self) {
        let world = self.headless.app.world_mut();
        let frozen = world.query_filtered::<Entity, With<FreezeBlur>>();
        let frozen: Vec<Entity> = { frozen }.iter(world).collect();
        for entity in frozen {
            world.entity_mut(entity).remove::<FreezeBlur>();
        }
    }

    /// Holds pipelines back, and compiles all others.
    pub fn hold(&mut self, is_held: impl Fn(&PipelineDescriptor) -> bool) {
        hold_back(&mut self.headless, is_held);
    }

    /// Morphs trees as [`Self::morph`] does, without these pipelines: those that it asks for itself are held back, too.
    pub fn morph_without(&mut self, trees: &[Tree], is_held: impl Fn(&PipelineDescriptor) -> bool) {
        self.morph(trees);
        while escapes(&self.headless, &is_held) {
            self.hold(&is_held);
            self.morph(trees);
        }
    }

    /// Shows trees in place of those before, and renders one frame.
    pub fn show_anew(&mut self, trees: &[Tree]) {
        self.replace(trees);
        self.headless.app.update();
    }

    /// Renders frames until nothing is left to compile.
    pub fn settle(&mut self) {
        self.headless.warm_up();
    }

    /// The pictures of the last frame.
    pub fn pictures(&self) -> Vec<Picture> {
        self.pictures_of(self.shot())
    }

    /// The picture of every camera.
    fn pictures_of(&self, shot: Shot) -> Vec<Picture> {
        let device = self.headless.render_world().resource::<RenderDevice>();
        let readings = shot.readings.into_iter();
        let targets: Vec<Picture> = readings.map(|reading| to_picture(&reading.finish(device))).collect();
        let cameras = self.cameras.iter();
        cameras
            .map(|viewer| targets[viewer.target].crop(viewer.origin, viewer.size))
            .collect()
    }

    /// Shows trees in place of those shown before, one on each camera, and renders one frame.
    pub fn show(&mut self, trees: &[Tree]) -> Shot {
        self.show_anew(trees);
        self.shot()
    }

    /// The same after everything has settled.
    pub fn show_settled(&mut self, trees: &[Tree]) -> Shot {
        self.replace(trees);
        self.headless.warm_up();
        self.shot()
    }

    /// The pictures of the last frame, on their way.
    pub fn shot(&self) -> Shot {
        let targets = self.targets.iter();
        Shot {
            readings: targets
                .map(|target| Reading::of_image(&self.headless, target))
                .collect(),
            is_off: self.is_off,
        }
    }

    fn replace(&mut self, trees: &[Tree]) {
        let world = self.headless.app.world_mut();
        for root in self.roots.drain(..) {
            world.despawn(root);
        }
        for (tree, viewer) in trees.iter().zip(&self.cameras) {
            clear(world, tree, viewer.camera);
            self.roots.push(spawn(world, tree, viewer.camera));
        }
    }

    /// Compiles what trees need: shows some until nothing is left to compile.
    pub fn warm_up(&mut self) {
        for first in [0, 32] {
            let tree = |place: usize| super::generate::generate(first + place as u64, place, self.format == HDR, &[]);
            let trees: Vec<Tree> = (0..self.cameras.len()).map(tree).collect();
            self.replace(&trees);
            self.headless.warm_up();
        }
        let mut trees = super::empty();
        trees[0].nodes.push(super::generate::with_all_shadows());
        self.replace(&trees);
        self.headless.warm_up();
    }

    /// Compares the pictures of trees with the compositor's.
    pub fn judge(&self, shot: Shot, trees: &[Tree]) -> Verdict {
        let expected = expected(trees, self.format, shot.is_off);
        self.judge_by(shot, trees, &expected)
    }

    /// The same with pictures of the compositor.
    pub fn judge_by(&self, shot: Shot, trees: &[Tree], expected: &[Picture]) -> Verdict {
        let is_off = shot.is_off;
        let mut verdict = Verdict {
            shown: self.pictures_of(shot),
            ..Verdict::default()
        };
        for (index, (got, tree)) in verdict.shown.iter().zip(trees).enumerate() {
            let (tree, expected) = (&shown(tree, is_off), &expected[index]);
            let difference = self.difference(got, expected, tree);
            let peak = peak(expected);
            verdict.worst = verdict.worst.max(difference.value / peak);
            verdict.panes += super::features::count(&tree.nodes, &|node: &Node| node.glass.is_some());
            verdict.filters += super::features::count(&tree.nodes, &|node: &Node| node.filter.is_some());
            if difference.value > peak * tolerance(tree) {
                verdict.wrong.push((index, difference, [got.clone(), expected.clone()]));
            }
        }
        verdict
    }

    /// How much a picture differs from the compositor's of a tree, beyond what rounding moves.
    fn difference(&self, got: &Picture, expected: &Picture, tree: &Tree) -> Difference {
        let difference = compare(got, expected, self.format);
        if difference.value > peak(expected) * tolerance(tree) {
            return compare(got, &self.nearest(got, expected, tree), self.format);
        }
        difference
    }

    /// Whether a picture shows a tree.
    pub fn shows(&self, got: &Picture, tree: &Tree) -> bool {
        let expected = tree.picture(storage(self.format));
        self.difference(got, &expected, tree).value <= peak(&expected) * tolerance(tree)
    }

    /// What is nearest to a picture, as far as rounding moves the compositor's own: eight bits after every draw, or with half floats the
    /// coverage of boxes. A draw adds up to half a level, and where many lie over each other, alpha is inverted, or a line widens what is
    /// nearly transparent by ten times its alpha, that may be many levels in some pixels, and none in others.
    fn nearest(&self, got: &Picture, expected: &Picture, tree: &Tree) -> Picture {
        let off = error_of_blending();
        let others = if self.is_hdr() {
            vec![Storage::ThinHalf]
        } else {
            let all_alike = [-off, 0.0, off].map(Storage::Off);
            let each_apart = (0..16).map(|seed| Storage::Scattered(off, seed));
            all_alike.into_iter().chain(each_apart).collect()
        };
        let others: Vec<Picture> = others.into_iter().map(|storage| tree.picture(storage)).collect();
        Picture::from_fn(got.width, got.height, |x, y| {
            let (got, expected) = (got.at(x, y), expected.at(x, y));
            core::array::from_fn(|channel| {
                let moved = others
                    .iter()
                    .map(|other| (other.at(x, y)[channel] - expected[channel]).abs());
                let most = moved.fold(0.0, f64::max);
                got[channel].clamp(expected[channel] - most, expected[channel] + most)
            })
        })
    }
}

/// What a format stores.
pub fn storage(format: TextureFormat) -> Storage {
    if format == HDR { Storage::Half } else { Storage::Srgb8 }
}

/// What the compositor paints of trees, with blurs on or off.
pub fn expected(trees: &[Tree], format: TextureFormat, is_off: bool) -> Vec<Picture> {
    let pictures = trees.iter().map(|tree| shown(tree, is_off).picture(storage(format)));
    pictures.collect()
}

/// What is shown of a tree with blurs on or off.
fn shown(tree: &Tree, is_off: bool) -> Tree {
    if is_off { tree.switched_off() } else { tree.clone() }
}

/// Gives a camera the clear colour of a tree.
fn clear(world: &mut World, tree: &Tree, camera: Entity) {
    let [red, green, blue, alpha] = tree.clear.map(|value| value as f32);
    // Bevy multiplies no clear colour by its alpha.
    let color = Color::linear_rgba(red, green, blue, alpha);
    let mut camera = world.get_mut::<Camera>(camera).expect("the camera stays");
    camera.clear_color = ClearColorConfig::Custom(color);
}

/// The worst difference beyond the rounding of the format.
pub fn compare(got: &Picture, expected: &Picture, format: TextureFormat) -> Difference {
    let within = within_rounding(got, expected, format);
    let (got, within) = measured(got, &within, format);
    worst_difference(&got, &within)
}

/// The largest difference that is right, as a share of the peak, beside what rounding moves: see [`Screen::nearest`].
pub fn tolerance(tree: &Tree) -> f64 {
    let number = |is_one: fn(&Node) -> bool| super::features::count(&tree.nodes, &is_one);
    let varying = number(|node| {
        let of_glass = node.glass.as_ref().and_then(|glass| glass.ramp);
        let of_filter = node.filter.as_ref().and_then(|filter| filter.ramp);
        of_glass.or(of_filter).is_some_and(|ramp| ramp.from.max(ramp.to) > 0.0)
    });
    // A blur that varies may be off by two levels. Rasterisers place vertices at 1/256 of a pixel, so the coverage of a box that is
    // not on whole pixels may be off by a level.
    let parts = [
        (1.5, true),
        (2.0, varying > 0),
        (1.0, number(|node| node.transform != tree::Transform::NONE) > 0),
    ];
    let levels = parts
        .iter()
        .map(|(levels, is_there)| if *is_there { *levels } else { 0.0 });
    levels.sum::<f64>() / 255.0
}

/// The brightest value, at least 1.
pub fn peak(picture: &Picture) -> f64 {
    picture.texels.iter().flatten().copied().fold(1.0, f64::max)
}
