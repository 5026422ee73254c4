//! The cost of glass, and of filters of nodes, compared with a blur of the whole camera: `--glass` and `--filters`.
//!
//! A camera paints only its clear colour, and panels lie on it as UI nodes. A time is the time of an app's whole frame,
//! less the time of a frame without any blur. Settings take turns.

use crate::method::Method;
use crate::options::{Format, Options};
use crate::ours::{pass_times, time_frames};
use crate::report;
use crate::stage::Gpu;
use crate::support::headless::Headless;
use crate::support::scene;
use crate::timer::Timer;
use bevy::camera::Hdr;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::diagnostics::BlurLabel;
use bevy_gaussian_blur::prelude::*;
use serde::Serialize;

/// The number of warm-up frames of a setting, in which textures are created.
const WARM_UP: usize = 8;

/// The number of turns of each setting.
const ROUNDS: usize = 3;

/// The panels on the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Setting {
    /// No panels and no blur.
    Empty,
    /// No panels; the camera itself is blurred.
    Camera,
    /// This many panels, each of this percentage of the screen, side by side.
    Beside(u32, f32),
    /// This many panels on top of each other, so that each blurs the one below.
    Stacked(u32, f32),
    /// This many panels side by side, in an interface that fades.
    Fading(u32, f32),
    /// This many rounded cards side by side, each with a panel inside.
    Cards(u32, f32),
    /// One panel of this percentage of the screen as a lens with the default rim, with this dispersion.
    Refracting(f32, f32),
    /// The same with a rim that leaves no flat middle.
    AllRim(f32, f32),
    /// The camera is blurred, and frozen: its result is painted.
    FrozenCamera,
    /// This many panels side by side, frozen: their results are painted.
    FrozenBeside(u32, f32),
    /// This many plain nodes side by side.
    Nodes(u32, f32),
    /// The same nodes, each with a filter that blurs.
    Blurred(u32, f32),
    /// The same nodes, each with a filter that only fades.
    Faded(u32, f32),
    /// Letters, which cover a third of their node, on a node of this size in pixels.
    Letters(UVec2, LetterFilter),
}

/// The filter of letters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LetterFilter {
    /// None.
    Plain,
    /// A filter that only fades.
    Faded,
    /// A line of this width in pixels.
    Outlined(f32),
    /// A blur.
    Blurred,
    /// The same blur, with two shadows and a glow, each softer than the one before.
    Layered,
}

/// The size of a title.
const TITLE: UVec2 = UVec2::new(800, 200);

/// The size of a whole screen.
const SCREEN: UVec2 = UVec2::new(1920, 1080);

const GLASS: [Setting; 19] = [
    Setting::Empty,
    Setting::Camera,
    Setting::Beside(1, 5.0),
    Setting::Beside(36, 1.0),
    Setting::Beside(1, 100.0),
    Setting::Refracting(5.0, 0.0),
    Setting::Refracting(5.0, 0.5),
    Setting::Refracting(100.0, 0.0),
    Setting::Refracting(100.0, 0.5),
    Setting::AllRim(100.0, 0.0),
    Setting::AllRim(100.0, 0.5),
    Setting::Stacked(8, 5.0),
    Setting::Stacked(40, 1.0),
    Setting::Beside(40, 1.0),
    Setting::Fading(40, 1.0),
    Setting::Cards(40, 1.0),
    Setting::FrozenCamera,
    Setting::FrozenBeside(36, 1.0),
    Setting::FrozenBeside(1, 100.0),
];

