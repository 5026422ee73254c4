//! Plans with a varying sigma: every sigma level alone, what lies between two of them, and how they fit together.

use super::*;
use crate::plan::pass::Needed;
use crate::program::workgroups::MAX_REACH;
use bevy::math::IVec2;
use core::ops::Range;

fn varying(sigma: Vec2, region: URect, edge: EdgeMode, means: Means, finish: Finish) -> BlurPlan {
    let request = PlanRequest {
        sigma,
        region,
        edge,
        means,
        finish,
    };
    BlurPlan::varying(&request)
}

/// A sigma level of a row of texels at the targets of a plan, along x: every pass that leads to its tile, and the
/// spline from it.
fn sigma_level_of_row(plan: &BlurPlan, sigma_level: &SigmaLevel, row: &[f64], targets: Range<i32>) -> Vec<f64> {
    let sigma_levels = plan.sigma_levels.as_ref().expect("it varies");
    let mut rows: Vec<Vec<f64>> = plan
        .intermediates
        .iter()
        .map(|size| vec![0.0; size.x as usize])
        .collect();
    let is_tile = |pass: &Pass| matches!(pass.kind, PassKind::Horizontal | PassKind::Vertical | PassKind::Blur);
    let is_apart = |pass: &Pass| matches!(pass.kind, PassKind::Gather | PassKind::Blend);
    let leads_there = |pass: &&Pass| !is_apart(pass) && (!is_tile(pass) || pass.origin == sigma_level.origin);
    for pass in plan.passes.iter().filter(leads_there) {
        let TextureSlot::Intermediate(target) = pass.target else {
            panic!("only the last pass writes the destination");
        };
        let (along, first) = (&pass.axes[0], pass.origin.x as usize);
        let written = first as i32..(pass.origin + pass.size).x as i32;
        let values = match pass.source {
            TextureSlot::Intermediate(source) if along.images.is_some() => along.apply(&rows[source], written),
            TextureSlot::Intermediate(source) => {
                let bounds = along.bounds.0 as usize..along.bounds.1 as usize;
                along.apply(&rows[source][bounds], written)
            }
            TextureSlot::Source | TextureSlot::Destination => along.apply(row, written),
        };
        rows[target][first..first + values.len()].copy_from_slice(&values);
    }
    let TextureSlot::Intermediate(atlas) = sigma_levels.atlas else {
        panic!("no atlas");
    };
    let spline = &sigma_level.axes[0];
    let tile = spline.bounds.0 as usize..spline.bounds.1 as usize;
    // Positions count from the tile's first texel.
    let moved = spline.clone().moved(-spline.bounds.0, 0);
    moved.apply(&rows[atlas][tile], targets)
}

/// A row, blurred by each sigma level.
fn sigma_levels_of_row(row: &[f64], start: u32, sigma: f32, edge: EdgeMode, way: Way) -> Vec<(f64, Vec<f64>)> {
    let length = row.len() as u32;
    let region = URect::new(start, 3, start + length, 4);
    let plan = varying(
        Vec2::new(sigma, 0.0),
        region,
        edge,
        means(Precision::Standard, way),
        Finish::Write,
    );
    let sigma_levels = &plan.sigma_levels.as_ref().expect("it varies").levels;
    let targets = start as i32..(start + length) as i32;
    let sigma_level = |sigma_level| sigma_level_of_row(&plan, sigma_level, row, targets.clone());
    sigma_levels.iter().map(|it| (it.sigma, sigma_level(it))).collect()
}

#[test]
fn every_sigma_level_is_the_gaussian_of_its_sigma() {
    let noise: Vec<f64> = (0..333_u32)
        .map(|i| f64::from((i + 7).wrapping_mul(2_654_435_761) >> 31))
        .collect();
    for (edge, start) in EdgeMode::ALL.into_iter().flat_map(|edge| [(edge, 0), (edge, 101)]) {
        for way in WAYS {
            for top in [1.0, 2.9, 4.7, 20.0] {
                for (sigma, got) in sigma_levels_of_row(&noise, start, top, edge, way) {
                    let expected = reference(&noise, sigma, edge);
                    for (x, (got, expected)) in got.iter().zip(&expected).enumerate() {
                        let error = (got - expected).abs() * 255.0;
                        let tolerance = match sigma {
                            sigma if sigma == f64::from(top) => 0.25,
                            sigma if sigma < 2.3 => 0.75,
                            _ => 0.6,
                        };
                        assert!(
                            error <= tolerance,
                            "{edge:?}, {way:?}, sigma level {sigma} of {top}, texel {x}: {error}/255"
                        );
                    }
                }
            }
        }
    }
}

