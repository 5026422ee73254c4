//! A group of nodes, seen by two cameras: filtered over a scene, and unfiltered without a background. A third camera shows the
//! scene alone.

use super::*;
use crate::backdrop::stage::{Stage, Ui};
use crate::support::compositor::tolerance;
use crate::support::formats::encode_srgb;
use crate::support::functions;

/// The scene with its cameras.
pub struct Group {
    /// Shows the unfiltered group alone.
    pub alone: View,
    pub stage: Stage,
}

/// Runs a test with [one kind of passes](one_backend).
pub fn on_one(kind: Kind, format: TextureFormat, test: impl Fn(&mut Group)) {
    for backend in one_backend() {
        let mut group = Group::new(backend, kind, format);
        test(&mut group);
    }
}

impl Group {
    pub fn new(backend: BlurBackend, kind: Kind, format: TextureFormat) -> Self {
        Self::of(Stage::new(backend, kind, format), kind)
    }

    /// The same on any stage.
    pub fn of(mut stage: Stage, kind: Kind) -> Self {
        let alone = View::new(&mut stage.headless, kind, crate::backdrop::stage::SIZE, stage.format);
        let camera = Camera {
            clear_color: ClearColorConfig::Custom(Color::NONE),
            ..default()
        };
        alone.insert(&mut stage.headless, (camera, RenderLayers::layer(9)));
        stage.headless.set(alone.camera, Hdr, stage.format == HDR);
        Self { alone, stage }
    }

    /// Shows the group to both cameras, in a node with this filter for one of them, and lets everything settle.
    pub fn show(&mut self, filter: impl Bundle + Clone, build: impl Fn(&mut Ui, Entity)) {
        self.stage.clear();
        let [glass, alone] = [self.stage.glass.camera, self.alone.camera];
        self.stage.add(glass, true, &|ui: &mut Ui| {
            let node = ui.spawn((scene::whole(), filter.clone()));
            build(ui, node);
        });
        self.stage.add(alone, false, &|ui: &mut Ui| {
            let node = ui.spawn(scene::whole());
            build(ui, node);
        });
        self.stage.headless.warm_up();
    }

    /// The scene alone, the filtered group over it, and the group alone.
    pub fn pictures(&self) -> [Picture; 3] {
        let [below, filtered] = self.stage.pictures();
        [below, filtered, self.alone.picture(&self.stage.headless)]
    }

    /// Shows a group and asserts that it is filtered like the reference. Returns the worst difference.
    pub fn check(&mut self, name: &str, filter: &UiFilter, build: impl Fn(&mut Ui, Entity)) -> f64 {
        self.show(filter.clone(), build);
        let [below, got, group] = self.pictures();
        let painted = over(&below, &filtered(&group, filter, self.stage.format));
        self.assert_painted(name, &got, &painted)
    }

    /// Asserts that a picture is the expected one. Returns the worst difference.
    pub fn assert_painted(&self, name: &str, got: &Picture, painted: &Picture) -> f64 {
        self.assert_within(name, got, painted, 0.0)
    }

    /// The same with additional tolerance.
    pub fn assert_within(&self, name: &str, got: &Picture, painted: &Picture, more: f64) -> f64 {
        let format = self.stage.format;
        let peak = painted.texels.iter().flatten().copied().fold(1.0, f64::max);
        let name = format!("filter-{}", self.stage.name(name));
        let expected = within_rounding(got, painted, format);
        let (got, expected) = measured(got, &expected, format);
        let worst = assert_close(&name, &got, &expected, &RGBA, tolerance(format, peak) + more);
        println!("{name}: {:.3}/255", worst * 255.0);
        worst
    }
}

/// Two pictures as light, or as levels where levels differ less: errors of the blur are errors of light, and errors of rounding
/// are errors of levels.
pub fn measured(got: &Picture, expected: &Picture, format: TextureFormat) -> (Picture, Picture) {
    let (mut got, mut expected) = (got.clone(), expected.clone());
    if format == LDR {
        let pairs = got
            .texels
            .iter_mut()
            .flatten()
            .zip(expected.texels.iter_mut().flatten());
        for (index, (got, expected)) in pairs.enumerate().filter(|(_, (got, expected))| got != expected) {
            let levels = [*got, *expected].map(encode_srgb);
            let is_color = index % 4 < 3;
            if is_color && (levels[0] - levels[1]).abs() < (*got - *expected).abs() {
                [*got, *expected] = levels;
            }
        }
    }
    (got, expected)
}

/// A picture that is transparent outside a rectangle.
pub fn clipped(picture: &Picture, [left, top, right, bottom]: [usize; 4]) -> Picture {
    Picture::from_fn(picture.width, picture.height, |x, y| {
        let is_inside = (left..right).contains(&x) && (top..bottom).contains(&y);
        if is_inside { picture.at(x, y) } else { [0.0; 4] }
    })
}

/// A premultiplied picture over another one.
pub fn over(below: &Picture, above: &Picture) -> Picture {
    Picture::from_fn(below.width, below.height, |x, y| {
        let (below, above) = (below.at(x, y), above.at(x, y));
        core::array::from_fn(|channel| above[channel] + below[channel] * (1.0 - above[3]))
    })
}

/// The picture that a filter without shadows paints for a group.
pub fn filtered(group: &Picture, filter: &UiFilter, format: TextureFormat) -> Picture {
    let sigma = filter.blur.aspect.to_array();
    let sigma = sigma.map(|aspect| f64::from(filter.blur.sigma() * aspect));
    let blurred = gaussian_blur(group, sigma, EdgeMode::Transparent);
    let functions = functions::functions(&filter.colors);
    Picture::from_fn(group.width, group.height, |x, y| {
        let colored = functions.colored(blurred.at(x, y), format != HDR);
        colored.map(|value| value * f64::from(filter.opacity))
    })
}
