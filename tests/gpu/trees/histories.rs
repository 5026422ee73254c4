//! Trees that were morphed out of others, over several frames: they look as in a screen that has never shown anything else.
//!
//! On the way, glass is frozen and thaws, and blurs are off for some frames. In a third of the histories, pipelines that an app compiles
//! with the first use are late: until they are compiled, everything that needs none of them is right.

use super::describe::describe;
use super::features::{change, count};
use super::generate::generate;
use super::*;
use crate::filters::group::measured;
use crate::filters::missing::Painted;
use crate::support::difference::write_failure;
use crate::support::headless::label_of;
use crate::support::pool;
use bevy::render::render_resource::PipelineDescriptor;

/// A standard deviation that blurs, but nothing that could be seen.
const UNSEEN: f64 = 0.06;

/// A tree on the way from one to another: of every pair of nodes, one or the other.
fn between(from: &[Node], to: &[Node], seed: u64) -> Vec<Node> {
    let mut all = Vec::new();
    for index in 0..from.len().max(to.len()) {
        let coin = seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(index as u32 * 7 + 3)
            % 3;
        let (one, other) = (from.get(index), to.get(index));
        let Some(chosen) = [one, other, other.or(one)][coin as usize] else {
            continue;
        };
        let children = |node: Option<&Node>| node.map_or(Vec::new(), |node| node.children.clone());
        let mut node = Node {
            children: between(&children(one), &children(other), seed.wrapping_add(index as u64 + 1)),
            ..chosen.clone()
        };
        // Settings are eased, which also leaves and crosses what counts as neutral.
        if let (Some(filter), Some(target)) = (&mut node.filter, other.and_then(|node| node.filter.as_ref())) {
            filter.opacity = 0.5 * (filter.opacity + target.opacity);
            filter.sigma = [0, 1].map(|axis| 0.5 * (filter.sigma[axis] + target.sigma[axis]));
        }
        // Bevy orders such nodes at random if they have the same place.
        node.global_z = None;
        all.push(node);
    }
    all
}

/// Whether the first lens, the first shadow inside of a group, or the first blur that varies is what compiles a pipeline.
fn is_first_use(pipeline: &PipelineDescriptor) -> bool {
    let label = label_of(pipeline).unwrap_or_default();
    let varies = ["gaussian_blur_blend", "gaussian_blur_gather"]
        .iter()
        .any(|start| label.starts_with(start));
    varies || Painted::of(pipeline).is_some_and(|painted| painted.mix == "ATOP" || painted.source == "lens")
}

/// A tree as it looks without these pipelines. Of its glass with profiles, this blurs without them: a bit for each.
fn without_first_uses(mut tree: Tree, uniform: u32) -> Tree {
    let mut ramps = 0;
    change(&mut tree.nodes, &mut |node, _| {
        if let Some(glass) = &mut node.glass {
            let blurs = glass.sigma.iter().any(|sigma| *sigma > 0.0);
            if glass.ramp.is_some() && blurs {
                glass.is_plain = uniform >> ramps & 1 == 0;
                glass.ramp = None;
                ramps += 1;
            }
            // Flat glass that blurs nothing still covers the shadow of its own node, unless it is no glass with its lens either.
            let refracts = glass.lens.take().is_some_and(|lens| !lens.is_neutral());
            if refracts && glass.sigma == [0.0; 2] {
                glass.sigma = [UNSEEN; 2];
            }
        }
        if let Some(filter) = &mut node.filter {
            // The group stays one, and reads as far.
            for shadow in filter.shadows.iter_mut().filter(|shadow| shadow.is_inset) {
                shadow.color[3] = 0.0;
            }
            if let Some(ramp) = &mut filter.ramp {
                (ramp.from, ramp.to) = (0.0, 0.0);
            }
        }
    });
    tree
}

/// Whether pipelines are late in a batch of histories: in a third of them, several in a row, because holding them back takes a second.
fn is_late(batch: usize) -> bool {
    batch % 6 >= 4
}

/// Whether a picture shows a tree whose glass was there before its profile came, and blurs without it as long as the profile's
/// pipelines are late.
fn keeps_blurring(screen: &Screen, got: &Picture, tree: &Tree) -> bool {
    let varies = |node: &Node| node.glass.as_ref().is_some_and(|glass| glass.ramp.is_some());
    (1..1 << count(&tree.nodes, &varies)).any(|uniform| screen.shows(got, &without_first_uses(tree.clone(), uniform)))
}