/// The kernels of all sigma levels up to a largest sigma, for every phase.
fn kernels(sigma: f64) -> Vec<(f64, Kernels)> {
    let period = 16_usize;
    let radius = (6.0 * sigma).round() as usize + 3;
    let centre = (radius / period + 2) * period;
    let length = 2 * centre + period;
    let mut sigma_levels: Vec<(f64, Kernels)> = Vec::new();
    for impulse in centre..centre + period {
        let mut row = vec![0.0; length];
        row[impulse] = 1.0;
        let responses = sigma_levels_of_row(&row, 0, sigma as f32, EdgeMode::Transparent, WAYS[0]);
        for (index, (sigma, response)) in responses.into_iter().enumerate() {
            if sigma_levels.len() == index {
                let phases = vec![vec![0.0; 2 * radius + 1]; period];
                sigma_levels.push((sigma, Kernels { radius, phases }));
            }
            for (offset, slot) in (0..=2 * radius).rev().enumerate() {
                let output = impulse + offset - radius;
                sigma_levels[index].1.phases[output % period][slot] = response[output];
            }
        }
    }
    sigma_levels
}

/// The largest error, for any picture, of a weighted sum of kernels in place of another kernel, all of them the same
/// along both axes.
fn distance_of_blends(blended: &[(f64, &[f64])], wanted: &[f64]) -> f64 {
    let mut sum = 0.0;
    for y in 0..wanted.len() {
        for x in 0..wanted.len() {
            let blend: f64 = blended
                .iter()
                .map(|(weight, kernel)| weight * kernel[x] * kernel[y])
                .sum();
            sum += (blend - wanted[x] * wanted[y]).abs();
        }
    }
    255.0 * 0.5 * sum
}

/// The weights of Lagrange's polynomial through some positions.
fn lagrange(places: &[f64], at: f64) -> Vec<f64> {
    let weight = |place: &f64| {
        let others = places.iter().filter(|other| *other != place);
        others.map(|other| (at - other) / (place - other)).product()
    };
    places.iter().map(weight).collect()
}

#[test]
fn blends_are_near_the_gaussian() {
    let sigma_levels = kernels(12.0);
    let lines = sigma_levels::lines(Vec2::ONE);
    for (above, _) in sigma_levels.iter().enumerate().skip(1) {
        let below = sigma_levels[above - 1].0;
        let first = above - if above == 1 || lines.contains(&below) { 1 } else { 2 };
        let taken = &sigma_levels[first..=above];
        let places: Vec<f64> = taken.iter().map(|(sigma, _)| sigma.ln()).collect();
        for share in [0.25, 0.5, 0.75] {
            let at = (1.0 - share) * below.ln() + share * sigma_levels[above].0.ln();
            let wanted = sigma_levels[above].1.gaussian(at.exp());
            let weights = lagrange(&places, at);
            for phase in [0, 3, 5] {
                let kernels = taken.iter().map(|(_, kernels)| &kernels.phases[phase][..]);
                let blended: Vec<(f64, &[f64])> = weights.iter().copied().zip(kernels).collect();
                let error = distance_of_blends(&blended, &wanted);
                let tolerance = if below < 2.3 { 2.1 } else { 1.9 };
                assert!(error <= tolerance, "above {below}, {share}: {error}/255");
            }
        }
    }
}

#[test]
fn sigma_levels_lie_in_their_own_tiles() {
    for (sigma, way) in [0.05_f32, 1.0, 2.0, 3.5, 17.0, 300.0, 1e9]
        .into_iter()
        .flat_map(|sigma| WAYS.map(|way| (sigma, way)))
    {
        for (aspect, edge) in [Vec2::ONE, Vec2::X, Vec2::Y, Vec2::new(1.0, 0.2), Vec2::new(0.07, 1.0)]
            .into_iter()
            .flat_map(|aspect| EdgeMode::ALL.map(|edge| (aspect, edge)))
        {
            for (finish, in_place) in [(Finish::Write, true), (Finish::Write, false), (Finish::Defer, true)] {
                let region = URect::new(5, 7, 205, 107);
                let means = Means {
                    in_place,
                    ..means(Precision::Hdr, way)
                };
                let plan = varying(sigma * aspect, region, edge, means, finish);
                let name = format!("{way:?}, {edge:?}, sigma {sigma} x {aspect}, {finish:?}");
                assert_sigma_levels(&plan, region, &name);
                let direct =
                    |pass: &Pass| pass.source == TextureSlot::Source && pass.target == TextureSlot::Destination;
                assert_eq!(
                    plan.passes.iter().any(direct),
                    finish == Finish::Write && !in_place,
                    "{name}"
                );
            }
        }
    }
}

