//! Jobs without a GPU: every transition, and what is shown whatever happens.

use super::super::job::{BlurJob, BlurState};
use super::super::request::{BlurRequest, Work};
use super::super::shown::{Drawable, Prepare, Shown};
use crate::errors::BlurError;
use crate::formats::Ends;
use crate::settings::{BlurProfile, EdgeMode};
use crate::sigma_field::{Mask, SigmaField};
use bevy::asset::uuid::Uuid;
use bevy::asset::{AssetId, Handle};
use bevy::math::{Affine2, UVec2, Vec2};
use bevy::render::render_resource::{TextureFormat, TextureId};
use proptest::prelude::*;

/// A prepared request that holds nothing.
#[derive(Debug)]
struct Fake {
    request: BlurRequest,
    was_drawn: bool,
    has_textures: bool,
}

impl Drawable for Fake {
    fn request(&self) -> &BlurRequest {
        &self.request
    }

    fn request_mut(&mut self) -> &mut BlurRequest {
        &mut self.request
    }

    fn take_request(&mut self, request: BlurRequest) {
        self.request = request;
    }

    fn was_drawn(&self) -> bool {
        self.was_drawn
    }

    fn retire(&mut self) {
        self.was_drawn = false;
    }

    fn release(&mut self) {
        self.has_textures = false;
    }
}

/// The requests that share a pipeline.
fn pipeline(request: &BlurRequest) -> (TextureFormat, bool, u32) {
    let (varies, sigma) = match &request.work {
        Work::Blur { sigma, field, .. } => (field.is_some(), sigma.x),
        _ => unreachable!("the tests request nothing else"),
    };
    (request.ends.source, varies, sigma as u32)
}

/// What a GPU has.
struct FakeGpu {
    has_masks: bool,
    is_mask_target: bool,
    has_memory: bool,
    /// The compiled pipelines.
    compiled: Vec<(TextureFormat, bool, u32)>,
}

impl Default for FakeGpu {
    fn default() -> Self {
        Self {
            has_masks: true,
            is_mask_target: false,
            has_memory: true,
            compiled: Vec::new(),
        }
    }
}

impl FakeGpu {
    fn compile(&mut self, request: &BlurRequest) {
        self.compiled.push(pipeline(request));
    }
}

impl Prepare for FakeGpu {
    type Prepared = Fake;
    type Planned = ();

    fn find_mask(&self, mask: &Mask, _: TextureId) -> Result<Option<Mask>, BlurError> {
        match self.is_mask_target {
            true => Err(BlurError::MaskIsTarget),
            false => Ok(self.has_masks.then(|| mask.clone())),
        }
    }

    fn plan(&mut self, request: &BlurRequest, _: Option<&mut Fake>) -> Result<((), bool), BlurError> {
        Ok(((), self.compiled.contains(&pipeline(request))))
    }

    fn complete(&self, (): (), request: BlurRequest, _: Option<Fake>) -> Fake {
        Fake {
            request,
            was_drawn: false,
            has_textures: false,
        }
    }

    fn is_ready(&self, prepared: &Fake) -> bool {
        self.compiled.contains(&pipeline(&prepared.request))
    }

    fn equip(&mut self, prepared: &mut Fake) -> Result<(), BlurError> {
        if !self.has_memory {
            let (size, format) = (UVec2::ONE, TextureFormat::Rgba8Unorm);
            return Err(BlurError::OutOfMemory { size, format });
        }
        prepared.has_textures = true;
        Ok(())
    }
}

const FORMATS: [TextureFormat; 2] = [TextureFormat::Rgba8UnormSrgb, TextureFormat::Rgba16Float];

fn mask(number: u8) -> BlurProfile {
    let uuid = Uuid::from_u128(number.into());
    BlurProfile::Mask(Handle::Uuid(uuid, core::marker::PhantomData))
}

/// A blur between two ends, in place or not.
fn request(format: TextureFormat, sigma: f32, profile: &BlurProfile, is_fresh: bool) -> BlurRequest {
    let field = SigmaField::new(Some(profile), Vec2::splat(8.0), Affine2::IDENTITY);
    let work = Work::Blur {
        sigma: Vec2::splat(sigma),
        edge: EdgeMode::Clamp,
        field,
    };
    let ends = Ends::of_camera(format, false);
    BlurRequest {
        source_is_fresh: is_fresh,
        ..BlurRequest::whole(ends, target(), work, UVec2::splat(8), UVec2::splat(8))
    }
}

