//! Random trees of boxes with glass and filters, against the float64 compositor, pixel by pixel.
//!
//! Every tree has its own seed. A failure is reduced to the nodes that it needs, and printed with its seed; its pictures are
//! written as those of other failures. Environment variables:
//!
//! - `BLUR_TREES`: the number of trees of all tests together; `scripts/soak` takes more.
//! - `BLUR_TREE_SEED`: the first seed. The four tests take seeds in turn, so with `BLUR_TREES=1` the test that has shown a seed
//!   shows its tree alone.
//! - `BLUR_HISTORIES`: the number of trees that are morphed out of others.
//! - `BLUR_TREES_WITHOUT`: features that trees do without, by their names in [`Feature`], with commas between them.

mod browser;
mod describe;
mod features;
mod generate;
mod histories;
mod named;
mod reduce;
mod show;
mod spaces;
mod spawn;
mod stamps;

use crate::random::number;
use crate::support::pictures;
use crate::support::prelude::*;
use crate::support::reference::Ramp;
use crate::support::reference::tree::{Glass, Node, Tree};
use features::Feature;
use generate::generate;
use show::{CAMERAS, SIZES, Screen, Verdict};
use std::collections::VecDeque;

/// The frames that are on their way while others are compared.
const IN_FLIGHT: usize = 3;

/// The number of the camera that shows the tree of a seed.
fn place(seed: u64) -> usize {
    (seed / 4) as usize % CAMERAS
}

/// A tree without nodes for each camera.
fn empty() -> Vec<Tree> {
    let tree = |size| Tree {
        size,
        clear: [0.0, 0.0, 0.0, 1.0],
        nodes: Vec::new(),
    };
    SIZES.into_iter().cycle().take(CAMERAS).map(tree).collect()
}

/// The switch of blurs.
fn switch_of(is_off: bool) -> BlurSwitch {
    if is_off { BlurSwitch::Off } else { BlurSwitch::On }
}

/// Shows random trees, several in every frame, and compares each with the compositor.
fn compare(name: &str, backend: BlurBackend, format: TextureFormat) {
    let mut screen = Screen::new(backend, format);
    // The first glass that varies starts to compile its pipelines.
    let mut trees = empty();
    let varying = Glass {
        ramp: Some(Ramp {
            start: [0.0; 2],
            end: [1.0; 2],
            from: 0.0,
            to: 1.0,
        }),
        ..Glass::new(2.0)
    };
    trees[0].nodes.push(Node {
        glass: Some(varying),
        ..Node::new([8.0; 2], [32.0; 2], [0.0; 4])
    });
    let shot = screen.show_settled(&trees);
    assert!(
        !screen.judge(shot, &trees).is_wrong(),
        "{name}: the first glass that varies"
    );
    screen.warm_up();
    let first = number("BLUR_TREE_SEED", 1);
    let turn = u64::from(format == HDR) + 2 * u64::from(backend == BlurBackend::Compute);
    let seeds: Vec<u64> = (first..first + number("BLUR_TREES", 600))
        .filter(|seed| seed % 4 == turn)
        .collect();
    let without = Feature::left_out();
    let mut frames = VecDeque::new();
    let mut verdict = Verdict::default();
    let mut batches = seeds.chunk_by(|one, other| place(*one) < place(*other));
    loop {
        let batch = batches.next();
        if let Some(batch) = batch {
            let mut trees = empty();
            for seed in batch {
                trees[place(*seed)] = generate(*seed, place(*seed), format == HDR, &without);
            }
            // Blurs are off for one batch of six.
            screen.set_switch(switch_of(batch[0] / (4 * CAMERAS as u64) % 6 == 5));
            frames.push_back((batch, screen.show(&trees), trees));
        }
        if batch.is_some() && frames.len() <= IN_FLIGHT {
            continue;
        }
        let Some((seeds, shot, trees)) = frames.pop_front() else {
            break;
        };
        let is_off = shot.is_off;
        let seen = screen.judge(shot, &trees);
        if seen.is_wrong() {
            screen.set_switch(switch_of(is_off));
            reduce::report(name, &mut screen, &without, seeds, trees);
        }
        for seed in seeds {
            let texels = seen.shown[place(*seed)].texels.iter().flatten();
            let bits: Vec<u64> = texels.map(|value| value.to_bits()).collect();
            pictures::record(&format!("tree {seed}"), bits);
        }
        verdict.add(&seen);
    }
    screen.set_switch(BlurSwitch::On);
    report::row(
        &format!("random trees, {name}"),
        &format!(
            "{} trees from seed {first} on, {} panes, {} filters, the worst pixel {:.2}/255",
            seeds.len(),
            verdict.panes,
            verdict.filters,
            verdict.worst * 255.0,
        ),
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
