//! Jobs without a GPU: which of two requests is drawn, whatever happens, and what is reported.

use super::super::job::{BlurJob, BlurState, Parts, stands_in, takes_over};
use super::super::request::{BlurRequest, Work};
use crate::errors::BlurError;
use crate::formats::Ends;
use crate::settings::{BlurProfile, EdgeMode};
use crate::sigma_field::{Mask, SigmaField};
use bevy::asset::uuid::Uuid;
use bevy::asset::{AssetId, Handle};
use bevy::math::{Affine2, UVec2, Vec2};
use bevy::render::render_resource::{TextureFormat, TextureId};
use proptest::prelude::*;

const FORMATS: [TextureFormat; 2] = [TextureFormat::Rgba8UnormSrgb, TextureFormat::Rgba16Float];

fn mask(number: u8) -> BlurProfile {
    let uuid = Uuid::from_u128(number.into());
    BlurProfile::Mask(Handle::Uuid(uuid, core::marker::PhantomData))
}

/// A profile that needs no mask.
fn line() -> BlurProfile {
    BlurProfile::Linear {
        start: Vec2::ZERO,
        end: Vec2::X,
        from: 0.0,
        to: 1.0,
    }
}

/// A blur between two ends, in place or not.
fn request(format: TextureFormat, sigma: u8, profile: &BlurProfile, is_fresh: bool) -> BlurRequest {
    static TARGET: std::sync::OnceLock<TextureId> = std::sync::OnceLock::new();
    let target = *TARGET.get_or_init(TextureId::new);
    let work = Work::Blur {
        sigma: Vec2::splat(sigma.into()),
        edge: EdgeMode::Clamp,
        field: SigmaField::new(Some(profile), Vec2::splat(8.0), Affine2::IDENTITY),
    };
    let ends = Ends::of_camera(format, false);
    BlurRequest {
        source_is_fresh: is_fresh,
        ..BlurRequest::whole(ends, target, work, UVec2::splat(8), UVec2::splat(8))
    }
}

/// A request, and whether it has been drawn.
type Part = (BlurRequest, bool);

/// Which pipelines are compiled, by format and sigma.
type Compiled = [[bool; 4]; 2];

fn is_ready(request: &BlurRequest, compiled: &Compiled) -> bool {
    let Work::Blur { sigma, .. } = &request.work else {
        panic!("the tests request nothing else");
    };
    request.has_mask() && compiled[usize::from(request.ends.source == FORMATS[1])][sigma.x as usize]
}

/// Turns to a request, and draws what is drawn in its place.
fn turn(parts: &mut Parts<Part>, request: &BlurRequest, compiled: &Compiled) -> Option<BlurRequest> {
    let mut before = parts.take_newest();
    let same = before.take_if(|(before, was_drawn)| takes_over((before, *was_drawn), request));
    let next = same.map_or((request.clone(), false), |(_, was_drawn)| (request.clone(), was_drawn));
    let is_late = !is_ready(request, compiled);
    parts.turn(next, before, |(old, was_drawn), (next, _)| {
        is_late && *was_drawn && stands_in(old, next)
    });
    let Parts { next, last } = parts;
    let drawn = last.as_mut().or(next.as_mut());
    let (drawn, was_drawn) = drawn.filter(|(drawn, _)| is_ready(drawn, compiled))?;
    *was_drawn = true;
    Some(drawn.clone())
}

/// What happens in a frame.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// A request: its format, its sigma, whether the source is sharp again, and whether its mask exists.
    Request(usize, u8, bool, bool),
    /// The job has nothing to do, or has failed.
    Idle,
    /// It is not wanted for a while.
    Pause,
    /// A pipeline is compiled.
    Compile(usize, u8),
}

