//! Batches of plans, and what they cost.

use super::*;
use crate::plan::batch::{BatchedBlur, together};
use bevy::math::IVec2;

/// A blur of which these texels are shown.
fn shown(region: URect) -> BatchedBlur {
    BatchedBlur {
        region,
        ..Default::default()
    }
}

/// A texture of one channel. Texels that have never been written are NaN.
#[derive(Clone)]
struct Texture {
    width: usize,
    texels: Vec<f64>,
}

impl Texture {
    fn new(size: UVec2) -> Self {
        let width = size.x as usize;
        Self {
            width,
            texels: vec![f64::NAN; width * size.y as usize],
        }
    }

    fn row(&self, y: usize) -> &[f64] {
        &self.texels[y * self.width..(y + 1) * self.width]
    }
}

/// The valid texels of an axis' source, in the form that [`AxisPass::apply`] takes.
fn valid(axis: &AxisPass, texels: &[f64]) -> Vec<f64> {
    let start = if axis.images.is_some() { 0 } else { axis.bounds.0 };
    texels[start as usize..axis.bounds.1 as usize].to_vec()
}

/// What a pass computes, row by row.
fn compute(pass: &Pass, source: &Texture) -> Vec<Vec<f64>> {
    let [x, y] = &pass.axes;
    let targets = |i: usize| pass.origin[i] as i32..(pass.origin[i] + pass.size[i]) as i32;
    let height = source.texels.len() / source.width;
    let columns: Vec<Vec<f64>> = (0..source.width)
        .map(|column| {
            let texels: Vec<f64> = (0..height).map(|row| source.row(row)[column]).collect();
            y.apply(&valid(y, &texels), targets(1))
        })
        .collect();
    let rows = (0..pass.size.y as usize).map(|row| {
        let texels: Vec<f64> = columns.iter().map(|column| column[row]).collect();
        x.apply(&valid(x, &texels), targets(0))
    });
    rows.collect()
}

/// Runs a plan and its deferred last steps.
fn run_left(plan: &BlurPlan, picture: &Texture) -> Vec<Vec<Vec<f64>>> {
    let mut pages: Vec<Texture> = plan.intermediates.iter().map(|size| Texture::new(*size)).collect();
    let source_of = |pages: &[Texture], surface: TextureSlot| match surface {
        TextureSlot::Intermediate(index) => pages[index].clone(),
        TextureSlot::Source | TextureSlot::Destination => picture.clone(),
    };
    for pass in &plan.passes {
        let rows = compute(pass, &source_of(&pages, pass.source));
        let TextureSlot::Intermediate(target) = pass.target else {
            panic!("the last step is left");
        };
        for (y, row) in rows.into_iter().enumerate() {
            let page = &mut pages[target];
            let start = (pass.origin.y as usize + y) * page.width + pass.origin.x as usize;
            page.texels[start..start + row.len()].copy_from_slice(&row);
        }
    }
    let deferred = plan.deferred.iter();
    deferred
        .map(|pass| compute(pass, &source_of(&pages, pass.source)))
        .collect()
}

/// Backdrops of many sizes and strengths: texels to read, texels to paint, sigma and edge.
fn backdrops() -> Vec<(URect, URect, Vec2, EdgeMode)> {
    let mut backdrops = Vec::new();
    for (i, edge) in EdgeMode::ALL.into_iter().cycle().take(20).enumerate() {
        let i = i as u32;
        let sigma = [0.0, 0.7, 3.1, 6.0, 14.0][(i as usize * 7 / 5) % 5];
        let reads = URect::new(i % 7, i % 3, 20 + 3 * i, 9 + i);
        // Every other backdrop paints fewer texels than it reads.
        let inset = UVec2::new(5, 3) * (i % 2);
        let paints = URect::from_corners(reads.min + inset, reads.max - inset);
        backdrops.push((reads, paints, Vec2::new(sigma, 1.3 * sigma * (i % 3) as f32), edge));
    }
    backdrops
}

fn leaving((reads, _, sigma, edge): (URect, URect, Vec2, EdgeMode), means: Means) -> BlurPlan {
    BlurPlan::new(&PlanRequest {
        sigma,
        region: reads,
        edge,
        means,
        finish: Finish::Defer,
    })
}

