//! Plans of fixed seeds as hashes of their numbers. A change that only moves code changes none of them.
//!
//! `BLUR_RECORD=1 cargo test --lib fingerprint` records the current hashes.

use super::random::request;
use super::*;
use crate::plan::batch::{BatchedBlur, together};
use crate::plan::pass::{Needed, Weighting};
use crate::program::Beyond;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fs;

/// How many requests are planned in every way.
const REQUESTS: usize = 48;

/// The longest side of a region with a varying sigma, or of one of several regions.
const SHORT: u32 = 700;

/// A hash of numbers, FNV-1a.
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn line(&self, name: &str) -> String {
        format!("{:016x} {name}\n", self.0)
    }

    fn int(&mut self, number: impl Into<i64>) {
        self.bytes(&number.into().to_le_bytes());
    }

    fn float(&mut self, number: f64) {
        self.bytes(&(number as f32).to_bits().to_le_bytes());
    }

    fn pair(&mut self, pair: UVec2) {
        self.int(pair.x);
        self.int(pair.y);
    }

    fn surface(&mut self, surface: TextureSlot) {
        self.int(match surface {
            TextureSlot::Source => -1,
            TextureSlot::Destination => -2,
            TextureSlot::Intermediate(index) => index as i64,
        });
    }

    fn axis(&mut self, axis: &AxisPass) {
        let (filter, length) = match axis.filter {
            Weighting::Taps => (0, 0),
            Weighting::Weights => (1, 0),
            Weighting::Spline => (2, 0),
            Weighting::Mean(length) => (3, length),
        };
        let edge = EdgeMode::ALL.iter().position(|edge| *edge == axis.edge);
        let images = axis.images.map_or((-1, 0), |images| (images.margin, images.start));
        for number in [
            axis.step,
            axis.shift,
            axis.bounds.0,
            axis.bounds.1,
            axis.reach.0,
            axis.reach.1,
        ] {
            self.int(number);
        }
        for number in [filter, length, axis.octaves, axis.normalize.into(), images.1] {
            self.int(number);
        }
        self.int(images.0);
        self.int(edge.expect("an edge mode") as i64);
        axis.table.iter().for_each(|number| self.float(*number));
    }

    fn program(&mut self, program: Program) {
        self.bytes(program.name().as_bytes());
        for (name, number) in program.numbers() {
            self.bytes(name.as_bytes());
            self.int(number);
        }
        let beyond = match program.beyond() {
            None | Some(Beyond::Clamped) => 0,
            Some(Beyond::Folded) => 1,
            Some(Beyond::Images) => 2,
        };
        self.int(beyond);
        for flag in [program.filters(), program.sums_filtered(), program.serves_any_kernel()] {
            self.int(i64::from(flag));
        }
    }

    fn needed(&mut self, needed: &Needed) {
        self.float(needed.shares.0.into());
        self.float(needed.shares.1.into());
        for i in 0..2 {
            self.int(needed.octaves[i]);
            self.int(needed.first[i]);
            self.int(needed.around[i]);
        }
    }

    fn pass(&mut self, pass: &Pass) {
        self.int(match pass.kind {
            PassKind::Copy => 0,
            PassKind::Mipmap => 1,
            PassKind::Downsample => 2,
            PassKind::Horizontal => 3,
            PassKind::Vertical => 4,
            PassKind::Blur => 5,
            PassKind::Upsample => 6,
            PassKind::Gather => 7,
            PassKind::Blend => 8,
        });
        self.program(pass.program);
        self.surface(pass.source);
        self.surface(pass.target);
        self.pair(pass.origin);
        self.pair(pass.size);
        pass.axes.iter().for_each(|axis| self.axis(axis));
        pass.needed.iter().for_each(|needed| self.needed(needed));
    }

    fn sigma_levels(&mut self, sigma_levels: &SigmaLevels) {
        self.surface(sigma_levels.atlas);
        self.surface(sigma_levels.sums);
        for number in [
            sigma_levels.gathered,
            sigma_levels.cutoff,
            sigma_levels.aspect.x.into(),
            sigma_levels.aspect.y.into(),
            sigma_levels.lines.start,
            sigma_levels.lines.end,
        ] {
            self.float(number);
        }
        self.int(sigma_levels.origin.x);
        self.int(sigma_levels.origin.y);
        for sigma_level in &sigma_levels.levels {
            self.float(sigma_level.sigma);
            self.pair(sigma_level.origin);
            sigma_level.axes.iter().for_each(|axis| self.axis(axis));
        }
    }

    fn plan(&mut self, plan: &BlurPlan) {
        plan.intermediates.iter().for_each(|size| self.pair(*size));
        self.int(plan.passes.len() as i64);
        plan.passes
            .iter()
            .chain(&plan.deferred)
            .for_each(|pass| self.pass(pass));
        plan.sigma_levels
            .iter()
            .for_each(|sigma_levels| self.sigma_levels(sigma_levels));
    }
}

