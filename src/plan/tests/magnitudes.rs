//! No setting makes a plan or a batch panic, however far its region reaches and however strong it is.

use super::*;
use crate::plan::batch::{BatchedBlur, together};
use crate::settings::{BlurUnit, GaussianBlur};
use bevy::math::IVec2;
use proptest::prelude::*;
use proptest::sample::select;

/// The farthest texel that a front end names, from its nearest one.
const FARTHEST: u32 = 1 << 25;

fn texel() -> impl Strategy<Value = u32> {
    (0..26_u32, 0..1000_u32).prop_map(|(power, more)| ((1 << power) + more).min(FARTHEST))
}

/// A range of texels that is not empty.
fn range() -> impl Strategy<Value = (u32, u32)> {
    (texel(), texel()).prop_map(|(one, other)| (one.min(other), one.max(other) + 1))
}

fn rect() -> impl Strategy<Value = URect> {
    (range(), range()).prop_map(|(x, y)| URect::new(x.0, y.0, x.1, y.1))
}

fn sigma() -> impl Strategy<Value = f32> {
    prop_oneof![1 => Just(f32::MAX), 4 => (-6..38_i32, 1.0..10.0_f32).prop_map(|(power, digit)| digit * 10_f32.powi(power))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn do_not_matter(
        shown in rect(),
        patch in rect(),
        sigma in [sigma(), sigma()],
        (precision, way) in (select(PRECISIONS.to_vec()), select(WAYS.to_vec())),
        is_patched in any::<bool>(),
        is_empty in prop::bool::weighted(0.1),
    ) {
        // A picture whose texels are out of reach.
        let patch = if is_empty { URect::default() } else { patch };
        let all = if is_empty { shown } else { shown.union(patch) };
        let plan = BlurPlan::new(&PlanRequest {
            sigma: Vec2::from(sigma),
            region: all,
            edge: EdgeMode::Transparent,
            means: means(precision, way),
            finish: Finish::Defer,
        });
        let patch = is_patched.then_some(patch);
        let to_source = IVec2::new(3, -5);
        let item = BatchedBlur { region: shown, to_source, patch, border: 1, ..Default::default() };
        let whole = together(&[item], &[plan], 4096);
        for pass in whole.passes.iter().chain(&whole.deferred) {
            prop_assert!(pass.size.min_element() > 0, "{pass:?}");
        }
    }
}

/// Any float: of every magnitude and sign, infinite and NaN.
fn number() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn of_cameras_and_images_do_not_matter(
        (radius, aspect, scale) in (prop_oneof![sigma(), number()], [number(), number()], number()),
        unit in select(vec![BlurUnit::LogicalPixels, BlurUnit::PhysicalPixels, BlurUnit::ViewportHeight]),
        (edge, finish) in (select(EdgeMode::ALL.to_vec()), select(vec![Finish::Write, Finish::Defer])),
        (precision, way) in (select(PRECISIONS.to_vec()), select(WAYS.to_vec())),
        size in prop_oneof![5 => [1..700_u32, 1..700_u32], 1 => [1..16_385_u32, 1..16_385_u32]],
    ) {
        let aspect = Vec2::from(aspect).abs();
        let blur = GaussianBlur::new(radius).with_aspect(aspect).with_unit(unit);
        let region = URect::from_corners(UVec2::ZERO, UVec2::from(size));
        let sigma = blur.sigma_in_texels(scale, region.height()).unwrap_or(Vec2::ZERO);
        let request = PlanRequest { sigma, region, edge, means: means(precision, way), finish };
        for plan in [BlurPlan::new(&request), BlurPlan::varying(&request)] {
            let mut passes = plan.passes.iter();
            prop_assert!(passes.all(|pass| pass.size.min_element() > 0), "{request:?}");
        }
    }
}

/// The shadow of a picture that is farther away than any texture is large: all that it reads is zero.
#[test]
fn a_picture_out_of_reach_is_transparent() {
    const FAR: u32 = 1 << 24;
    for (precision, way) in PRECISIONS.into_iter().flat_map(|p| WAYS.map(|way| (p, way))) {
        for sigma in [1.0, 100.0, 3e5, 3e29] {
            let plan = BlurPlan::new(&PlanRequest {
                sigma: Vec2::splat(sigma),
                region: URect::new(65_000, 1, 65_600, FAR),
                edge: EdgeMode::Transparent,
                means: means(precision, way),
                finish: Finish::Defer,
            });
            for patch in [URect::default(), URect::new(65_200, FAR - 2, 65_300, FAR)] {
                let item = BatchedBlur {
                    region: URect::new(65_040, 2, 65_297, 11),
                    to_source: IVec2::new(-65_000, -9),
                    patch: Some(patch),
                    border: 1,
                    ..Default::default()
                };
                let whole = together(&[item], core::slice::from_ref(&plan), 4096);
                let mut steps = whole.passes.iter().chain(&whole.deferred);
                assert!(steps.all(|pass| pass.size.min_element() > 0), "{sigma}, {patch:?}");
            }
        }
    }
}