#[test]
fn together_they_do_what_each_does_alone() {
    let mut picture = Texture::new(UVec2::new(90, 40));
    for (i, texel) in (0_u32..).zip(&mut picture.texels) {
        *texel = f64::from(i.wrapping_mul(2_654_435_761) >> 31);
    }
    let backdrops = backdrops();
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        let means = means(precision, way);
        let plans: Vec<BlurPlan> = backdrops.iter().map(|backdrop| leaving(*backdrop, means)).collect();
        let items: Vec<BatchedBlur> = backdrops.iter().map(|backdrop| shown(backdrop.1)).collect();
        // With a limit that needs several pages per step, and without.
        for limit in [70, 8192] {
            let whole = together(&items, &plans, limit);
            assert!(whole.largest_intermediate().max_element() <= limit.max(90));
            let results = run_left(&whole, &picture);
            assert_eq!(results.len(), backdrops.len());
            for ((plan, (reads, paints, sigma, edge)), got) in plans.iter().zip(&backdrops).zip(&results) {
                let expected = &run_left(plan, &picture)[0];
                for (x, y) in
                    (paints.min.y..paints.max.y).flat_map(|y| (paints.min.x..paints.max.x).map(move |x| (x, y)))
                {
                    let at = |rows: &[Vec<f64>], first: UVec2| rows[(y - first.y) as usize][(x - first.x) as usize];
                    let error = (at(got, paints.min) - at(expected, reads.min)).abs();
                    assert!(
                        error < 1e-9,
                        "{way:?}, {edge:?}, sigma {sigma}, texel {x}, {y}: {error}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_pass_reads_the_page_that_it_writes_and_pages_are_written_once() {
    for way in WAYS {
        let means = means(Precision::Standard, way);
        let plans: Vec<BlurPlan> = backdrops()
            .into_iter()
            .map(|backdrop| leaving(backdrop, means))
            .collect();
        let items: Vec<BatchedBlur> = backdrops().iter().map(|backdrop| shown(backdrop.1)).collect();
        let whole = together(&items, &plans, 8192);
        let longest = plans
            .iter()
            .map(|plan| plan.passes.len())
            .max()
            .expect("there are plans");
        assert_eq!(whole.intermediates.len(), longest, "{way:?}: one page for each step");
        for (index, pass) in whole.passes.iter().enumerate() {
            assert_ne!(pass.source, pass.target);
            let rectangle = |pass: &Pass| URect::from_corners(pass.origin, pass.origin + pass.size);
            for other in &whole.passes[..index] {
                let is_apart = other.target != pass.target || rectangle(other).intersect(rectangle(pass)).is_empty();
                assert!(is_apart, "{way:?}: two levels in one place");
            }
        }
        let targets: Vec<TextureSlot> = whole.passes.iter().map(|pass| pass.target).collect();
        let runs = targets.chunk_by(|a, b| a == b).count();
        assert_eq!(runs, longest, "{way:?}: passes of one page follow each other");
    }
}

/// The texels that passes write into levels that are smaller than the picture.
fn reduced_texels(plan: &BlurPlan) -> u64 {
    // At the tested sigmas, all intermediates are smaller than the picture.
    let is_reduced = |pass: &&Pass| pass.target != TextureSlot::Destination;
    let texels = |pass: &Pass| u64::from(pass.size.x) * u64::from(pass.size.y);
    plan.passes.iter().filter(is_reduced).map(texels).sum()
}

#[test]
fn glass_costs_what_it_covers() {
    let screen = UVec2::new(1920, 1080);
    let request = |sigma: f32, region: URect, edge: EdgeMode, means: Means, finish: Finish| PlanRequest {
        sigma: Vec2::splat(sigma),
        region,
        edge,
        means,
        finish,
    };
    let backdrop = |size: UVec2, place: UVec2| URect::from_corners(place, place + size);
    // A twentieth, and 36 times a hundredth of the screen.
    let one = vec![backdrop(UVec2::new(432, 240), UVec2::new(301, 203))];
    let grid = (0..36).map(|i| UVec2::new(20 + 313 * (i % 6), 15 + 177 * (i / 6)));
    let many: Vec<URect> = grid.map(|place| backdrop(UVec2::new(192, 108), place)).collect();
    for (way, sigma) in WAYS.into_iter().flat_map(|way| [20.0, 32.0].map(|sigma| (way, sigma))) {
        let means = means(Precision::Standard, way);
        let whole_screen = backdrop(screen, UVec2::ZERO);
        let full = BlurPlan::new(&request(sigma, whole_screen, EdgeMode::Clamp, means, Finish::Write));
        for (backdrops, limit) in [(&one, 0.08), (&many, 0.65)] {
            let plans: Vec<BlurPlan> = backdrops
                .iter()
                .map(|region| BlurPlan::new(&request(sigma, *region, EdgeMode::Mirror, means, Finish::Defer)))
                .collect();
            let items: Vec<BatchedBlur> = backdrops.iter().map(|region| shown(*region)).collect();
            let share = reduced_texels(&together(&items, &plans, 8192)) as f64 / reduced_texels(&full) as f64;
            assert!(
                share <= limit,
                "{way:?}, sigma {sigma}, {} backdrops: {share:.3}",
                backdrops.len()
            );
        }
    }
}

/// Whether a texel is in a rectangle, of which `max` is the first texel outside.
fn holds(texels: URect, x: u32, y: u32) -> bool {
    (texels.min.x..texels.max.x).contains(&x) && (texels.min.y..texels.max.y).contains(&y)
}

/// A source that holds only a patch of a picture equals one that holds the picture, whatever else lies in both.
#[test]
fn patches_are_all_that_is_read() {
    let size = UVec2::new(90, 40);
    let reads = URect::new(3, 2, 85, 38);
    let patches = [
        // The texels of the patch, and those to paint: all, some in the patch, some beside it, and some far away.
        (URect::new(40, 18, 52, 24), reads),
        (URect::new(4, 3, 84, 5), reads),
        (URect::new(60, 20, 84, 37), reads),
        (URect::new(40, 18, 52, 24), URect::new(44, 20, 46, 22)),
        (URect::new(40, 18, 52, 24), URect::new(52, 4, 85, 38)),
        (URect::new(5, 4, 6, 5), URect::new(80, 30, 85, 38)),
    ];
    let sigmas = [0.7, 2.2, 3.1, 6.0, 14.0];
    let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 31);
    let picture = |value: &dyn Fn(u32, u32) -> f64| {
        let mut picture = Texture::new(size);
        for (i, texel) in (0_u32..).zip(&mut picture.texels) {
            *texel = value(i % size.x, i / size.x);
        }
        picture
    };
    for (way, sigma) in WAYS
        .into_iter()
        .flat_map(|way| sigmas.map(|sigma| (way, Vec2::new(sigma, 0.6 * sigma))))
    {
        for (index, (texels, paints)) in patches.into_iter().enumerate() {
            let plan = leaving(
                (reads, paints, sigma, EdgeMode::Transparent),
                means(Precision::Standard, way),
            );
            let batch = |to_source, patch| {
                let region = paints;
                let item = BatchedBlur {
                    to_source,
                    patch,
                    border: 1,
                    ..shown(region)
                };
                together(&[item], core::slice::from_ref(&plan), 8192)
            };
            let to_source = IVec2::new(2, 1) - texels.min.as_ivec2();
            let (whole, cut) = (batch(IVec2::ZERO, None), batch(to_source, Some(texels)));
            let of_patch = |x, y| {
                if holds(texels, x, y) {
                    noise(x + size.x * y)
                } else {
                    0.0
                }
            };
            let around = URect::from_corners(texels.min - 1, texels.max + 1);
            let expected = run_left(
                &whole,
                &picture(&|x, y| if holds(reads, x, y) { of_patch(x, y) } else { noise(x) }),
            );
            let got = run_left(
                &cut,
                &picture(&|x, y| {
                    let place = UVec2::new(x, y).as_ivec2() - to_source;
                    let [x, y] = place.max(IVec2::ZERO).as_uvec2().to_array();
                    if holds(around, x, y) { of_patch(x, y) } else { noise(x) }
                }),
            );
            for (expected, got) in expected[0].iter().flatten().zip(got[0].iter().flatten()) {
                let error = (expected - got).abs();
                assert!(error < 1e-12, "{way:?}, sigma {sigma}, patch {index}: {error}");
            }
            let written = |plan: &BlurPlan| plan.passes.iter().map(|pass| pass.size.element_product()).sum::<u32>();
            let most = written(&whole) / if index == 0 && sigma.x >= 6.0 { 2 } else { 1 };
            assert!(
                written(&cut) <= most,
                "{way:?}, sigma {sigma}, patch {index}: {} of {}",
                written(&cut),
                written(&whole)
            );
        }
    }
}
