//! Measures this blur and the classical filters over the radius, on this GPU.
//!
//! While it measures, the camera shows only the panel, so that nothing else keeps the GPU busy. All methods blur a picture
//! of the same size. This blur blurs it as an image in every frame; its time is read from its diagnostics, or, without GPU
//! timestamps, from the time of the frame. The comparison gives up a filter before the system would stop it for taking too long.

use crate::classics::{Bench, Classic, ClassicsPlugin, Clock, Order, SIZE};
use crate::settings::{BlurredCamera, Settings};
use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::RenderLayers;
use bevy::diagnostic::DiagnosticsStore;
use bevy::ecs::system::SystemParam;
use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};
use bevy_gaussian_blur::prelude::*;

/// The radii that are measured, in texels.
pub const RADII: [f32; 9] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 384.0];

/// The longest time that a filter may take, in milliseconds.
const LONGEST: f64 = 100.0;

/// The time that a filter should take with all its repetitions, in milliseconds: browsers round times.
const LONG_ENOUGH: f64 = 4.0;

/// The most repetitions of a filter in a frame.
const MOST_REPEATS: u32 = 16;

/// The number of figures for one point, and of the first figures, which do not count.
const FIGURES: usize = 6;
const WARM_UP: usize = 6;

/// `FIGURES` for this blur if its time is read from its diagnostics, which publish the time of one blur per frame.
const OWN_FIGURES: usize = 24;

/// The number of frames without a new figure after which a point is given up.
const PATIENCE: u32 = 240;

/// A method to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    ThisBlur,
    Classic(Classic),
}

/// All methods, in the order of their measurements.
pub const METHODS: [Method; 3] = [
    Method::ThisBlur,
    Method::Classic(Classic::Separable),
    Method::Classic(Classic::Direct2d),
];

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::ThisBlur => "this blur",
            Self::Classic(Classic::Separable) => "separable, the classic",
            Self::Classic(Classic::Direct2d) => "direct, in two dimensions",
        }
    }

    /// The largest factor by which the time grows from one radius to the next.
    fn growth(self, radius: f32, next: f32) -> f64 {
        let ratio = f64::from((2.0 * next + 1.0) / (2.0 * radius + 1.0));
        match self {
            Self::ThisBlur => 1.0,
            Self::Classic(Classic::Separable) => ratio,
            Self::Classic(Classic::Direct2d) => ratio * ratio,
        }
    }
}

/// The results so far.
#[derive(Resource, Default)]
pub struct Comparison {
    /// Radii and milliseconds, for each of [`METHODS`].
    pub points: [Vec<(f32, f64)>; METHODS.len()],
    /// The comparison in progress.
    run: Option<Run>,
    /// The request of the panel.
    wish: Option<Wish>,
    /// Whether the comparison is complete.
    pub is_finished: bool,
}

enum Wish {
    Start,
    Stop,
}

impl Comparison {
    pub fn start(&mut self) {
        self.wish = Some(Wish::Start);
    }

    pub fn stop(&mut self) {
        self.wish = Some(Wish::Stop);
    }

    /// The share of the comparison that is done, while it measures.
    pub fn progress(&self) -> Option<f32> {
        let run = self.run.as_ref()?;
        Some(run.step as f32 / (RADII.len() * METHODS.len()) as f32)
    }
}

/// Adds the comparison.
pub struct ComparisonPlugin;

impl Plugin for ComparisonPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(ClassicsPlugin)
            .init_resource::<Comparison>()
            .add_systems(Update, (obey, measure).chain());
    }
}

/// A comparison in progress.
struct Run {
    /// The picture that is blurred.
    picture: Handle<Image>,
    /// The layers of the camera before the comparison.
    layers: Option<RenderLayers>,
    /// The index over all radii and methods. If frames are timed, an empty frame is measured before step 0.
    step: usize,
    empty_frame: Option<f64>,
    order: Order,
    figures: Vec<f64>,
    /// Frames since the last figure.
    idle: u32,
    /// When this blur's last figure was measured.
    last: Option<Instant>,
    given_up: [bool; METHODS.len()],
}