/// Plans, each with the name of the means that it uses.
pub(crate) fn cases() -> Vec<(String, Vec<BlurPlan>)> {
    let config = Config::default();
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut draw = |_| request().new_tree(&mut runner).expect("a request").current();
    let requests: Vec<PlanRequest> = (0..REQUESTS).map(&mut draw).collect();
    let ways = WAYS.into_iter().enumerate();
    let mut cases = vec![("copies and mip levels".to_owned(), exact_plans(&requests))];
    for (precision, (index, way)) in PRECISIONS
        .into_iter()
        .flat_map(|p| ways.clone().map(move |way| (p, way)))
    {
        let means = means(precision, way);
        let name = |what: &str| format!("{what}, way {index} of {precision:?}");
        let with = |finish| {
            requests.iter().map(move |request| PlanRequest {
                means,
                finish,
                ..*request
            })
        };
        let plans = |finish| with(finish).map(|request| BlurPlan::new(&request)).collect();
        let varying = |finish, in_place, converts| {
            let means = Means {
                in_place,
                converts,
                ..means
            };
            let short = with(finish).filter_map(short);
            let varying = short.map(|request| BlurPlan::varying(&PlanRequest { means, ..request }));
            varying.collect()
        };
        let deferred: Vec<PlanRequest> = with(Finish::Defer).filter_map(short).collect();
        cases.extend([
            (name("written"), plans(Finish::Write)),
            (name("left"), plans(Finish::Defer)),
            (name("varying"), varying(Finish::Write, false, false)),
            (name("varying in place"), varying(Finish::Write, true, false)),
            (name("converted in place"), varying(Finish::Write, true, true)),
            (name("varying and left"), varying(Finish::Defer, false, false)),
            (name("together"), plans_together(&deferred)),
        ]);
    }
    cases
}

fn exact_plans(requests: &[PlanRequest]) -> Vec<BlurPlan> {
    let plans = |request: &PlanRequest| {
        let (region, size) = (request.region, request.region.size());
        [
            BlurPlan::copy(region, request.finish),
            BlurPlan::mipmap(size, (size / 2).max(UVec2::ONE)),
        ]
    };
    requests.iter().flat_map(plans).collect()
}

/// The same request for a shorter region, if its sigma is finite and at least 0.
fn short(request: PlanRequest) -> Option<PlanRequest> {
    let URect { min, max } = request.region;
    let region = URect {
        min,
        max: max.min(min + UVec2::splat(SHORT)),
    };
    (request.sigma.is_finite() && request.sigma.min_element() >= 0.0).then_some(PlanRequest { region, ..request })
}

/// Batches of plans, of which every other one is read in part.
fn plans_together(requests: &[PlanRequest]) -> Vec<BlurPlan> {
    let plans: Vec<BlurPlan> = requests.iter().map(BlurPlan::new).collect();
    let region = |(index, request): (u32, &PlanRequest)| {
        let inset = (request.region.size() / 3) * (index % 2);
        URect {
            min: request.region.min + inset,
            max: request.region.max - inset / 2,
        }
    };
    let regions = (0..).zip(requests).map(region);
    let shown = |region| BatchedBlur {
        region,
        ..Default::default()
    };
    let items: Vec<BatchedBlur> = regions.map(shown).collect();
    let wholes = items
        .chunks(9)
        .zip(plans.chunks(9))
        .flat_map(|(items, plans)| [900, 8192].map(|limit| together(items, plans, limit)));
    wholes.collect()
}

/// Compares a fingerprint with the recorded one, or records it.
pub(crate) fn compare(file: &str, found: &str) {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLUR_RECORD").is_some() {
        fs::write(&path, found).expect("the file can be written");
    }
    let recorded = fs::read_to_string(&path).expect("a fingerprint has been recorded");
    let changed: Vec<&str> = found.lines().filter(|line| !recorded.contains(line)).collect();
    assert!(
        changed.is_empty() && recorded.len() == found.len(),
        "{path} was recorded with other numbers than there are:\n{}",
        changed.join("\n")
    );
}

#[test]
fn plans_have_their_fingerprint() {
    let mut found = String::new();
    for (name, plans) in cases() {
        let mut hash = Hash::new();
        plans.iter().for_each(|plan| hash.plan(plan));
        found.push_str(&hash.line(&name));
    }
    compare("src/plan/tests/fingerprint.txt", &found);
}
