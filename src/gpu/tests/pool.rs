//! The pool without a GPU: textures are numbers.

use super::super::pool::{Need, Pool, TextureKind, User, bytes, without_powers};
use crate::errors::BlurError;
use crate::plan::pack::PageSet;
use bevy::math::UVec2;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use core::time::Duration;
use proptest::prelude::*;

const LIMIT: u32 = 4096;

const KINDS: [TextureKind; 2] = [kind(TextureFormat::Rgba16Float), kind(TextureFormat::Rgba8Unorm)];

const fn kind(format: TextureFormat) -> TextureKind {
    TextureKind {
        format,
        usages: TextureUsages::RENDER_ATTACHMENT,
    }
}

/// A pool of numbers, and all that was made.
#[derive(Default)]
struct Model {
    pool: Pool<u32>,
    made: Vec<(UVec2, TextureKind)>,
    /// The textures that each plan took last, by its number.
    taken: HashMap<usize, Vec<u32>>,
    /// What each frame used, with its time.
    frames: Vec<(Duration, u64)>,
}

/// What a plan takes: textures of some sizes.
#[derive(Clone, Debug)]
struct Plan {
    number: usize,
    kind: usize,
    sizes: Vec<UVec2>,
    pages: Option<u32>,
    /// Whether its last texture is read later.
    is_deferred: bool,
}

impl Plan {
    fn users(&self) -> impl Iterator<Item = User> {
        let last = self.sizes.len() - 1;
        (0..self.sizes.len()).map(move |index| match self.pages {
            Some(set) => User::Page(PageSet("test", [set, 0]), index),
            None if self.is_deferred && index == last => User::Job,
            None => User::Plans,
        })
    }
}

impl Model {
    /// Takes the textures of a plan.
    fn take(&mut self, plan: &Plan) -> Vec<u32> {
        self.pool.begin_plan();
        let before = self.taken.remove(&plan.number).unwrap_or_default();
        let mut taken = Vec::new();
        for ((index, size), user) in plan.sizes.iter().enumerate().zip(plan.users()) {
            let need = Need {
                size: *size,
                kind: KINDS[plan.kind],
                user,
            };
            let made = &mut self.made;
            let create = |size| {
                made.push((size, need.kind));
                Ok((made.len() as u32 - 1, size))
            };
            let texture = self
                .pool
                .take(need, |texture| before.get(index) == Some(texture), LIMIT, create);
            taken.push(texture.expect("nothing fails"));
        }
        self.taken.insert(plan.number, taken.clone());
        taken
    }

    /// Executes a frame. Returns the textures of all its plans.
    fn frame(&mut self, plans: &[Plan], now: Duration) -> Vec<Vec<u32>> {
        let numbers: HashSet<usize> = plans.iter().map(|plan| plan.number).collect();
        self.taken.retain(|number, _| numbers.contains(number));
        let all: Vec<Vec<u32>> = plans.iter().map(|plan| self.take(plan)).collect();
        self.check(plans, &all);
        let used: HashSet<u32> = all.iter().flatten().copied().collect();
        let expected: u64 = used.iter().map(|texture| self.bytes(*texture)).sum();
        assert_eq!(self.pool.give_back(now), expected, "each texture counts once");
        self.frames.push((now, expected));
        let held = self.pool.held();
        assert!(
            used.iter().all(|texture| held.contains(texture)),
            "what a frame used exists in the next"
        );
        let idle: u64 = held
            .iter()
            .filter(|texture| !used.contains(*texture))
            .map(|texture| self.bytes(*texture))
            .sum();
        // A frame counts until a second after the first frame that comes more than a second later.
        let second = Duration::from_secs(1);
        let times = || self.frames.iter().map(|(time, _)| *time);
        let counts = |time: Duration| {
            times()
                .find(|later| *later > time + second)
                .is_none_or(|later| now <= later + second)
        };
        let recent = self.frames.iter().filter(|(time, _)| counts(*time));
        let most = recent.map(|(_, used)| *used).max().unwrap_or(0);
        assert!(idle <= most, "{idle} bytes are idle, frames used {most}");
        all
    }

    fn bytes(&self, texture: u32) -> u64 {
        let (size, kind) = self.made[texture as usize];
        bytes(size, kind)
    }

    /// Every texture is large enough, and has one use at a time.
    fn check(&self, plans: &[Plan], all: &[Vec<u32>]) {
        let mut users: HashMap<u32, (User, usize)> = HashMap::default();
        for ((index, plan), taken) in plans.iter().enumerate().zip(all) {
            assert_eq!(
                taken.iter().collect::<HashSet<_>>().len(),
                taken.len(),
                "a texture twice in {plan:?}"
            );
            for ((texture, size), user) in taken.iter().zip(&plan.sizes).zip(plan.users()) {
                let (made, kind) = self.made[*texture as usize];
                assert!(
                    made.cmpge(*size).all() && kind == KINDS[plan.kind],
                    "{made} for {plan:?}"
                );
                let area = |size: UVec2| u64::from(size.x) * u64::from(size.y);
                assert!(
                    area(made) <= area(*size) * 3 / 2 + 4096,
                    "{made} takes long to clear for {size}"
                );
                if let Some((other, _)) = users.insert(*texture, (user, index)) {
                    assert!(other == user && user != User::Job, "{other:?} and {user:?} share one");
                }
            }
        }
    }
}

fn size() -> impl Strategy<Value = UVec2> {
    let side = prop_oneof![4 => 1..300_u32, 1 => 1..LIMIT];
    let free = (side.clone(), side).prop_map(|(x, y)| UVec2::new(x, y));
    prop_oneof![free, (100..140_u32).prop_map(UVec2::splat)]
}