fn frame() -> impl Strategy<Value = Frame> {
    let request = (
        0..2_usize,
        1..4_u8,
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.8),
    );
    prop_oneof![
        8 => request.prop_map(|(format, sigma, is_fresh, has_mask)| Frame::Request(format, sigma, is_fresh, has_mask)),
        1 => Just(Frame::Idle),
        1 => Just(Frame::Pause),
        3 => (0..2_usize, 1..4_u8).prop_map(|(format, sigma)| Frame::Compile(format, sigma)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_happens_the_right_request_is_drawn(frames in prop::collection::vec(frame(), 1..30)) {
        let (mut parts, mut compiled) = (Parts::default(), Compiled::default());
        // The request that was drawn last, as long as it may stand in for another.
        let mut before: Option<BlurRequest> = None;
        for frame in frames {
            let wanted = match frame {
                Frame::Request(format, sigma, is_fresh, has_mask) => {
                    let profile = if has_mask { line() } else { mask(1) };
                    request(FORMATS[format], sigma, &profile, is_fresh)
                }
                Frame::Compile(format, sigma) => {
                    compiled[format][usize::from(sigma)] = true;
                    continue;
                }
                Frame::Pause | Frame::Idle => {
                    parts.rest();
                    prop_assert!(parts.drawn().is_none(), "it rests");
                    if let (Frame::Idle, Some((_, was_drawn))) = (frame, &mut parts.last) {
                        *was_drawn = false;
                        before = None;
                    }
                    continue;
                }
            };
            let drawn = turn(&mut parts, &wanted, &compiled);
            let may_stand_in = before.take_if(|before| before.ends == wanted.ends && wanted.source_is_fresh);
            match &drawn {
                Some(drawn) if *drawn == wanted => prop_assert!(is_ready(&wanted, &compiled)),
                Some(drawn) => {
                    prop_assert!(!is_ready(&wanted, &compiled), "the request is ready");
                    prop_assert!(may_stand_in.is_some_and(|last| last.plans_like(drawn)), "not the last, or not again");
                }
                None => {
                    prop_assert!(!is_ready(&wanted, &compiled) && may_stand_in.is_none(), "sharp after blurred");
                }
            }
            before = drawn;
        }
    }
}

/// All pairs of requests that a job can hold. Those with small numbers may stand in for others.
fn all_parts() -> [Parts<u8>; 5] {
    let both = [
        (None, None),
        (None, Some(1)),
        (Some(1), None),
        (Some(9), None),
        (Some(9), Some(1)),
    ];
    both.map(|(next, last)| Parts { next, last })
}

#[test]
fn each_turn_leads_where_its_comment_says() {
    let is_small = |old: &u8, _: &u8| *old < 5;
    let turned = |stands_in: fn(&u8, &u8) -> bool| {
        all_parts().map(|mut parts| {
            let before = parts.take_newest();
            let spare = parts.turn(2, before, stands_in);
            assert_eq!(parts.next, Some(2));
            (parts.last, spare)
        })
    };
    let ready = [None, Some(1), Some(1), Some(9), Some(9)].map(|spare| (None, spare));
    assert_eq!(turned(|_, _| false), ready, "nothing stands in for what is compiled");
    let late = [
        (None, None),
        (Some(1), None),
        (Some(1), None),
        (None, Some(9)),
        (Some(1), Some(9)),
    ];
    assert_eq!(turned(is_small), late);
    let drawn = all_parts().map(|parts| parts.drawn().copied());
    assert_eq!(drawn, [None, None, Some(1), Some(9), Some(1)]);
    let rested = all_parts().map(|mut parts| {
        parts.rest();
        assert_eq!(parts.drawn(), None);
        parts.last
    });
    assert_eq!(
        rested,
        [None, Some(1), Some(1), Some(9), Some(1)],
        "what was drawn last"
    );
}

#[test]
fn a_failure_is_reported_once() {
    let (size, format) = (UVec2::ONE, FORMATS[0]);
    let failed = || Err(BlurError::OutOfMemory { size, format });
    let mut job = BlurJob::default();
    for is_news in [true, false] {
        assert_eq!(job.settle(failed()).is_err(), is_news);
        assert!(job.is_idle());
    }
    assert_eq!(job.settle(Ok(BlurState::Waiting)), Ok(BlurState::Waiting));
    assert_eq!(
        job.settle(failed()),
        Ok(BlurState::Nothing),
        "it has not succeeded in between"
    );
    assert_eq!(job.settle(Ok(BlurState::Ready)), Ok(BlurState::Ready));
    assert!(job.settle(failed()).is_err());
}

/// The id of an image asset is all that a request keeps of a mask that is an asset.
#[test]
fn a_request_names_its_mask() {
    let AssetId::Uuid { uuid } = AssetId::<bevy::image::Image>::from(Uuid::from_u128(2)) else {
        panic!("it was made from one");
    };
    let mut request = request(FORMATS[0], 1, &mask(2), true);
    let named = AssetId::Uuid { uuid };
    assert_eq!(request.mask_mut(), Some(&mut Some(Mask::Image(named))));
}