const FILTERS: [Setting; 20] = [
    Setting::Empty,
    Setting::Camera,
    Setting::Nodes(1, 5.0),
    Setting::Blurred(1, 5.0),
    Setting::Nodes(50, 0.5),
    Setting::Blurred(50, 0.5),
    Setting::Nodes(1, 25.0),
    Setting::Blurred(1, 25.0),
    Setting::Faded(1, 25.0),
    Setting::Faded(1, 100.0),
    Setting::Letters(TITLE, LetterFilter::Plain),
    Setting::Letters(TITLE, LetterFilter::Faded),
    Setting::Letters(TITLE, LetterFilter::Outlined(4.0)),
    Setting::Letters(TITLE, LetterFilter::Blurred),
    Setting::Letters(TITLE, LetterFilter::Layered),
    Setting::Letters(SCREEN, LetterFilter::Plain),
    Setting::Letters(SCREEN, LetterFilter::Faded),
    Setting::Letters(SCREEN, LetterFilter::Outlined(4.0)),
    Setting::Letters(SCREEN, LetterFilter::Blurred),
    Setting::Letters(SCREEN, LetterFilter::Layered),
];

impl Setting {
    fn name(self) -> String {
        match self {
            Self::Empty => "no blur".into(),
            Self::Camera => "camera blur".into(),
            Self::Beside(count, share) => format!("{count} of {share} %"),
            Self::Stacked(count, share) => format!("{count} of {share} % stacked"),
            Self::Fading(count, share) => format!("{count} of {share} % in a fading HUD"),
            Self::Cards(count, share) => format!("{count} of {share} % in cards"),
            Self::Refracting(share, 0.0) => format!("1 of {share} %, lens"),
            Self::Refracting(share, _) => format!("1 of {share} %, lens, dispersion"),
            Self::AllRim(share, 0.0) => format!("1 of {share} %, all rim"),
            Self::AllRim(share, _) => format!("1 of {share} %, all rim, dispersion"),
            Self::FrozenCamera => "camera blur, frozen".into(),
            Self::FrozenBeside(count, share) => format!("{count} of {share} %, frozen"),
            Self::Nodes(count, share) => format!("{count} of {share} %, plain nodes"),
            Self::Blurred(count, share) => format!("{count} of {share} %, blurred"),
            Self::Faded(count, share) => format!("{count} of {share} %, faded"),
            Self::Letters(size, filter) => format!("{}x{} letters{}", size.x, size.y, filter.suffix()),
        }
    }

    /// The passes that draw parts of the user interface: Bevy's own, and one more for every group of glass except the
    /// first. A HUD that fades and rounded cards are painted on pages, with a pass before the blur and one after it, and what their
    /// panels see is put together in a pass.
    fn interface_passes(self) -> u32 {
        match self {
            Self::Empty | Self::Camera | Self::FrozenCamera => 0,
            Self::Fading(..) | Self::Cards(..) => 4,
            Self::Nodes(..) | Self::Blurred(..) | Self::Faded(..) | Self::Letters(..) => 1,
            Self::Beside(..) | Self::FrozenBeside(..) => 1,
            Self::Refracting(..) | Self::AllRim(..) => 1,
            Self::Stacked(count, _) => count,
        }
    }

    fn is_frozen(self) -> bool {
        matches!(self, Self::FrozenCamera | Self::FrozenBeside(..))
    }

    /// Spawns one of its panels.
    fn spawn(self, world: &mut World, place: Rect, blur: GaussianBlur, root: Entity) {
        let node = Node {
            position_type: PositionType::Absolute,
            left: percent(place.min.x),
            top: percent(place.min.y),
            width: percent(place.width()),
            height: percent(place.height()),
            ..default()
        };
        let colour = BackgroundColor(Color::linear_rgba(0.4, 0.6, 0.2, 0.8));
        let mut panel = world.spawn((node, ChildOf(root)));
        match self {
            Self::Nodes(..) => panel.insert(colour),
            Self::Blurred(..) => panel.insert((colour, UiFilter { blur, ..default() })),
            Self::Faded(..) => panel.insert((colour, UiFilter::opacity(0.5))),
            Self::Cards(..) => panel.insert((UiFilter::rounded(), children![(whole(), glass(blur))])),
            Self::Refracting(_, dispersion) => panel.insert((glass(blur), lens(24.0, dispersion))),
            Self::AllRim(_, dispersion) => panel.insert((glass(blur), lens(1e6, dispersion))),
            _ => panel.insert(glass(blur)),
        };
    }