fn target() -> TextureId {
    static TARGET: std::sync::OnceLock<TextureId> = std::sync::OnceLock::new();
    *TARGET.get_or_init(TextureId::new)
}

/// Draws what a job shows, as recording does, and returns it.
fn draw(job: &mut BlurJob<Fake>, gpu: &FakeGpu) -> Option<BlurRequest> {
    if job.shown.current().is_some_and(|current| gpu.is_ready(current)) {
        job.shown = core::mem::take(&mut job.shown).go_on(true);
    }
    let drawn = job.shown.drawn_mut().filter(|drawn| gpu.is_ready(drawn))?;
    assert!(drawn.has_textures, "it took them in this frame");
    drawn.was_drawn = true;
    Some(drawn.request.clone())
}

/// What happens in a frame.
#[derive(Clone, Debug)]
struct Frame {
    format: usize,
    sigma: u8,
    profile: u8,
    event: Event,
    has_masks: bool,
    is_compiled: bool,
    /// Whether the source is sharp again.
    is_fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Nothing,
    /// The blur has nothing to do, pauses, or gives everything back.
    Idle,
    Pause,
    Forget,
    /// The device is lost, or its memory is full.
    Lost,
    NoMemory,
    MaskIsTarget,
}

fn frame() -> impl Strategy<Value = Frame> {
    use Event::{Forget, Idle, Lost, MaskIsTarget, NoMemory, Nothing, Pause};
    let event = prop_oneof![
        12 => Just(Nothing), 1 => Just(Idle), 1 => Just(Pause), 1 => Just(Forget), 1 => Just(Lost), 1 => Just(NoMemory),
        1 => Just(MaskIsTarget)
    ];
    let flags = (prop::bool::weighted(0.6), any::<bool>(), prop::bool::weighted(0.8));
    (0..2_usize, 1..3_u8, 0..4_u8, event, flags).prop_map(
        |(format, sigma, profile, event, (has_masks, is_compiled, is_fresh))| Frame {
            format,
            sigma,
            profile,
            event,
            has_masks,
            is_compiled,
            is_fresh,
        },
    )
}

impl Frame {
    fn request(&self) -> BlurRequest {
        let line = BlurProfile::Linear {
            start: Vec2::ZERO,
            end: Vec2::ONE,
            from: 0.0,
            to: 1.0,
        };
        let profile = match self.profile {
            0 => BlurProfile::Uniform,
            1 => line,
            number => mask(number),
        };
        let sigma = if self.event == Event::Idle {
            0.0
        } else {
            f32::from(self.sigma)
        };
        request(FORMATS[self.format], sigma, &profile, self.is_fresh)
    }

    /// Whether all inputs exist.
    fn is_whole(&self) -> bool {
        self.profile < 2 || self.has_masks
    }
}

