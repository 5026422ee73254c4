//! The bytes of the uniforms of fixed plans, as hashes.

use super::super::uniforms::{SigmaLevelsUniform, uniform_bytes};
use crate::plan::BlurPlan;
use crate::plan::pass::TextureSlot;
use crate::plan::tests::fingerprint::{Hash, cases, compare};
use bevy::math::UVec2;

/// The uniform of the sigma levels of a plan.
fn sigma_levels_of(plan: &BlurPlan) -> Option<SigmaLevelsUniform> {
    let sigma_levels = plan.sigma_levels.as_ref()?;
    let TextureSlot::Intermediate(atlas) = sigma_levels.atlas else {
        panic!("the sigma levels are in an intermediate");
    };
    let strongest = sigma_levels.levels.last()?;
    let size = plan.intermediates[atlas].as_vec2().to_array();
    Some(SigmaLevelsUniform::new(sigma_levels, strongest.sigma as f32, size))
}

#[test]
fn uniforms_have_their_fingerprint() {
    let mut found = String::new();
    for (name, plans) in cases() {
        let mut hash = Hash::new();
        for plan in &plans {
            hash.bytes(&uniform_bytes(plan, UVec2::new(1920, 1080)));
            sigma_levels_of(plan)
                .iter()
                .for_each(|sigma_levels| hash.bytes(bytemuck::bytes_of(sigma_levels)));
        }
        found.push_str(&hash.line(&name));
    }
    compare("src/gpu/tests/fingerprint.txt", &found);
}