fn assert_sigma_levels(plan: &BlurPlan, region: URect, name: &str) {
    let sigma_levels = plan.sigma_levels.as_ref().expect("it varies");
    assert!(
        !sigma_levels.levels.is_empty() && sigma_levels.levels.len() <= SIGMA_LEVELS,
        "{name}"
    );
    assert!(sigma_levels.levels.is_sorted_by(|a, b| a.sigma < b.sigma), "{name}");
    assert!(sigma_levels.gathered <= sigma_levels.levels[0].sigma, "{name}");
    let TextureSlot::Intermediate(atlas) = sigma_levels.atlas else {
        panic!("{name}: no atlas");
    };
    let size = plan.intermediates[atlas];
    let written: Vec<URect> = plan
        .passes
        .iter()
        .filter(|pass| pass.target == sigma_levels.atlas)
        .map(|pass| URect::from_corners(pass.origin, pass.origin + pass.size))
        .collect();
    assert_eq!(written.len(), sigma_levels.levels.len(), "{name}");
    let targets = sigma_levels.origin == IVec2::ZERO;
    let first = if targets { region.min } else { UVec2::ZERO };
    for (sigma_level, tile) in sigma_levels.levels.iter().zip(&written) {
        assert_eq!(sigma_level.origin, tile.min, "{name}");
        assert!(tile.max.cmple(size).all(), "{name}: {tile:?} in {size}");
        for (axis, spline) in sigma_level.axes.iter().enumerate() {
            // Everything that the first and the last texel read lies in the tile.
            let bounds = tile.min[axis] as i32..tile.max[axis] as i32;
            assert_eq!(spline.bounds, (bounds.start, bounds.end), "{name}");
            for texel in [first[axis], first[axis] + region.size()[axis] - 1] {
                let place = (2 * texel as i32 + spline.shift) >> (spline.octaves + 1);
                let reads = if spline.octaves > 0 {
                    place - 1..place + 3
                } else {
                    place..place + 1
                };
                let is_inside = reads.start >= bounds.start && reads.end <= bounds.end;
                assert!(is_inside, "{name}: {reads:?} in {bounds:?}");
            }
        }
    }
    let mut known = vec![TextureSlot::Source];
    for pass in &plan.passes {
        assert!(
            known.contains(&pass.source) && pass.source != pass.target,
            "{name}: {pass:?}"
        );
        assert!(is_in_bounds(pass), "{name}: {pass:?}");
        known.push(pass.target);
    }
    assert!(
        plan.passes.last().is_some_and(|pass| pass.kind == PassKind::Blend),
        "{name}"
    );
}

#[test]
fn what_is_read_is_needed() {
    let region = URect::new(5, 7, 205, 107);
    // Also where the first texel of the source lies between the texels of a level.
    let cases = EdgeMode::ALL.into_iter().flat_map(|edge| WAYS.map(|way| (edge, way)));
    for ((edge, way), at) in cases.flat_map(|case| [IVec2::ZERO, IVec2::new(3, 9)].map(|at| (case, at))) {
        let means = means(Precision::Standard, way);
        let plan = varying(Vec2::new(40.0, 23.0), region, edge, means, Finish::Write).with_source_at(at);
        let sigma_levels = plan.sigma_levels.as_ref().expect("it varies");
        let written = |surface: TextureSlot| plan.passes.iter().filter(move |pass| pass.target == surface);
        for (sigma_level, pass) in sigma_levels.levels.iter().zip(written(sigma_levels.atlas)) {
            let needed = pass.needed.expect("a sigma level is read here and there");
            assert!(
                needed.shares.0 < (sigma_level.sigma / 40.0) as f32
                    && needed.shares.1 > (sigma_level.sigma / 40.0) as f32
            );
            for axis in 0..2 {
                for place in region.min[axis]..region.max[axis] {
                    let texel =
                        (2 * place as i32 + sigma_level.axes[axis].shift) >> (sigma_level.axes[axis].octaves + 1);
                    let reads = if sigma_level.axes[axis].octaves > 0 {
                        -1..=2
                    } else {
                        0..=0
                    };
                    for texel in reads.map(|offset| texel + offset) {
                        assert_needed(
                            &needed,
                            axis,
                            texel,
                            place as i32 - at[axis],
                            &format!("{edge:?}, {way:?}"),
                        );
                    }
                }
            }
        }
    }
}

