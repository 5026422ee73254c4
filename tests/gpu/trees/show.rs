//! The app that shows trees, one on each of its cameras.

use super::spawn::{morph, spawn};
use super::stamps;
use crate::backdrop::stage::{HDR, LDR};
use crate::filters::group::measured;
use crate::support::difference::{Difference, worst_difference};
use crate::support::formats::to_picture;
use crate::support::headless::{Headless, Reading};
use crate::support::held::hold_back;
use crate::support::pool::warm;
use crate::support::precision::error_of_blurs;
use crate::support::reference::tree::{self, Filter, Node, Tree};
use crate::support::reference::{Picture, Storage};
use crate::support::scene::{self, Kind};
use crate::support::twins::View;
use crate::support::within_rounding;
use bevy::camera::{Hdr, Viewport};
use bevy::prelude::*;
use bevy::render::render_resource::{PipelineDescriptor, TextureFormat};
use bevy::render::renderer::RenderDevice;
use bevy_gaussian_blur::prelude::*;

/// The number of cameras.
pub const CAMERAS: usize = 4;

/// The sizes of their viewports.
pub const SIZES: [[usize; 2]; CAMERAS] = [[96, 64], [64, 64], [96, 48], [72, 56]];

/// From this one on, the cameras share a target, in which their viewports lie side by side.
pub const SHARED: usize = 2;

/// The app.
pub struct Screen {
    views: Vec<View>,
    /// The sizes of their viewports, of which those from this number on lie side by side in one target.
    sizes: [[usize; 2]; CAMERAS],
    shared: usize,
    roots: Vec<Entity>,
    format: TextureFormat,
    is_off: bool,
    headless: Headless,
}

/// The pictures of all cameras in a frame.
pub struct Shot {
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
    /// `None` where there is no GPU.
    pub fn new(backend: BlurBackend, format: TextureFormat) -> Option<Self> {
        Self::of_sizes(backend, format, SIZES, SHARED)
    }

    /// The same with cameras of one size, each of which has its target.
    pub fn of_one_size(backend: BlurBackend, format: TextureFormat) -> Option<Self> {
        Self::of_sizes(backend, format, [SIZES[0]; CAMERAS], CAMERAS)
    }