    /// The boxes of its panels, in percent of the screen.
    fn boxes(self) -> Vec<Rect> {
        let (count, share) = match self {
            Self::Empty | Self::Camera | Self::FrozenCamera | Self::Letters(..) => return Vec::new(),
            Self::Beside(count, share) | Self::Stacked(count, share) | Self::FrozenBeside(count, share) => {
                (count, share)
            }
            Self::Fading(count, share) | Self::Cards(count, share) => (count, share),
            Self::Refracting(share, _) | Self::AllRim(share, _) => (1, share),
            Self::Nodes(count, share) | Self::Blurred(count, share) | Self::Faded(count, share) => (count, share),
        };
        let side = 10.0 * share.sqrt();
        let columns = (count as f32).sqrt().ceil();
        let corner = |index: u32| match self {
            Self::Stacked(..) => Vec2::splat(20.0 + 2.0 * index as f32),
            // Not aligned to texels of coarse levels.
            _ => Vec2::new(index as f32 % columns, (index as f32 / columns).floor()) * (99.0 / columns),
        };
        let corners = (0..count).map(corner);
        corners
            .map(|corner| Rect::from_corners(corner, corner + side))
            .collect()
    }
}

impl LetterFilter {
    /// What names of settings say about it.
    fn suffix(self) -> String {
        match self {
            Self::Plain => String::new(),
            Self::Faded => ", faded".into(),
            Self::Outlined(width) => format!(", line of {width} px"),
            Self::Blurred => ", blurred".into(),
            Self::Layered => ", blurred, two shadows and a glow".into(),
        }
    }

    /// The filter, with this blur of the group.
    fn filter(self, blur: GaussianBlur, sigma: f32) -> Option<UiFilter> {
        let soft = |offset: Vec2, times: f32| DropShadow::from_sigma(offset, times * sigma, Color::BLACK);
        let blurred = UiFilter { blur, ..default() };
        Some(match self {
            Self::Plain => return None,
            Self::Faded => UiFilter::opacity(0.5),
            Self::Outlined(width) => UiFilter::outline(width, Color::BLACK),
            Self::Blurred => blurred,
            Self::Layered => blurred
                .with_shadow(soft(Vec2::splat(4.0), 1.0))
                .with_shadow(soft(Vec2::splat(12.0), 2.0))
                .with_shadow(DropShadow {
                    is_glow: true,
                    ..soft(Vec2::ZERO, 3.0)
                }),
        })
    }
}

/// Spawns a node of this size with letters of two stems and a bar.
fn spawn_letters(world: &mut World, size: UVec2, filter: Option<UiFilter>, root: Entity) {
    const LETTER: UVec2 = UVec2::new(80, 100);
    let place = |[left, top, width, height]: [u32; 4]| Node {
        position_type: PositionType::Absolute,
        left: px(left),
        top: px(top),
        width: px(width),
        height: px(height),
        ..default()
    };
    let mut group = world.spawn((place([0, 0, size.x, size.y]), ChildOf(root)));
    if let Some(filter) = filter {
        group.insert(filter);
    }
    let group = group.id();
    for (row, column) in (0..size.y / LETTER.y).flat_map(|row| (0..size.x / LETTER.x).map(move |column| (row, column)))
    {
        let [left, top] = [column * LETTER.x, row * LETTER.y];
        for [x, y, width, height] in [[12, 14, 16, 72], [52, 14, 16, 72], [28, 44, 24, 14]] {
            let colour = BackgroundColor(Color::linear_rgb(0.4, 0.6, 0.2));
            world.spawn((place([left + x, top + y, width, height]), colour, ChildOf(group)));
        }
    }
}