/// Asserts that trees look as they do without the pipelines that are late.
fn assert_without_late(name: &str, screen: &Screen, seeds: &[u64], trees: &[Tree]) {
    let plain: Vec<Tree> = trees.iter().map(|tree| without_first_uses(tree.clone(), 0)).collect();
    let mut wrong = screen.judge(screen.shot(), &plain).wrong.into_iter();
    if let Some((index, worst, [got, expected])) =
        wrong.find(|(index, _, [got, _])| !keeps_blurring(screen, got, &trees[*index]))
    {
        let folder = write_failure(&format!("late-{name}-{}-{index}", seeds[0]), &got, &expected);
        let levels = worst.value * 255.0;
        panic!(
            "{name}: seeds {seeds:?}, without late pipelines camera {index} is off: {worst:?}, {levels:.2}/255; see {}\n{}",
            folder.display(),
            describe(&trees[index])
        );
    }
}

/// Asserts that pictures after a history are as without it.
fn assert_alike(
    name: &str,
    (seeds, trees): (&[u64], &[Tree]),
    screens: [&Screen; 2],
    format: TextureFormat,
    is_compute: bool,
) {
    let [got, expected] = screens.map(Screen::pictures);
    for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let (encoded, wanted) = measured(got, expected, format);
        let worst = worst_difference(&encoded, &wanted);
        // After a history, textures may be larger, and filtered fetches then round their positions differently: in render passes, in
        // lenses, and where a picture of a low dynamic range is interpolated as it is painted. A level of eight bits is one of encoded
        // values, which in bright light is more than one of light.
        let refracts = |node: &Node| node.glass.as_ref().is_some_and(|glass| glass.lens.is_some());
        let is_exact = is_compute && format == HDR && count(&trees[index].nodes, &refracts) == 0;
        if worst.value > if is_exact { 0.0 } else { 1.01 / 255.0 } {
            let folder = write_failure(&format!("history-{name}-{}-{index}", seeds[0]), got, expected);
            panic!(
                "{name}: seeds {seeds:?}, camera {index} differs after a history: {worst:?}; see {}\n{}",
                folder.display(),
                describe(&trees[index])
            );
        }
    }
}

/// Morphs trees into others, one on each camera, and compares the pictures with those of a screen that shows each tree alone.
fn compare(name: &str, backend: BlurBackend, format: TextureFormat) {
    let _turn = pool::turn_of_large();
    let [mut morphing, mut fresh] = [(); 2].map(|()| Screen::new(backend, format));
    morphing.warm_up();
    fresh.warm_up();
    let first = number("BLUR_TREE_SEED", 1);
    let turn = u64::from(format == HDR) + 2 * u64::from(backend == BlurBackend::Compute);
    let seeds: Vec<u64> = (first..first + number("BLUR_HISTORIES", 200))
        .filter(|seed| seed % 4 == turn)
        .collect();
    let (mut last, mut is_held) = (empty(), false);
    let batches: Vec<&[u64]> = seeds.chunk_by(|one, other| place(*one) < place(*other)).collect();
    for (batch, seeds) in batches.iter().copied().enumerate() {
        let mut trees = empty();
        for seed in seeds {
            trees[place(*seed)] = generate(*seed, place(*seed), format == HDR, &[]);
        }
        if is_late(batch) && !is_held {
            morphing.hold(is_first_use);
            is_held = true;
        }
        for frame in 0..3 {
            let middle = |(last, tree): (&Tree, &Tree)| Tree {
                nodes: between(&last.nodes, &tree.nodes, seeds[0] + frame),
                ..tree.clone()
            };
            let on_the_way: Vec<Tree> = last.iter().zip(&trees).map(middle).collect();
            morphing.set_switch(switch_of((seeds[0] + frame) % 5 == 0));
            morphing.morph(&on_the_way);
            morphing.freeze(frame);
        }
        morphing.set_switch(BlurSwitch::On);
        morphing.thaw();
        if is_late(batch) {
            morphing.morph_without(&trees, is_first_use);
            assert_without_late(name, &morphing, seeds, &trees);
            last = trees.clone();
            if is_late(batch + 1) && batch + 1 < batches.len() {
                continue;
            }
            morphing.hold(|_| false);
            is_held = false;
        } else {
            morphing.morph(&trees);
        }
        morphing.settle();
        fresh.show_anew(&trees);
        fresh.settle();
        let is_compute = backend == BlurBackend::Compute;
        assert_alike(name, (seeds, &trees), [&morphing, &fresh], format, is_compute);
        last = trees;
    }
    report::row(
        &format!("histories of trees, {name}"),
        &format!("{} histories from seed {first} on", seeds.len()),
    );
}

#[test]
fn ldr_by_render_passes() {
    compare("LDR, render passes", BlurBackend::Fragment, LDR);
}

#[test]
#[ignore = "what is remembered does not depend on the passes: scripts/soak runs it"]
fn ldr_by_compute_passes() {
    compare("LDR, compute passes", BlurBackend::Compute, LDR);
}

#[test]
#[ignore = "what is remembered does not depend on the passes: scripts/soak runs it"]
fn hdr_by_render_passes() {
    compare("HDR, render passes", BlurBackend::Fragment, HDR);
}

#[test]
fn hdr_by_compute_passes() {
    compare("HDR, compute passes", BlurBackend::Compute, HDR);
}
