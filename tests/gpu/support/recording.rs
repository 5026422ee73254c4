//! A render system of the tests that records blurs.

use super::prelude::*;
use bevy::render::renderer::{RenderContext, RenderGraph, RenderGraphSystems};
use bevy::render::{Extract, ExtractSchedule, Render, RenderSystems};
use bevy_gaussian_blur::recorder::{
    BlurState, BlurTexture, TextureBlur, TextureBlurRecorder, TextureBlurRequest, TextureBlurs,
};

/// An image, or one layer of one of its mip levels.
#[derive(Clone, Debug)]
pub struct Shown {
    pub image: Handle<Image>,
    /// The mip level, the layer and the format of a separate view.
    pub view: Option<(u32, u32, TextureFormat)>,
}

impl From<&Handle<Image>> for Shown {
    fn from(image: &Handle<Image>) -> Self {
        Self {
            image: image.clone(),
            view: None,
        }
    }
}

impl Shown {
    fn texture(&self, images: &RenderAssets<GpuImage>) -> Option<BlurTexture> {
        let image = images.get(&self.image)?;
        Some(match self.view {
            Some((level, layer, format)) => BlurTexture::of_layer(&image.texture, format, level, layer),
            None => BlurTexture::from(image),
        })
    }
}

/// The settings of a request.
#[derive(Clone, Debug)]
pub struct Settings {
    pub region: Option<URect>,
    pub bounds: Option<URect>,
    pub sigma: Vec2,
    pub edge: EdgeMode,
    pub alpha: BlurAlpha,
    pub profile: Option<(BlurProfile, Option<Shown>)>,
    pub dither: bool,
    pub source_is_fresh: bool,
}

impl Settings {
    pub fn new(sigma: f32) -> Self {
        Self {
            region: None,
            bounds: None,
            // The sigma of a `GaussianBlur`, to the bit.
            sigma: Vec2::splat(GaussianBlur::from_sigma(sigma).sigma()),
            edge: EdgeMode::Clamp,
            alpha: BlurAlpha::Premultiplied,
            profile: None,
            dither: false,
            source_is_fresh: true,
        }
    }

    /// Whether a blur into a target of this size has nothing to do: no failure outlasts that.
    fn change_nothing(&self, target: UVec2, in_place: bool) -> bool {
        let all = URect::from_corners(UVec2::ZERO, target);
        let is_empty = self.region.is_some_and(|region| region.intersect(all).is_empty());
        is_empty || in_place && self.sigma.max_element() < 0.03
    }
}

/// A blur that is recorded in every frame, [`turns`](Recording::turns) times, until it has been recorded `most` times.
pub struct Recording {
    pub source: Shown,
    pub target: Shown,
    pub settings: Settings,
    pub blur: TextureBlur,
    /// The last state, and all errors.
    pub state: BlurState,
    pub errors: Vec<BlurError>,
    /// The error since the blur last succeeded.
    failing: Option<BlurError>,
    /// How often it was recorded.
    pub recorded: usize,
    /// How often it is recorded at most.
    pub most: usize,
    /// Records into this image instead of the image that it is prepared for.
    pub records_into: Option<Shown>,
    /// The number of frames in which it is prepared. Recording continues after that.
    pub rests_after: usize,
    /// How often it is recorded in a frame.
    pub turns: usize,
    pub label: Option<BlurLabel>,
    textures: Option<[BlurTexture; 2]>,
}

impl Recording {
    pub fn new(source: impl Into<Shown>, target: impl Into<Shown>, settings: Settings) -> Self {
        Self {
            source: source.into(),
            target: target.into(),
            settings,
            blur: TextureBlur::default(),
            state: BlurState::Nothing,
            errors: Vec::new(),
            failing: None,
            recorded: 0,
            most: 1,
            records_into: None,
            rests_after: usize::MAX,
            turns: 1,
            label: None,
            textures: None,
        }
    }
}

/// The blurs that the main world requests in every frame, in the order of recording.
#[derive(Resource, Clone, Default)]
pub struct WantedRecordings(pub Vec<(Shown, Shown, Settings)>);

/// Adds the system and makes it follow [`WantedRecordings`], for apps whose render world is on another thread.
pub fn follow_recordings(app: &mut App) {
    add_recorder(app);
    app.init_resource::<WantedRecordings>();
    app.sub_app_mut(RenderApp)
        .add_systems(ExtractSchedule, extract)
        .add_systems(Render, follow.in_set(RenderSystems::PrepareResources));
}

fn extract(mut commands: Commands, wanted: Extract<Res<WantedRecordings>>) {
    commands.insert_resource(wanted.clone());
}

