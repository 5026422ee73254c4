//! All stages of all possible plans: everything to compile. They are found by planning at every sigma that adds an
//! octave or changes a kernel's program. That takes some milliseconds, so every list is made once.

use super::BlurPlan;
use super::axis::boundaries;
use super::pass::{Finish, Means, Pass, PlanRequest, Stage};
use crate::mailbox::lock;
use crate::program::Tiling;
use crate::settings::EdgeMode;
use bevy::math::{URect, UVec2, Vec2, Vec2Swizzles};
use bevy::platform::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// More octaves bring no other passes: the first pass does up to two, and another one up to three.
const MOST_OCTAVES: u32 = 5;

/// Largest sigmas of up to this many octaves produce all passes of sigma levels, which may have more octaves than the
/// largest sigma.
const MOST_OCTAVES_OF_SIGMA_LEVELS: u32 = 2;

/// The weaker axis gets its first octave together with the first octave of the stronger axis, after it, together with
/// its second one, or never, and is then blurred or not.
const ASPECTS_OF_SIGMA_LEVELS: [f32; 5] = [1.0, 0.75, 0.5, 0.1, 0.0];

/// Sides so large that no edge mode limits sigma, and images are few: of pictures whose first passes differ.
const SIDES: [u32; 2] = [2048, 4096];

/// The stages of plans, with a sigma that varies or not.
type Lists = HashMap<(Means, Finish, bool), Vec<Stage>>;

/// The stages of all plans of these means, with a sigma that varies or not, whatever their sigmas, sizes and edge modes. Blurs with
/// equal strength along x and y come first, weak ones before strong ones.
pub fn stages(means: Means, finish: Finish, varies: bool) -> Vec<Stage> {
    static LISTS: LazyLock<Mutex<Lists>> = LazyLock::new(Mutex::default);
    let mut lists = lock(&LISTS);
    let list = lists.entry((means, finish, varies)).or_insert_with(|| match varies {
        true => find(means, finish, varying_sigmas(means), BlurPlan::varying),
        false => find(means, finish, sigmas(means), BlurPlan::new),
    });
    list.clone()
}

/// The sigmas at which plans differ.
fn sigmas(means: Means) -> Vec<Vec2> {
    let boundaries = |octaves| boundaries(octaves, means);
    let mut sigmas: Vec<Vec2> = (0..=MOST_OCTAVES).flat_map(boundaries).map(Vec2::splat).collect();
    for octaves in 0..=MOST_OCTAVES {
        let weaker = (0..octaves).flat_map(boundaries);
        let strong = boundaries(octaves);
        let uneven = weaker.map(|weak| Vec2::new(strong[0], weak));
        let uneven = uneven.chain(strong.iter().map(|strong| Vec2::new(*strong, 0.0)));
        sigmas.extend(uneven.flat_map(|sigma| [sigma, sigma.yx()]));
    }
    sigmas
}

/// The largest sigmas at which plans of varying ones differ.
fn varying_sigmas(means: Means) -> Vec<Vec2> {
    let boundaries = |octaves| boundaries(octaves, means);
    let largest = (0..=MOST_OCTAVES_OF_SIGMA_LEVELS).flat_map(boundaries);
    let sigmas = largest.flat_map(|sigma| ASPECTS_OF_SIGMA_LEVELS.map(|aspect| sigma * Vec2::new(1.0, aspect)));
    sigmas.flat_map(|sigma| [sigma, sigma.yx()]).collect()
}

/// The stages of the plans of these sigmas, each once, with one edge mode of each kind that programs distinguish.
fn find(means: Means, finish: Finish, sigmas: Vec<Vec2>, plan: fn(&PlanRequest) -> BlurPlan) -> Vec<Stage> {
    // Only tiles distinguish whether a constant outside is empty.
    let is_tiled = means.tiling != Tiling::None;
    let edges = EdgeMode::KINDS.into_iter();
    let edges = edges.filter(|edge| is_tiled || !edge.is_empty_outside());
    let mut stages = Vec::new();
    for ((sigma, edge), side) in sigmas
        .into_iter()
        .flat_map(|sigma| edges.clone().map(move |edge| (sigma, edge)))
        .flat_map(|blur| SIDES.map(|side| (blur, side)))
    {
        let plan = plan(&PlanRequest {
            sigma,
            region: URect::from_corners(UVec2::ZERO, UVec2::splat(side)),
            edge,
            means,
            finish,
        });
        for stage in plan.passes.iter().map(Pass::stage) {
            if !stages.contains(&stage) {
                stages.push(stage);
            }
        }
    }
    stages
}