/// A pass that writes texels which are not blurred needs the picture, or a copy of it: the sums have other texels there.
#[test]
fn texels_that_are_not_blurred_are_converted_from_the_picture() {
    let region = URect::new(5, 7, 205, 107);
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        for (in_place, sigma) in [true, false]
            .into_iter()
            .flat_map(|in_place| [0.5, 3.0, 40.0].map(|s| (in_place, s)))
        {
            let means = Means {
                in_place,
                converts: true,
                ..means(precision, way)
            };
            let plan = varying(Vec2::splat(sigma), region, EdgeMode::Clamp, means, Finish::Write);
            let blend = plan.passes.last().expect("a pass that blends");
            let written = plan.passes.iter().rfind(|pass| pass.target == blend.source);
            let is_picture = blend.source == TextureSlot::Source;
            let is_copy = written.is_some_and(|pass| pass.kind == PassKind::Copy && pass.source == TextureSlot::Source);
            assert!(
                is_picture || is_copy,
                "{precision:?}, {way:?}, sigma {sigma}: {:?}",
                blend.source
            );
            assert!(!(is_picture && in_place), "{way:?}: it reads what it writes");
        }
    }
}

/// A texel of a tile is needed if a texel of the picture reads it.
fn assert_needed(needed: &Needed, axis: usize, texel: i32, reader: i32, name: &str) {
    let scale = 1 << needed.octaves[axis];
    let low = (texel + needed.first[axis] - needed.around[axis]) * scale;
    let high = (texel + needed.first[axis] + needed.around[axis] + 1) * scale;
    assert!(
        low <= reader && reader < high,
        "{name}: {needed:?}, {texel} for {reader}"
    );
}

#[test]
fn the_list_of_stages_has_all_that_varies() {
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        for (finish, in_place, converts) in [
            (Finish::Write, true, false),
            (Finish::Write, true, true),
            (Finish::Write, false, false),
            (Finish::Defer, false, false),
        ] {
            let means = Means {
                in_place,
                converts,
                ..means(precision, way)
            };
            let listed = stages(means, finish, true);
            for (i, sigma) in (0..40).map(|i| (i, 0.05 * 1.4_f32.powi(i))) {
                let aspects = [1.0, 0.7, 0.3, 0.0].map(|less| [Vec2::new(1.0, less), Vec2::new(less, 1.0)]);
                for (j, aspect) in aspects.into_iter().flatten().enumerate() {
                    let edge = EdgeMode::ALL[(i as usize + j) % EdgeMode::ALL.len()];
                    let region = URect::new(3, 5, 67, 69);
                    let plan = varying(sigma * aspect, region, edge, means, finish);
                    for stage in plan.passes.iter().map(Pass::stage) {
                        assert!(
                            listed.contains(&stage),
                            "{precision:?}, {way:?}, {sigma}: {stage:?} is not listed"
                        );
                    }
                    let reaches = plan.passes.iter().flat_map(|pass| &pass.axes).map(|axis| axis.reach.1);
                    assert!(
                        reaches.max().is_some_and(|reach| reach <= 1 + MAX_REACH as i32),
                        "{sigma}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_growing_sigma_gets_its_sigma_levels_where_the_topmost_was() {
    let sigmas = |top: f32| -> Vec<f64> {
        let way = means(Precision::Standard, WAYS[0]);
        let plan = varying(
            Vec2::splat(top),
            URect::new(0, 0, 64, 64),
            EdgeMode::Clamp,
            way,
            Finish::Write,
        );
        plan.sigma_levels
            .iter()
            .flat_map(|sigma_levels| &sigma_levels.levels)
            .map(|sigma_level| sigma_level.sigma)
            .collect()
    };
    let mut last = sigmas(2.0);
    for top in (0..1350).map(|i| 2.0 * 1.01_f32.powi(i)) {
        let next = sigmas(top);
        let fixed = |sigmas: &[f64]| sigmas[..sigmas.len() - 1].to_vec();
        let kept = fixed(&last);
        assert_eq!(next[..kept.len()], kept, "{top}");
        assert!(next.len() - last.len() <= 1, "{top}");
        last = next;
    }
    assert_eq!(last.len(), SIGMA_LEVELS, "the most sigma levels");
}