/// A node as large as its parent.
fn whole() -> Node {
    Node {
        width: percent(100),
        height: percent(100),
        ..default()
    }
}

fn glass(blur: GaussianBlur) -> BackdropBlur {
    let blur = blur.with_edge(EdgeMode::Mirror);
    BackdropBlur { blur, ..default() }
}

fn lens(bevel: f32, dispersion: f32) -> BackdropLens {
    BackdropLens {
        bevel,
        dispersion,
        ..default()
    }
}

/// An app with one camera.
struct Screen {
    headless: Headless,
    camera: Entity,
    sigma: f32,
    shown: Option<Entity>,
    gpu: Gpu,
    /// Whether the times of passes are printed.
    passes: bool,
}

/// A setting of a screen, and its time beyond a frame without a blur.
#[derive(Serialize)]
struct Row {
    size: String,
    format: &'static str,
    sigma: f64,
    method: &'static str,
    setting: String,
    median_us: f64,
}

impl Screen {
    fn new(backend: BlurBackend, size: UVec2, format: Format, sigma: f32, passes: bool) -> Result<Self, String> {
        let mut headless = Headless::new(|app| {
            app.add_plugins(GaussianBlurPlugin {
                backend,
                precompile_ui: false,
            });
            if passes {
                app.add_plugins(GaussianBlurDiagnosticsPlugin);
            }
        });
        let is_hdr = format == Format::Rgba16Float;
        let target = scene::target(&mut headless, size, TextureFormat::Rgba8UnormSrgb);
        let camera = scene::camera(&mut headless, scene::Kind::Core2d, &target, Msaa::Off);
        if is_hdr {
            headless.app.world_mut().entity_mut(camera).insert(Hdr);
        }
        headless.warm_up();
        let gpu = Gpu::of(&headless)?;
        time_frames(
            headless.app.sub_app_mut(RenderApp),
            &gpu,
            gpu.is_software && backend != BlurBackend::Fragment,
        );
        Ok(Self {
            headless,
            camera,
            sigma,
            shown: None,
            gpu,
            passes,
        })
    }

    fn blur(&self) -> GaussianBlur {
        GaussianBlur::from_sigma(self.sigma).with_unit(BlurUnit::PhysicalPixels)
    }

    fn show(&mut self, setting: Setting) {
        let (camera, blur, sigma) = (self.camera, self.blur(), self.sigma);
        let world = self.headless.app.world_mut();
        world.entity_mut(camera).remove::<(GaussianBlur, FreezeBlur)>();
        if let Some(shown) = self.shown.take() {
            world.despawn(shown);
        }
        if matches!(setting, Setting::Camera | Setting::FrozenCamera) {
            world.entity_mut(camera).insert(blur);
        }
        let boxes = setting.boxes();
        if boxes.is_empty() && !matches!(setting, Setting::Letters(..)) {
            return;
        }
        let root = world.spawn((whole(), UiTargetCamera(camera))).id();
        if matches!(setting, Setting::Fading(..)) {
            world.entity_mut(root).insert(UiFilter::opacity(0.99));
        }
        for place in boxes {
            setting.spawn(world, place, blur, root);
        }
        if let Setting::Letters(size, filter) = setting {
            spawn_letters(world, size, filter.filter(blur, sigma), root);
        }
        self.shown = Some(root);
    }

    /// Freezes the panels and the camera's blur.
    fn freeze(&mut self) {
        let camera = self.camera;
        let world = self.headless.app.world_mut();
        let mut panels = world.query_filtered::<Entity, With<BackdropBlur>>();
        let panels: Vec<Entity> = panels.iter(world).collect();
        for entity in panels.into_iter().chain([camera]) {
            world.entity_mut(entity).insert((FreezeBlur, FreezeArea::Region));
        }
    }

