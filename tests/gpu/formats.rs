//! Images of every format that can be blurred are the Gaussian, as exactly as the format can tell.

use crate::support::executors::{Case, SIGMAS, executors};
use crate::support::{EDGES, inputs};
use bevy::render::render_resource::TextureFormat;

#[test]
fn every_format() {
    use TextureFormat::*;
    let mut executors = executors();
    let formats = [
        Rgba8Unorm,
        Rgba8UnormSrgb,
        Bgra8Unorm,
        Bgra8UnormSrgb,
        R8Unorm,
        Rg8Unorm,
        R16Unorm,
        Rgba16Unorm,
        R16Float,
        Rg16Float,
        Rgba16Float,
        Rg11b10Ufloat,
        Rgb10a2Unorm,
        R32Float,
        Rg32Float,
        Rgba32Float,
    ];
    let [first, second] = inputs::patterns(131, 74);
    let Some(first_executor) = executors.first() else {
        return;
    };
    for format in first_executor.headless.available(&formats) {
        for edge in EDGES {
            for (picture, sigmas) in [(&first, &SIGMAS[..]), (&second, &[1.5, 5.9, 47.0])] {
                for &sigma in sigmas {
                    let case = Case {
                        picture,
                        format,
                        sigma,
                        edge,
                    };
                    case.check(&mut executors);
                }
            }
        }
    }
}