    fn of_sizes(
        backend: BlurBackend,
        format: TextureFormat,
        sizes: [[usize; 2]; CAMERAS],
        shared: usize,
    ) -> Option<Self> {
        let mut screen = Self {
            views: Vec::new(),
            sizes,
            shared,
            roots: Vec::new(),
            format,
            is_off: false,
            headless: warm(backend)?,
        };
        stamps::take(&mut screen.headless);
        for index in 0..CAMERAS {
            let headless = &mut screen.headless;
            let view = if index > shared {
                let target = screen.views[shared].target.clone();
                let camera = scene::camera(headless, Kind::Core2d, &target, Msaa::Off);
                View { camera, target }
            } else {
                let [mut width, mut height] = sizes[index].map(|side| side as u32);
                if index == shared {
                    (width, height) = (sizes[shared..].iter().map(|size| size[0] as u32).sum(), 60);
                }
                View::new(headless, Kind::Core2d, UVec2::new(width, height), format)
            };
            if format == HDR {
                view.insert(headless, Hdr);
            }
            if index >= shared {
                screen.place(&view, index);
            }
            screen.views.push(view);
        }
        Some(screen)
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
    pub fn morph(&mut self, trees: &[Tree; CAMERAS]) {
        if self.roots.is_empty() {
            self.replace(trees);
        }
        let world = self.headless.app.world_mut();
        for ((tree, view), root) in trees.iter().zip(&self.views).zip(&self.roots) {
            clear(world, tree, view.camera);
            morph(world, &tree.nodes, *root);
        }
        self.headless.app.update();
    }

    /// Freezes some of the glass that is shown.
    pub fn freeze(&mut self, coin: u64) {
        let world = self.headless.app.world_mut();
        let glass = world.query_filtered::<Entity, With<BackdropBlur>>();
        let glass: Vec<Entity> = { glass }.iter(world).collect();
        for entity in glass
            .into_iter()
            .filter(|entity| (entity.to_bits() + coin).is_multiple_of(3))
        {
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

    /// Shows trees in place of those before, and renders one frame.
    pub fn show_anew(&mut self, trees: &[Tree; CAMERAS]) {
        self.replace(trees);
        self.headless.app.update();
    }

    /// Renders frames until nothing is left to compile.
    pub fn settle(&mut self) {
        self.headless.warm_up();
    }

    /// The pictures of the last frame.
    pub fn pictures(&self) -> Vec<Picture> {
        let shot = self.shot();
        let device = self.headless.render_world().resource::<RenderDevice>();
        let of = |(index, reading): (usize, Reading)| {
            to_picture(&reading.finish(device)).crop(self.origin(index), self.sizes[index])
        };
        shot.readings.into_iter().enumerate().map(of).collect()
    }

    /// Shows trees in place of those shown before, one on each camera, and renders one frame.
    pub fn show(&mut self, trees: &[Tree; CAMERAS]) -> Shot {
        self.show_anew(trees);
        self.shot()
    }

    /// The same after everything has settled.
    pub fn show_settled(&mut self, trees: &[Tree; CAMERAS]) -> Shot {
        self.replace(trees);
        self.headless.warm_up();
        self.shot()
    }

    /// The pictures of the last frame, on their way.
    pub fn shot(&self) -> Shot {
        let views = self.views.iter();
        Shot {
            readings: views
                .map(|view| Reading::of_image(&self.headless, &view.target))
                .collect(),
            is_off: self.is_off,
        }
    }

    fn replace(&mut self, trees: &[Tree; CAMERAS]) {
        let world = self.headless.app.world_mut();
        for root in self.roots.drain(..) {
            world.despawn(root);
        }
        for (tree, view) in trees.iter().zip(&self.views) {
            clear(world, tree, view.camera);
            self.roots.push(spawn(world, tree, view.camera));
        }
    }

    /// Compiles what trees need: shows some until nothing is left to compile.
    pub fn warm_up(&mut self) {
        for seed in 0..3 {
            let trees = core::array::from_fn(|place| {
                super::generate::generate(4 * seed + place as u64, place, self.format == HDR, &[])
            });
            self.replace(&trees);
            self.headless.warm_up();
        }
        let mut trees = super::empty();
        trees[0].nodes.push(super::generate::with_all_shadows());
        self.replace(&trees);
        self.headless.warm_up();
    }

    /// Compares the pictures of trees with the compositor's.
    pub fn judge(&self, shot: Shot, trees: &[Tree; CAMERAS]) -> Verdict {
        let expected = trees
            .each_ref()
            .map(|tree| shown(tree, shot.is_off).picture(storage(self.format)));
        self.judge_by(shot, trees, &expected, None)
    }

    /// The same with pictures of the compositor, and with a limit in levels, if it is not the one of random trees.
    pub fn judge_by(
        &self,
        shot: Shot,
        trees: &[Tree; CAMERAS],
        expected: &[Picture; CAMERAS],
        levels: Option<f64>,
    ) -> Verdict {
        let device = self.headless.render_world().resource::<RenderDevice>();
        let mut verdict = Verdict::default();
        for (index, (reading, tree)) in shot.readings.into_iter().zip(trees).enumerate() {
            let (tree, expected) = (&shown(tree, shot.is_off), &expected[index]);
            let got = to_picture(&reading.finish(device)).crop(self.origin(index), tree.size);
            let difference = compare(&got, expected, self.format);
            let peak = peak(expected);
            verdict.worst = verdict.worst.max(difference.value / peak);
            verdict.panes += super::features::count(&tree.nodes, &|node: &Node| node.glass.is_some());
            verdict.filters += super::features::count(&tree.nodes, &|node: &Node| node.filter.is_some());
            let limit = levels.map_or_else(
                || tolerance(tree, self.format),
                |levels| levels / 255.0 + error_of_blurs(),
            );
            let limit = limit * peak;
            let is_rounding = |more| levels.is_none() && more <= limit + self.rounding(tree, expected);
            if difference.value > limit && !is_rounding(difference.value) {
                verdict.wrong.push((index, difference, [got.clone(), expected.clone()]));
            }
            verdict.shown.push(got);
        }
        verdict
    }

    /// How far rounding moves the compositor's own picture: eight bits, or with half floats the coverage of boxes. Where alpha is
    /// inverted, or what is nearly black, that may be several levels.
    fn rounding(&self, tree: &Tree, rounded: &Picture) -> f64 {
        let other = if self.is_hdr() {
            Storage::ThinHalf
        } else {
            Storage::Bounded
        };
        compare(rounded, &tree.picture(other), self.format).value
    }

    /// Where the viewport of a camera begins in its target.
    fn origin(&self, index: usize) -> [usize; 2] {
        let left = self.sizes[self.shared.min(index)..index].iter().map(|size| size[0]);
        [left.sum(), if index > self.shared { 3 } else { 0 }]
    }

    /// Gives a camera its part of the shared target.
    fn place(&mut self, view: &View, index: usize) {
        let [position, size] =
            [self.origin(index), self.sizes[index]].map(|pair| UVec2::from_array(pair.map(|side| side as u32)));
        let world = self.headless.app.world_mut();
        let mut camera = world.get_mut::<Camera>(view.camera).expect("it was spawned");
        camera.order = index as isize;
        camera.viewport = Some(Viewport {
            physical_position: position,
            physical_size: size,
            ..default()
        });
    }
}

/// What a format stores.
pub fn storage(format: TextureFormat) -> Storage {
    if format == HDR { Storage::Half } else { Storage::Srgb8 }
}

/// What is shown of a tree with blurs on or off.
pub fn shown(tree: &Tree, is_off: bool) -> Tree {
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

/// The largest difference that is right, as a share of the peak, before [`Screen::rounding`]. In eight bits, a picture that is
/// blurred or filtered again was rounded before.
pub fn tolerance(tree: &Tree, format: TextureFormat) -> f64 {
    let number = |is_one: fn(&Node) -> bool| super::features::count(&tree.nodes, &is_one);
    let varying = number(|node| {
        let of_glass = node.glass.as_ref().and_then(|glass| glass.ramp);
        let of_filter = node.filter.as_ref().and_then(|filter| filter.ramp);
        of_glass.or(of_filter).is_some()
    });
    let [panes, filters] = [
        number(|node| node.glass.is_some()),
        number(|node| node.filter.is_some()),
    ];
    let is_rounded_before = format == LDR && (panes > 1 || filters > 0);
    // What is nearly transparent widens by ten times its alpha, which eight bits round.
    let widens = format == LDR
        && number(|node| node.filter.as_ref().is_some_and(|filter| filter.outline.is_some())) > 0
        && number(|node| node.filter.as_ref().is_some_and(is_soft)) > 0;
    // A blur that varies may be off by two levels. Rasterisers place vertices at 1/256 of a pixel, so the coverage of a box that is
    // not on whole pixels may be off by a level.
    let parts = [
        (1.5, true),
        (1.5, is_rounded_before),
        (2.0, varying > 0),
        (10.0, widens),
        (1.0, number(|node| node.transform != tree::Transform::NONE) > 0),
    ];
    parts
        .iter()
        .map(|(levels, is_there)| if *is_there { *levels } else { 0.0 })
        .sum::<f64>()
        / 255.0
}

/// Whether a filter makes soft alpha.
fn is_soft(filter: &Filter) -> bool {
    filter.sigma != [0.0; 2] || filter.fade != [0.0; 4] || !filter.shadows.is_empty()
}

/// The brightest value, at least 1.
fn peak(picture: &Picture) -> f64 {
    picture.texels.iter().flatten().copied().fold(1.0, f64::max)
}
