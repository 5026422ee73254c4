//! Trees that were morphed out of others, over several frames: they look as in a screen that has never shown anything else.

use super::generate::generate;
use super::show::{CAMERAS, Screen};
use super::{empty, place};
use crate::backdrop::stage::{HDR, LDR};
use crate::random::number;
use crate::support::difference::{worst_difference, write_failure};
use crate::support::reference::tree::{Node, Tree};
use crate::support::report;
use bevy::render::render_resource::TextureFormat;
use bevy_gaussian_blur::prelude::*;

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

/// Morphs trees into others, one on each camera, and compares the pictures with those of a screen that shows each tree alone.
fn compare(name: &str, backend: BlurBackend, format: TextureFormat) {
    let (Some(mut morphing), Some(mut fresh)) = (Screen::new(backend, format), Screen::new(backend, format)) else {
        return;
    };
    morphing.warm_up();
    fresh.warm_up();
    let first = number("BLUR_TREE_SEED", 1);
    let turn = u64::from(format == HDR) + 2 * u64::from(backend == BlurBackend::Compute);
    let seeds: Vec<u64> = (first..first + number("BLUR_HISTORIES", 200))
        .filter(|seed| seed % 4 == turn)
        .collect();
    let mut last = empty();
    for seeds in seeds.chunk_by(|one, other| place(*one) < place(*other)) {
        let mut trees = empty();
        for seed in seeds {
            trees[place(*seed)] = generate(*seed, place(*seed), format == HDR, &[]);
        }
        for frame in 0..3 {
            let on_the_way: [Tree; CAMERAS] = core::array::from_fn(|index| Tree {
                nodes: between(&last[index].nodes, &trees[index].nodes, seeds[0] + frame),
                ..trees[index].clone()
            });
            let switch = if (seeds[0] + frame) % 5 == 0 {
                BlurSwitch::Off
            } else {
                BlurSwitch::On
            };
            morphing.set_switch(switch);
            morphing.morph(&on_the_way);
        }
        morphing.set_switch(BlurSwitch::On);
        morphing.morph(&trees);
        // Then both blur with the pipelines of their kernels, and not with those for any kernel, which round otherwise.
        morphing.settle();
        let got = morphing.pictures();
        fresh.show_anew(&trees);
        fresh.settle();
        let expected = fresh.pictures();
        for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
            // After a history, textures may be larger, where render passes round the places of filtered fetches otherwise.
            let most = if backend == BlurBackend::Fragment {
                1.01 / 255.0
            } else {
                0.0
            };
            if worst_difference(got, expected).value > most {
                let folder = write_failure(&format!("history-{name}-{}-{index}", seeds[0]), got, expected);
                panic!(
                    "{name}: seeds {seeds:?}, camera {index} differs after a history; see {}",
                    folder.display()
                );
            }
        }
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
fn ldr_by_compute_passes() {
    compare("LDR, compute passes", BlurBackend::Compute, LDR);
}

#[test]
fn hdr_by_render_passes() {
    compare("HDR, render passes", BlurBackend::Fragment, HDR);
}

#[test]
fn hdr_by_compute_passes() {
    compare("HDR, compute passes", BlurBackend::Compute, HDR);
}
