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
    // Glass, and the whole screen with the same levels: a blur that writes the screen itself may go down in other steps.
    let request = |sigma: f32, region: URect, edge: EdgeMode, means: Means| PlanRequest {
        sigma: Vec2::splat(sigma),
        region,
        edge,
        means,
        finish: Finish::Defer,
    };
    let backdrop = |size: UVec2, place: UVec2| URect::from_corners(place, place + size);
    // A twentieth, and 36 times a hundredth of the screen.
    let one = vec![backdrop(UVec2::new(432, 240), UVec2::new(301, 203))];
    let grid = (0..36).map(|i| UVec2::new(20 + 313 * (i % 6), 15 + 177 * (i / 6)));
    let many: Vec<URect> = grid.map(|place| backdrop(UVec2::new(192, 108), place)).collect();
    for (way, sigma) in WAYS.into_iter().flat_map(|way| [20.0, 32.0].map(|sigma| (way, sigma))) {
        let means = means(Precision::Standard, way);
        let whole_screen = backdrop(screen, UVec2::ZERO);
        let full = BlurPlan::new(&request(sigma, whole_screen, EdgeMode::Clamp, means));
        for (backdrops, limit) in [(&one, 0.08), (&many, 0.65)] {
            let plans: Vec<BlurPlan> = backdrops
                .iter()
                .map(|region| BlurPlan::new(&request(sigma, *region, EdgeMode::Mirror, means)))
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

/// The layers of a surface: with these sigmas, moved by these texels, and shown where they reach. Each counts texels from its own
/// origin, as layers of groups do.
fn layers(patch: URect, layers: &[(Vec2, Vec2)]) -> Vec<BatchedBlur> {
    let layer = |(index, (sigma, offset)): (usize, &(Vec2, Vec2))| {
        let is_moved = sigma.min_element() >= 1.0;
        let shift = if is_moved { offset.fract() } else { Vec2::ZERO };
        let around = sigma.map(|sigma| (4.0 * sigma).ceil()).as_uvec2() + UVec2::ONE;
        let origin = (UVec2::splat(1 << 15)) * UVec2::new(1 + index as u32, 1 + index as u32 % 2);
        let region = URect::from_corners(origin + patch.min - around, origin + patch.max + around);
        BatchedBlur {
            sigma: *sigma,
            shift,
            edge: EdgeMode::Transparent,
            bounds: URect::from_corners(region.min - 3, region.max + 3),
            region,
            to_source: -origin.as_ivec2(),
            patch: Some(URect::from_corners(origin + patch.min, origin + patch.max)),
            border: 1,
        }
    };
    layers.iter().enumerate().map(layer).collect()
}

fn plans_of(items: &[BatchedBlur], means: Means) -> Vec<BlurPlan> {
    let plan = |item: &BatchedBlur| {
        let request = PlanRequest {
            sigma: item.sigma,
            region: item.bounds,
            edge: item.edge,
            means,
            finish: Finish::Defer,
        };
        BlurPlan::shifted(&request, item.shift)
    };
    items.iter().map(plan).collect()
}

/// The texels that all passes of a plan write.
fn written(plan: &BlurPlan) -> u64 {
    let texels = |pass: &Pass| u64::from(pass.size.x) * u64::from(pass.size.y);
    plan.passes.iter().map(texels).sum()
}

/// A picture of noise in a patch, and of 0 around it.
fn patch_of_noise(size: UVec2, patch: URect) -> Texture {
    let mut picture = Texture::new(size);
    for (i, texel) in (0_u32..).zip(&mut picture.texels) {
        let inside = holds(patch, i % size.x, i / size.x);
        *texel = f64::from(u32::from(inside) * (i.wrapping_mul(2_654_435_761) >> 31));
    }
    picture
}

/// Checks that the blurs of a batch are what each of them is alone, and that together they write no more.
fn check_shared(items: &[BatchedBlur], means: Means, picture: &Texture, named: &str) -> BlurPlan {
    let plans = plans_of(items, means);
    let whole = together(items, &plans, 8192);
    let mut most = 0;
    for ((item, plan), got) in items.iter().zip(&plans).zip(run_left(&whole, picture)) {
        let alone = together(core::slice::from_ref(item), core::slice::from_ref(plan), 8192);
        most += written(&alone);
        let expected = &run_left(&alone, picture)[0];
        for (expected, got) in expected.iter().flatten().zip(got.iter().flatten()) {
            let error = (expected - got).abs();
            assert!(error < 1e-12, "{named}, sigma {}: {error}", item.sigma);
        }
    }
    assert!(written(&whole) <= most, "{named}: {} of {most}", written(&whole));
    whole
}

/// A blur, two shadows and a glow of one group read the group once: they go down the same levels.
#[test]
fn layers_of_one_surface_share_their_levels() {
    let patch = URect::new(40, 18, 71, 33);
    let picture = patch_of_noise(UVec2::new(110, 60), patch);
    let strong = [(8.0, 0.0), (9.0, 4.25), (11.0, -3.5), (11.9, 0.0)];
    let strong = strong.map(|(sigma, offset)| (Vec2::splat(sigma), Vec2::splat(offset)));
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        let means = means(precision, way);
        let named = format!("{precision:?}, {way:?}");
        let items = layers(patch, &strong);
        let whole = check_shared(&items, means, &picture, &named);
        let one = together(&items[..1], &plans_of(&items[..1], means), 8192);
        let reads = |plan: &BlurPlan| {
            let reads = plan.passes.iter().filter(|pass| pass.source == TextureSlot::Source);
            reads.count()
        };
        assert_eq!((reads(&whole), reads(&one)), (1, 1), "{named}: the group is read once");
        let downs = |plan: &BlurPlan| {
            let downs = plan.passes.iter().filter(|pass| pass.kind == PassKind::Downsample);
            downs.count()
        };
        assert_eq!(downs(&whole), downs(&one), "{named}: all levels are shared");
        // Two shadows of one blur share everything.
        let pair = layers(patch, &[strong[0], strong[0]]);
        let pair = check_shared(&pair, means, &picture, &named);
        assert_eq!(
            (pair.passes.len(), pair.deferred.len()),
            (one.passes.len(), 2),
            "{named}"
        );
    }
}

/// Whatever parts of a picture blurs read and show, they are what each is alone, and sharing never stores more.
#[test]
fn shared_levels_hold_what_each_blur_needs() {
    let patch = URect::new(40, 18, 71, 33);
    let size = UVec2::new(110, 60);
    let sigmas = [0.5, 1.0, 2.2, 3.1, 5.0, 6.0, 14.0, 40.0];
    for (way, seed) in WAYS.into_iter().flat_map(|way| (0_u32..6).map(move |seed| (way, seed))) {
        let random = |of: u32, below: u32| (seed * 977 + of * 131).wrapping_mul(2_654_435_761) % 4093 % below;
        let sigma = |of: u32| {
            let [x, y] = [0, random(of + 9, 4) / 3].map(|i| sigmas[(random(of, 8) + i) as usize % 8]);
            Vec2::new(x, y)
        };
        let chosen: Vec<(Vec2, Vec2)> = (0..5)
            .map(|i| (sigma(i), Vec2::splat(random(i + 5, 3) as f32 / 4.0)))
            .collect();
        let mut items = layers(patch, &chosen);
        for (i, item) in (0_u32..).zip(&mut items).skip(1) {
            // A part of it, near a corner or in the middle.
            let [third, size] = [item.region.size() / 3, item.region.size()];
            let corner = UVec2::new(random(i + 20, 3), random(i + 30, 3)) * third;
            item.region = URect::from_corners(item.region.min + corner, item.region.min + (corner + third).min(size));
        }
        let means = means(Precision::Hdr, way);
        let named = format!("{way:?}, seed {seed}");
        check_shared(&items, means, &patch_of_noise(size, patch), &named);
        // Of a picture with an edge, every texel of it may be read.
        for (item, index) in items.iter_mut().zip(0..) {
            let paints = URect::from_corners(UVec2::new(5, 3) * (index % 3), UVec2::new(60 + 9 * index, 60 - index));
            *item = BatchedBlur {
                edge: EdgeMode::ALL[seed as usize % 5],
                bounds: URect::from_corners(UVec2::ZERO, size),
                to_source: IVec2::ZERO,
                patch: None,
                shift: Vec2::ZERO,
                ..shown(paints)
            };
            item.sigma = sigma(index);
        }
        check_shared(&items, means, &patch_of_noise(size, patch), &named);
    }
}