fn profile_of(request: &BlurRequest) -> Option<(BlurProfile, Option<Mask>)> {
    let (_, field) = request.work.varying()?;
    Some((field.profile.clone(), field.mask.clone()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_happens_the_right_request_is_shown(frames in prop::collection::vec(frame(), 1..30)) {
        let (mut job, mut gpu) = (BlurJob::<Fake>::default(), FakeGpu::default());
        // The last drawn request that may stand in for another, and whether the job has failed since it succeeded.
        let mut before: Option<BlurRequest> = None;
        let mut failure = None;
        for frame in frames {
            let wanted = frame.request();
            if frame.is_compiled && frame.event != Event::Idle {
                gpu.compile(&wanted);
            }
            gpu.has_masks = frame.has_masks;
            gpu.has_memory = frame.event != Event::NoMemory;
            gpu.is_mask_target = frame.event == Event::MaskIsTarget;
            match frame.event {
                Event::Pause => job.release(),
                Event::Forget => {
                    job.forget();
                    before = before.filter(|before| profile_of(before).is_none_or(|(_, mask)| mask.is_none()));
                }
                Event::Lost => {
                    (job, gpu) = default_on_a_new_device();
                    (before, failure) = (None, None);
                }
                _ => {}
            }
            if matches!(frame.event, Event::Pause | Event::Forget | Event::Lost) {
                prop_assert!(draw(&mut job, &gpu).is_none(), "it rests");
                continue;
            }
            let outcome = job.advance(&mut gpu, wanted.clone());
            let kind = outcome.as_ref().err().map(core::mem::discriminant);
            let is_news = job.settle(outcome.clone()).is_err();
            prop_assert_eq!(is_news, kind.is_some() && kind != failure, "each failure once");
            if kind.is_some() || outcome != Ok(BlurState::Waiting) {
                failure = kind;
            }
            let drawn = draw(&mut job, &gpu);
            if kind.is_some() || frame.event == Event::Idle {
                prop_assert!(drawn.is_none(), "it rests");
                before = None;
                continue;
            }
            let is_ready = gpu.compiled.contains(&pipeline(&wanted));
            let same_ends = before.as_ref().filter(|before| before.ends == wanted.ends);
            match &drawn {
                // The texture that a mask had before stands in for it, too.
                Some(drawn) if *drawn == wanted => {
                    let keeps_profile = before.as_ref().map(profile_of) == Some(profile_of(drawn));
                    prop_assert!(frame.is_whole() || keeps_profile, "without its mask");
                }
                Some(drawn) => {
                    prop_assert!(!(is_ready && frame.is_whole()), "the request is ready");
                    prop_assert!(frame.is_fresh, "a result would be blurred twice");
                    prop_assert_eq!(&drawn.ends, &wanted.ends, "other textures");
                    let is_last = same_ends == Some(drawn);
                    let keeps_profile = before.as_ref().map(profile_of) == Some(profile_of(drawn));
                    prop_assert!(is_last || !frame.is_whole() && keeps_profile, "an older one than the last");
                }
                None => {
                    let is_complete = is_ready && frame.is_whole();
                    prop_assert!(!is_complete && (same_ends.is_none() || !frame.is_fresh), "sharp after blurred");
                }
            }
            before = drawn.or(before.filter(|before| before.ends == wanted.ends && frame.is_fresh));
        }
    }
}

fn default_on_a_new_device() -> (BlurJob<Fake>, FakeGpu) {
    (BlurJob::default(), FakeGpu::default())
}

const FORMAT: TextureFormat = FORMATS[0];

/// A job that has drawn a request.
fn drawn(request: &BlurRequest) -> (BlurJob<Fake>, FakeGpu) {
    let (mut job, mut gpu) = default_on_a_new_device();
    gpu.compile(request);
    assert_eq!(job.advance(&mut gpu, request.clone()), Ok(BlurState::Ready));
    assert_eq!(draw(&mut job, &gpu).as_ref(), Some(request));
    (job, gpu)
}

#[test]
fn a_late_pipeline_is_replaced_by_the_last_request() {
    let [one, other] = [1.0, 2.0].map(|sigma| request(FORMAT, sigma, &BlurProfile::Uniform, true));
    let (mut job, mut gpu) = drawn(&one);
    assert_eq!(job.advance(&mut gpu, other.clone()), Ok(BlurState::Compiling));
    assert_eq!(draw(&mut job, &gpu), Some(one));
    gpu.compile(&other);
    assert_eq!(
        draw(&mut job, &gpu),
        Some(other),
        "in the frame in which it is compiled"
    );
}

#[test]
fn a_result_is_not_blurred_again() {
    let [one, other] = [1.0, 2.0].map(|sigma| request(FORMAT, sigma, &BlurProfile::Uniform, false));
    let (mut job, mut gpu) = drawn(&one);
    assert_eq!(job.advance(&mut gpu, other), Ok(BlurState::Compiling));
    assert_eq!(draw(&mut job, &gpu), None);
}

#[test]
fn a_missing_mask_keeps_the_profile() {
    let [first, second] = [2, 3].map(|number| request(FORMAT, 1.0, &mask(number), true));
    let (mut job, mut gpu) = drawn(&first);
    gpu.has_masks = false;
    assert_eq!(job.advance(&mut gpu, second.clone()), Ok(BlurState::Waiting));
    assert_eq!(draw(&mut job, &gpu), Some(first.clone()));
    job.release();
    assert_eq!(job.advance(&mut gpu, second.clone()), Ok(BlurState::Waiting));
    assert_eq!(draw(&mut job, &gpu), Some(first), "also after a pause");
    gpu.has_masks = true;
    assert_eq!(job.advance(&mut gpu, second.clone()), Ok(BlurState::Ready));
    assert_eq!(draw(&mut job, &gpu), Some(second));
}

#[test]
fn a_forgotten_job_holds_no_mask_and_waits_for_the_next_one() {
    let [first, second] = [2, 3].map(|number| request(FORMAT, 1.0, &mask(number), true));
    for forget in [BlurJob::forget, |job: &mut BlurJob<Fake>| {
        let idle = request(FORMAT, 0.0, &BlurProfile::Uniform, true);
        assert_eq!(job.advance(&mut FakeGpu::default(), idle), Ok(BlurState::Nothing));
    }] {
        let (mut job, mut gpu) = drawn(&first);
        forget(&mut job);
        let held = job.shown.newest_mut().and_then(|spare| profile_of(&spare.request));
        assert_eq!(held.and_then(|(_, mask)| mask), None);
        assert!(job.shown.newest_mut().is_some_and(|spare| !spare.has_textures));
        gpu.has_masks = false;
        assert_eq!(job.advance(&mut gpu, second.clone()), Ok(BlurState::Waiting));
        assert_eq!(draw(&mut job, &gpu), None);
    }
}

#[test]
fn a_job_inherits_what_another_one_shows() {
    let [first, second] = [2, 3].map(|number| request(FORMAT, 1.0, &mask(number), true));
    let (job, mut gpu) = drawn(&first);
    let uniform = request(FORMAT, 1.0, &BlurProfile::Uniform, true);
    gpu.compile(&uniform);
    gpu.has_masks = false;
    let mut after = BlurJob::after(Some(&job));
    assert_eq!(after.advance(&mut gpu, second.clone()), Ok(BlurState::Waiting));
    assert_eq!(draw(&mut after, &gpu), Some(first));
    let mut after = BlurJob::after_uniform();
    assert_eq!(after.advance(&mut gpu, second.clone()), Ok(BlurState::Waiting));
    assert_eq!(draw(&mut after, &gpu), Some(uniform));
    let mut after = BlurJob::after(None);
    assert_eq!(after.advance(&mut gpu, second), Ok(BlurState::Waiting));
    assert_eq!(draw(&mut after, &gpu), None);
}

#[test]
fn a_failure_ends_what_is_shown_and_is_reported_once() {
    let one = request(FORMAT, 1.0, &BlurProfile::Uniform, true);
    let (mut job, mut gpu) = drawn(&one);
    gpu.has_memory = false;
    for is_news in [true, false] {
        let outcome = job.advance(&mut gpu, one.clone());
        assert_eq!(job.settle(outcome).is_err(), is_news);
        assert_eq!(draw(&mut job, &gpu), None);
    }
    job.forget_failures();
    let outcome = job.advance(&mut gpu, one.clone());
    assert!(job.settle(outcome).is_err(), "it is about other images");
    gpu.has_memory = true;
    let outcome = job.advance(&mut gpu, one.clone());
    assert_eq!(job.settle(outcome), Ok(BlurState::Ready));
    assert_eq!(draw(&mut job, &gpu), Some(one));
}

#[test]
fn each_transition_leads_where_its_name_says() {
    let all = || {
        [
            Shown::Nothing { spare: None },
            Shown::Nothing { spare: Some(1) },
            Shown::Request(1),
            Shown::Soon { next: 2 },
            Shown::Last { next: 2, last: 1 },
        ]
    };
    let spares = [None, Some(1), Some(1), Some(2), Some(1)];
    assert_eq!(all().map(Shown::rest), spares.map(|spare| Shown::Nothing { spare }));
    assert_eq!(all().map(|shown| shown.last().copied()), spares);
    let newest = [None, Some(1), Some(1), Some(2), Some(2)];
    assert_eq!(all().map(|mut shown| shown.newest_mut().copied()), newest);
    let [.., last] = all();
    assert_eq!(last.without_last(), Shown::Soon { next: 2 });
    for (shown, newest) in all().into_iter().zip(newest).skip(1) {
        assert_eq!(Some(shown.go_on(true)), newest.map(Shown::Request));
    }
    let ways = |is_ready| all().map(|shown| shown.make_way(is_ready, |request| *request == 1));
    let none = [(None, None)];
    assert_eq!(ways(true)[..1], none);
    assert_eq!(ways(true)[1..], [1, 1, 2, 2].map(|spare| (Some(spare), None)));
    let late = [(None, Some(1)), (None, Some(1)), (Some(2), None), (Some(2), Some(1))];
    assert_eq!(ways(false)[..1], none);
    assert_eq!(ways(false)[1..], late);
}

/// The id of an image asset is all that a request keeps of a mask that is an asset.
#[test]
fn a_request_names_its_mask() {
    let AssetId::Uuid { uuid } = AssetId::<bevy::image::Image>::from(Uuid::from_u128(2)) else {
        panic!("it was made from one");
    };
    let mut request = request(FORMAT, 1.0, &mask(2), true);
    let named = AssetId::Uuid { uuid };
    assert_eq!(request.mask_mut(), Some(&mut Mask::Image(named)));
    assert!(request.drop_mask() && !request.drop_mask());
    assert_eq!(request.mask_mut(), None);
}