fn follow(wanted: Res<WantedRecordings>, mut recordings: ResMut<Recordings>) {
    recordings.0.truncate(wanted.0.len());
    for (index, (source, target, settings)) in wanted.0.iter().cloned().enumerate() {
        match recordings.0.get_mut(index) {
            Some(known) => (known.source, known.target, known.settings) = (source, target, settings),
            None => recordings.0.push(Recording {
                most: usize::MAX,
                ..Recording::new(source, target, settings)
            }),
        }
    }
}

/// All blurs of the system, recorded in this order.
#[derive(Resource, Default)]
pub struct Recordings(pub Vec<Recording>);

/// Adds the system to an app.
pub fn add_recorder(app: &mut App) {
    app.sub_app_mut(RenderApp)
        .init_resource::<Recordings>()
        .add_systems(Render, prepare.in_set(RenderSystems::PrepareBindGroups))
        .add_systems(RenderGraph, record.in_set(RenderGraphSystems::Render));
}

fn prepare(mut recordings: ResMut<Recordings>, images: Res<RenderAssets<GpuImage>>, mut blurs: TextureBlurs) {
    for recording in &mut recordings.0 {
        let ends = [&recording.source, &recording.target].map(|end| end.texture(&images));
        let [Some(source), Some(target)] = ends else {
            continue;
        };
        let into = recording.records_into.as_ref().and_then(|shown| shown.texture(&images));
        let recorded = [source.clone(), into.unwrap_or_else(|| target.clone())];
        recording.textures = Some(recorded);
        if recording.rests_after == 0 {
            continue;
        }
        recording.rests_after -= 1;
        let settings = &recording.settings;
        let profile = settings.profile.as_ref();
        let mask = profile.and_then(|(_, mask)| mask.as_ref()?.texture(&images));
        let request = TextureBlurRequest {
            region: settings.region,
            bounds: settings.bounds,
            edge: settings.edge,
            alpha: settings.alpha,
            profile: profile.map(|(profile, _)| (profile, mask.as_ref())),
            dither: settings.dither,
            source_is_fresh: settings.source_is_fresh,
            ..TextureBlurRequest::new(&source, &target, settings.sigma)
        };
        match blurs.prepare(&mut recording.blur, &request) {
            Ok(state) => {
                let in_place = recording.source.image == recording.target.image;
                if state != BlurState::Nothing || settings.change_nothing(target.size(), in_place) {
                    recording.failing = None;
                }
                recording.state = state;
            }
            Err(error) => {
                assert_ne!(recording.failing.as_ref(), Some(&error), "said again");
                recording.failing = Some(error.clone());
                recording.errors.push(error);
            }
        }
    }
}

fn record(mut recordings: ResMut<Recordings>, recorder: TextureBlurRecorder, mut context: RenderContext) {
    for recording in &mut recordings.0 {
        let Some([source, target]) = recording.textures.take() else {
            continue;
        };
        for _ in 0..recording.turns {
            let label = recording.label.as_ref();
            if recording.recorded < recording.most
                && recorder.record(&mut recording.blur, &mut context, &source, &target, label)
            {
                recording.recorded += 1;
            }
        }
    }
}

/// Ends all recordings of an app, which need not have the system.
pub fn forget(app: &mut App) {
    let world = app.sub_app_mut(RenderApp).world_mut();
    if let Some(mut recordings) = world.get_resource_mut::<Recordings>() {
        recordings.0.clear();
    }
}

impl Headless {
    /// The blurs that the render world records.
    pub fn recordings(&mut self) -> Mut<'_, Recordings> {
        let world = self.app.sub_app_mut(RenderApp).world_mut();
        world.resource_mut::<Recordings>()
    }

    /// Runs frames until all blurs are recorded, in this order within a frame.
    pub fn record_all(&mut self, recordings: Vec<Recording>) {
        let count = recordings.len();
        self.recordings().0 = recordings;
        for _ in 0..200 {
            self.frame();
            if self.recordings().0.iter().all(|recording| recording.recorded > 0) {
                return;
            }
        }
        let found = self.recordings();
        let unfinished = found.0.iter().filter(|recording| recording.recorded == 0);
        let states: Vec<_> = unfinished.map(|it| (it.state, it.errors.clone())).collect();
        panic!("{count} blurs, not all of which were recorded in 200 frames: {states:?}");
    }

    /// The same with one blur.
    pub fn record_one(&mut self, source: impl Into<Shown>, target: impl Into<Shown>, settings: Settings) {
        self.record_all(vec![Recording::new(source, target, settings)]);
    }
}