    /// The times of some frames with a setting, in microseconds.
    fn time(&mut self, setting: Setting, count: usize) -> Result<Vec<f64>, String> {
        self.show(setting);
        self.headless.frame();
        let is_complete = |world: &mut World| world.resource::<BlurReadiness>().is_complete();
        if !self.headless.frames_until(1000, is_complete) {
            return Err("the pipelines were not compiled in 1000 frames".to_owned());
        }
        if setting.is_frozen() {
            self.freeze();
        }
        let mut times = Vec::new();
        for _ in 0..WARM_UP + count {
            self.headless.frame();
            times.push(self.headless.render_world().resource::<Timer>().read());
        }
        if self.passes {
            self.print_passes(setting, count);
        }
        Ok(times.split_off(WARM_UP))
    }

    /// Prints the times of each kind of pass of all blurs, in microseconds.
    fn print_passes(&self, setting: Setting, count: usize) {
        let world = self.headless.app.world();
        let labels = [
            world.get::<BlurLabel>(self.camera).cloned(),
            Some(BlurLabel::of_nodes(self.camera)),
            Some(BlurLabel::of_filters(self.camera)),
        ];
        for label in labels.into_iter().flatten() {
            let times = pass_times(world, &label, count);
            if !times.is_empty() {
                let times: Vec<String> = times.iter().map(|(pass, time)| format!("{pass} {time:.1}")).collect();
                println!("  {}: {}", setting.name(), times.join(", "));
            }
        }
    }
}

/// Measures glass with render passes alone, and with compute passes where possible.
///
/// # Errors
/// A line that says why nothing can be measured.
pub fn measure(options: &Options) -> Result<(), String> {
    let settings: &[Setting] = if options.filters { &FILTERS } else { &GLASS };
    let ours = [Method::OursFragment, Method::OursMixed];
    let (mut gpu, mut rows) = (None, Vec::new());
    for method in ours.into_iter().filter(|method| options.methods.contains(method)) {
        let backend = method.backend().unwrap_or_default();
        for (size, format) in options
            .sizes
            .iter()
            .flat_map(|size| options.formats.iter().map(move |f| (size, f)))
        {
            for sigma in &options.sigmas {
                let ([width, height], format_name, method_name) = (size, format.name(), method.name());
                println!("{width}x{height} {format_name} sigma {sigma}, {method_name}");
                let mut screen = Screen::new(backend, (*size).into(), *format, *sigma as f32, options.passes)?;
                let times = take_turns(&mut screen, settings, options.runs().div_ceil(ROUNDS))?;
                print_table(settings, &times);
                rows.extend(settings.iter().zip(times).skip(1).map(|(setting, time)| Row {
                    size: format!("{width}x{height}"),
                    format: format_name,
                    sigma: *sigma,
                    method: method_name,
                    setting: setting.name(),
                    median_us: report::rounded(time),
                }));
                gpu = Some(screen.gpu.clone());
            }
        }
    }
    match (&options.json, gpu) {
        (Some(path), Some(gpu)) => report::write_json(path, &gpu, options, &rows),
        _ => Ok(()),
    }
}

/// The median time of every setting in microseconds, less the time of a frame without any blur.
fn take_turns(screen: &mut Screen, settings: &[Setting], count: usize) -> Result<Vec<f64>, String> {
    let mut times = vec![Vec::new(); settings.len()];
    for _ in 0..ROUNDS {
        for (setting, times) in settings.iter().zip(&mut times) {
            times.extend(screen.time(*setting, count)?);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    Ok(medians.iter().map(|median| median - medians[0]).collect())
}

fn print_table(settings: &[Setting], times: &[f64]) {
    println!(
        "{:<24}{:>12}{:>20}{:>14}",
        "setting", "median us", "to the camera blur", "UI passes"
    );
    for (setting, time) in settings.iter().zip(times).skip(1) {
        let (name, ratio, passes) = (setting.name(), time / times[1], setting.interface_passes());
        println!("{name:<24}{time:>12.1}{ratio:>20.2}{passes:>14}");
    }
    println!();
}