fn plan() -> impl Strategy<Value = Plan> {
    let sizes = prop::collection::vec(size(), 1..5);
    let pages = prop::option::weighted(0.3, 0..2_u32);
    (0..6_usize, 0..2_usize, sizes, pages, any::<bool>()).prop_map(|(number, kind, sizes, pages, is_deferred)| Plan {
        number,
        kind,
        sizes,
        pages,
        is_deferred,
    })
}

/// The plans of a frame, each by another job.
fn plans() -> impl Strategy<Value = Vec<Plan>> {
    prop::collection::vec(plan(), 0..6).prop_map(|mut plans| {
        let mut seen = HashSet::new();
        plans.retain(|plan| seen.insert(plan.number));
        plans
    })
}

/// The plans of a frame, how many frames are like it, and the milliseconds that each takes.
fn frames() -> impl Strategy<Value = Vec<(Vec<Plan>, usize, u64)>> {
    let time = prop_oneof![3 => 4..40_u64, 1 => 300..6000_u64];
    prop::collection::vec((plans(), 1..5_usize, time), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_frames_need_they_get_and_equal_frames_create_nothing(frames in frames()) {
        let (mut model, mut now) = (Model::default(), Duration::ZERO);
        for (plans, repeats, time) in &frames {
            let mut last = None;
            for repeat in 0..*repeats {
                now += Duration::from_millis(*time);
                let made = model.made.len();
                let taken = model.frame(plans, now);
                if repeat > 0 {
                    prop_assert_eq!(model.made.len(), made, "an equal frame creates a texture");
                }
                // Pages may move to their largest texture once.
                if repeat > 1 {
                    prop_assert_eq!(last.as_ref(), Some(&taken), "an equal frame takes others");
                }
                last = Some(taken);
            }
        }
        let end = now;
        model.frame(&[], end);
        model.frame(&[], end + Duration::from_millis(1001));
        prop_assert!(model.pool.held().is_empty(), "a second after the last use");
    }
}

fn single(number: usize, size: UVec2) -> Plan {
    Plan {
        number,
        kind: 0,
        sizes: vec![size],
        pages: None,
        is_deferred: number == 0,
    }
}

/// A border of a window that is dragged: a size in every frame, at any frame rate.
#[test]
fn a_size_that_changes_in_every_frame_holds_two_frames_worth() {
    for (is_deferred, rate) in [false, true]
        .into_iter()
        .flat_map(|deferred| [30, 144, 1000].map(|rate| (deferred, rate)))
    {
        let mut model = Model::default();
        let sizes = (0..300)
            .chain((0..300).rev())
            .map(|step| UVec2::new(1000 + 2 * step, 700 + step));
        for (frame, size) in (0..).zip(sizes) {
            let plan = Plan {
                is_deferred,
                ..single(1, size)
            };
            model.frame(&[plan], Duration::from_micros(1_000_000 / rate * frame));
            let held: u64 = model.pool.held().iter().map(|texture| model.bytes(*texture)).sum();
            let needed = bytes(UVec2::new(1600, 1000), KINDS[0]);
            assert!(
                held <= 5 * needed / 2,
                "{rate} Hz, frame {frame}: {held} bytes, {needed} needed at most"
            );
        }
        assert!(model.made.len() <= 12, "{rate} Hz: {} textures", model.made.len());
    }
}

/// A frame that loads a level, or the next one of an app that draws when something happens.
#[test]
fn a_long_frame_releases_nothing_that_it_used() {
    let plans = [single(0, UVec2::splat(300)), single(1, UVec2::splat(200))];
    let mut model = Model::default();
    for frame in 0..5 {
        model.frame(&plans, Duration::from_secs(60 * frame));
        assert_eq!(model.made.len(), 2, "frame {frame}");
    }
    // The first frame without a use begins the second.
    model.frame(&[], Duration::from_secs(400));
    assert_eq!(model.pool.held().len(), 2);
    model.frame(&plans, Duration::from_secs(401));
    assert_eq!(model.made.len(), 2);
}

/// Blurs that run in turns keep their textures.
#[test]
fn two_blurs_in_turns_create_nothing() {
    let mut model = Model::default();
    let plans = [UVec2::splat(900), UVec2::splat(300)].map(|size| [single(1, size)]);
    for frame in 0..500 {
        model.frame(&plans[frame % 2], Duration::from_millis(16 * frame as u64));
    }
    assert_eq!(model.made.len(), 2);
}

/// A texture that could not be created takes no place.
#[test]
fn a_failure_leaves_the_pool_as_it_was() {
    let mut model = Model::default();
    let (size, kind) = (UVec2::splat(64), KINDS[0]);
    let need = Need {
        size,
        kind,
        user: User::Job,
    };
    let error = BlurError::OutOfMemory {
        size,
        format: kind.format,
    };
    model.pool.begin_plan();
    let failed = model.pool.take(need, |_| false, LIMIT, |_| Err(error.clone()));
    assert_eq!(failed, Err(error));
    assert!(model.pool.held().is_empty());
    assert_eq!(model.pool.give_back(Duration::ZERO), 0);
}

#[test]
fn sides_are_no_powers_of_two() {
    for side in 1..=LIMIT {
        let UVec2 { x: grown, y } = without_powers(UVec2::new(side, 3), LIMIT);
        assert!(!grown.is_power_of_two() || side == LIMIT, "{side}: {grown}");
        assert!((side..=side + 2).contains(&grown) && grown <= LIMIT, "{side}: {grown}");
        assert_eq!(y, 3);
    }
    let beyond = UVec2::splat(2 * LIMIT);
    assert_eq!(
        without_powers(beyond, LIMIT),
        beyond,
        "a size beyond the limit stays what it is"
    );
}
