//! The bytes of the uniforms of fixed plans, as hashes.

use super::super::blend::LayersUniform;
use super::super::uniforms::uniform_bytes;
use crate::plan::BlurPlan;
use crate::plan::pass::Surface;
use crate::plan::tests::fingerprint::{Hash, cases, compare};
use bevy::math::UVec2;

/// The uniform of what a plan blends.
fn layers_of(plan: &BlurPlan) -> Option<LayersUniform> {
    let layers = plan.layers.as_ref()?;
    let Surface::Intermediate(atlas) = layers.atlas else {
        panic!("the layers are in an intermediate");
    };
    let strongest = layers.layers.last()?;
    let size = plan.intermediates[atlas].as_vec2().to_array();
    Some(LayersUniform::new(layers, strongest.sigma as f32, size))
}

#[test]
fn uniforms_have_their_fingerprint() {
    let mut found = String::new();
    for (name, plans) in cases() {
        let mut hash = Hash::new();
        for plan in &plans {
            hash.bytes(&uniform_bytes(plan, UVec2::new(1920, 1080)));
            layers_of(plan)
                .iter()
                .for_each(|layers| hash.bytes(bytemuck::bytes_of(layers)));
        }
        found.push_str(&hash.line(&name));
    }
    compare("src/gpu/tests/fingerprint.txt", &found);
}
