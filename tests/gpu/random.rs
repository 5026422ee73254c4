//! Random worlds: whatever an app does, in whatever order, no blur ends it, reports an error twice, shows a wrong
//! picture or leaks.
//!
//! A run is a list of [steps](step), made from a seed. A failure is shrunk to the steps that it needs, which are
//! printed together with the seed. `BLUR_RANDOM_SEED`, `BLUR_RANDOM_CASES` and `BLUR_RANDOM_STEPS` choose others;
//! `scripts/soak` runs many. `BLUR_RANDOM_SHRINK` is the most runs for shrinking.

mod cameras;
mod check;
mod content;
mod filters;
mod recorder;
pub mod settings;
mod step;
mod world;

use crate::support::counters::Held;
use crate::support::headless::Mode;
use crate::support::pool;
use crate::support::prelude::*;
use core::cell::Cell;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use step::{Step, step};
use world::World;

/// A number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text}: a number is wanted"))
    })
}

/// Figures of all worlds that passed.
#[derive(Default)]
struct Tally {
    worlds: Cell<usize>,
    steps: Cell<usize>,
    frames: Cell<usize>,
    compared: Cell<usize>,
}

impl Tally {
    fn add(&self, world: &World) {
        let add = |cell: &Cell<usize>, more: usize| cell.set(cell.get() + more);
        add(&self.worlds, 1);
        add(&self.steps, world.steps);
        add(&self.frames, world.frames);
        add(&self.compared, world.compared);
    }
}

/// What Bevy 0.19 leaks for every three-dimensional camera: the buffers into which it reads back the counts of its
/// light clusters.
const KEPT_BY_BEVY: [&str; 3] = ["buffers", "buffer bytes", "bind groups"];

/// Pipelines are kept. Which kernels get pipelines of their own depends on how often they are drawn; the module `readiness`
/// tests how many there are at most.
const PIPELINES: [&str; 4] = [
    "bind group layouts",
    "render pipelines",
    "compute pipelines",
    "shader modules",
];

/// Runs a world twice. After the second run the world may hold no more than after the first, apart from pipelines. If these
/// compile in the background, an extra run comes first, because Bevy draws less in it.
fn live(steps: &[Step], backend: BlurBackend, mode: Mode, is_flat: bool) -> World {
    let _turn = (!is_flat).then(pool::turn_of_large);
    let mut world = World::new(backend, mode, is_flat);
    let mut except = PIPELINES.to_vec();
    if !is_flat {
        except.extend(KEPT_BY_BEVY);
    }
    let rounds = if world.is_lockstep() { 2 } else { 3 };
    let mut before: Option<Held> = None;
    for round in 1..=rounds {
        steps.iter().for_each(|step| world.take(step));
        world.check();
        world.clear();
        let now = Held::by(&world.headless.app);
        assert_eq!(now.of("bytes of intermediates"), 0, "intermediates are left");
        if let Some(before) = before.replace(now.clone()).filter(|_| round == rounds) {
            now.assert_no_more_than(&before, &except);
        }
    }
    world
}

/// How many worlds of a kind run.
fn cases() -> u64 {
    number("BLUR_RANDOM_CASES", 2)
}

/// Runs random worlds.
fn survive(name: &str, backend: BlurBackend, mode: Mode, offset: u64) {
    survive_steps(name, backend, mode, (offset, cases()), &step().boxed());
}

/// Runs so many random worlds of these steps.
fn survive_steps(
    name: &str,
    backend: BlurBackend,
    mode: Mode,
    (offset, cases): (u64, u64),
    step: &BoxedStrategy<Step>,
) {
    let most = number("BLUR_RANDOM_STEPS", 50) as usize;
    let seed = number("BLUR_RANDOM_SEED", 20) + offset;
    let tally = Tally::default();
    for seed in seed..seed + cases {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let config = Config {
            cases: 1,
            failure_persistence: None,
            max_shrink_iters: number("BLUR_RANDOM_SHRINK", 300) as u32,
            ..Config::default()
        };
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let steps = proptest::collection::vec(step.clone(), most / 2..most + 1);
        let result = runner.run(&steps, |steps| {
            tally.add(&live(&steps, backend, mode, seed % 2 == 0));
            Ok(())
        });
        if let Err(TestError::Fail(reason, steps)) = result {
            panic!("{name}, BLUR_RANDOM_SEED={}: {steps:#?}\n{reason}", seed - offset);
        }
    }
    report::row(
        name,
        &format!(
            "{} steps in {} worlds, seeds {seed} to {}, {} frames, {} pictures compared",
            tally.steps.get(),
            tally.worlds.get(),
            seed + cases - 1,
            tally.frames.get(),
            tally.compared.get()
        ),
    );
}

#[test]
fn worlds_by_render_passes() {
    survive("random worlds, render passes", BlurBackend::Fragment, Mode::Lockstep, 0);
}

#[test]
fn worlds_by_compute_passes() {
    survive(
        "random worlds, compute passes",
        BlurBackend::Compute,
        Mode::Lockstep,
        1_000_000,
    );
}

#[test]
fn worlds_rendered_as_games_are() {
    survive(
        "random worlds, pipelined",
        BlurBackend::Compute,
        Mode::Pipelined,
        2_000_000,
    );
}

/// Half as many: every device takes its second, and memory that drivers keep.
#[test]
fn worlds_that_lose_their_device() {
    survive_steps(
        "random worlds with lost devices",
        BlurBackend::Compute,
        Mode::Lockstep,
        (3_000_000, cases().div_ceil(2)),
        &prop_oneof![30 => step(), 1 => Just(Step::LoseDevice)].boxed(),
    );
}