impl Run {
    fn method(&self) -> usize {
        self.step % METHODS.len()
    }

    fn radius(&self) -> f32 {
        RADII[self.step / METHODS.len()]
    }

    /// Whether an empty frame is measured now.
    fn is_empty(&self, clock: Clock) -> bool {
        clock == Clock::Frames && self.empty_frame.is_none()
    }

    /// Starts the order of the current step, without repetitions.
    fn place_order(&mut self, clock: Clock) {
        let classic = match METHODS[self.method()] {
            _ if self.is_empty(clock) => None,
            Method::ThisBlur => None,
            Method::Classic(classic) => Some((classic, self.radius())),
        };
        self.order = Order {
            number: self.order.number + 1,
            classic,
            repeats: 1,
        };
        self.figures.clear();
        self.idle = 0;
    }
}

/// The images that this blur blurs during the comparison.
#[derive(Component)]
struct Subject;

type SeenByCamera<'w, 's> = Single<'w, 's, (Entity, Option<&'static RenderLayers>), With<BlurredCamera>>;

/// Starts and stops the comparison.
fn obey(
    mut commands: Commands,
    mut comparison: ResMut<Comparison>,
    bench: Res<Bench>,
    camera: SeenByCamera,
    mut settings: ResMut<Settings>,
    mut images: ResMut<Assets<Image>>,
    subjects: Query<Entity, With<Subject>>,
) {
    let Some(wish) = comparison.wish.take() else {
        return;
    };
    let (camera, layers) = *camera;
    match wish {
        Wish::Start if comparison.run.is_none() && bench.clock() != Clock::None => {
            commands
                .entity(camera)
                .insert(RenderLayers::none())
                .remove::<GaussianBlur>();
            let mut run = Run {
                picture: images.add(picture()),
                layers: layers.cloned(),
                step: 0,
                empty_frame: None,
                order: Order {
                    number: 0,
                    classic: None,
                    repeats: 0,
                },
                figures: vec![],
                idle: 0,
                last: None,
                given_up: default(),
            };
            run.place_order(bench.clock());
            *comparison = Comparison {
                run: Some(run),
                ..default()
            };
        }
        Wish::Stop => {
            if let Some(run) = comparison.run.take() {
                let mut camera = commands.entity(camera);
                match run.layers {
                    Some(layers) => camera.insert(layers),
                    None => camera.remove::<RenderLayers>(),
                };
                // Applying the settings restores the blur.
                settings.set_changed();
            }
            subjects.iter().for_each(|subject| commands.entity(subject).despawn());
            bench.order(None);
        }
        Wish::Start => {}
    }
}

/// The images and their diagnostics.
#[derive(SystemParam)]
struct Subjects<'w, 's> {
    images: Query<'w, 's, (Entity, &'static BlurLabel), With<Subject>>,
    diagnostics: Res<'w, DiagnosticsStore>,
    readiness: Res<'w, BlurReadiness>,
}

impl Subjects<'_, '_> {
    /// The newest time of a blur, if it was not measured at `last`, and when it was measured.
    fn news(&self, last: Option<Instant>) -> Option<(f64, Instant)> {
        let (_, label) = self.images.iter().next()?;
        let figure = self.diagnostics.get(&label.elapsed_gpu())?.measurement()?;
        (Some(figure.time) != last).then_some((figure.value, figure.time))
    }
}

/// Collects figures, and starts the next step when there are enough.
fn measure(mut commands: Commands, mut comparison: ResMut<Comparison>, bench: Res<Bench>, subjects: Subjects) {
    let comparison = &mut *comparison;
    let Some(run) = &mut comparison.run else {
        return;
    };
    let clock = bench.clock();
    bench.order(Some(run.order));
    let is_own = METHODS[run.method()] == Method::ThisBlur && !run.is_empty(clock);
    if is_own {
        let missing = run.order.repeats.saturating_sub(subjects.images.iter().len() as u32);
        for _ in 0..missing {
            commands.spawn(subject(&run.picture, run.radius()));
        }
        // While shaders compile, blurs are slower, and the compilation disturbs the measurement.
        if missing > 0 || !subjects.readiness.is_complete() {
            return;
        }
    }
    let is_published = is_own && clock == Clock::Timestamps;
    let news = if is_published {
        let news = subjects.news(run.last);
        run.last = news.map(|(_, time)| time).or(run.last);
        news.map(|(figure, _)| figure).into_iter().collect()
    } else {
        bench.take(run.order.number)
    };
    run.idle = if news.is_empty() { run.idle + 1 } else { 0 };
    run.figures.extend(news);
    let enough = WARM_UP + if is_published { OWN_FIGURES } else { FIGURES };
    let is_stuck = run.idle > PATIENCE;
    if run.figures.len() < enough && !is_stuck {
        return;
    }
    let figure = (!is_stuck).then(|| typical(&run.figures[WARM_UP..], is_published));
    if run.repeats_more(figure, clock) {
        return;
    }
    let entities = subjects.images.iter().map(|(entity, _)| entity);
    entities.for_each(|entity| commands.entity(entity).despawn());
    if run.is_empty(clock) {
        run.empty_frame = Some(figure.unwrap_or_default());
    } else {
        let point = figure.map(|figure| (run.radius(), run.each(figure)));
        comparison.points[run.method()].extend(point);
        run.go_on(figure);
    }
    if run.step == RADII.len() * METHODS.len() {
        comparison.is_finished = true;
        comparison.stop();
    } else {
        run.place_order(clock);
    }
}

impl Run {
    /// The time of one repetition.
    fn each(&self, figure: f64) -> f64 {
        (figure - self.empty_frame.unwrap_or_default()).max(0.0) / f64::from(self.order.repeats)
    }

    /// Starts again with more repetitions if one repetition is too short to measure.
    fn repeats_more(&mut self, figure: Option<f64>, clock: Clock) -> bool {
        let is_own = METHODS[self.method()] == Method::ThisBlur;
        let Some(figure) = figure.filter(|_| self.order.repeats == 1 && !self.is_empty(clock)) else {
            return false;
        };
        let wanted = (LONG_ENOUGH / self.each(figure).max(0.01)).ceil() as u32;
        if wanted <= 1 || is_own && clock == Clock::Timestamps {
            return false;
        }
        self.order.number += 1;
        self.order.repeats = wanted.min(MOST_REPEATS);
        self.figures.clear();
        true
    }

    /// Goes to the next step whose method is not given up.
    fn go_on(&mut self, figure: Option<f64>) {
        let (method, radius) = (self.method(), self.radius());
        let next = RADII.iter().find(|next| **next > radius);
        let expected = figure
            .zip(next)
            .map(|(figure, next)| self.each(figure) * METHODS[method].growth(radius, *next));
        // No limit applies to this blur.
        let is_own = METHODS[method] == Method::ThisBlur;
        self.given_up[method] = figure.is_none() || !is_own && expected.is_some_and(|expected| expected > LONGEST);
        self.step += 1;
        while self.step < RADII.len() * METHODS.len() && self.given_up[self.method()] {
            self.step += 1;
        }
    }
}

/// The mean of rounded figures, the median of others.
fn typical(figures: &[f64], is_rounded: bool) -> f64 {
    if is_rounded {
        return figures.iter().sum::<f64>() / figures.len() as f64;
    }
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn subject(picture: &Handle<Image>, radius: f32) -> impl Bundle + use<> {
    (
        Subject,
        Name::new("comparison"),
        GaussianBlur::new(radius).with_unit(BlurUnit::PhysicalPixels),
        BlurImage::new(picture.clone()).with_update(BlurUpdate::EveryFrame),
    )
}

/// The picture to blur. Its content does not matter.
fn picture() -> Image {
    let extent = Extent3d {
        width: SIZE.x,
        height: SIZE.y,
        depth_or_array_layers: 1,
    };
    Image::new_fill(
        extent,
        TextureDimension::D2,
        &[200, 120, 60, 255],
        TextureFormat::Rgba8UnormSrgb,
        RenderAssetUsages::RENDER_WORLD,
    )
}
