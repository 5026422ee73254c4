//! How far each method is from the float64 Gaussian.

use crate::classic::Classic;
use crate::method::Method;
use crate::options::{Direction, Format};
use crate::ours::Ours;
use crate::stage::{Gpu, Stage};
use crate::support::difference::worst_difference;
use crate::support::reference::{Picture, gaussian_blur, varying_blur};
use crate::support::{formats, inputs};
use bevy_gaussian_blur::prelude::EdgeMode;
use std::collections::HashMap;

/// The size of the test pictures, in texels. Small, since the reference runs on the CPU.
const SIZE: [u32; 2] = [256, 144];

/// A format, the bits of a sigma, and whether it varies.
type Setting = (Format, u64, bool);

/// The test pictures, and the errors measured with them.
pub struct Accuracy {
    edge: EdgeMode,
    direction: Direction,
    pictures: [Picture; 2],
    expected: HashMap<Setting, [Picture; 2]>,
    errors: HashMap<(Setting, Method), Result<f64, String>>,
}

impl Accuracy {
    /// `edge` says what lies outside the pictures, `direction` in which direction a varying sigma grows.
    pub fn new(edge: EdgeMode, direction: Direction) -> Self {
        Self {
            edge,
            direction,
            pictures: inputs::patterns(SIZE[0] as usize, SIZE[1] as usize),
            expected: HashMap::new(),
            errors: HashMap::new(),
        }
    }

    /// The first test picture.
    pub fn picture(&self) -> &Picture {
        &self.pictures[0]
    }

    /// The greatest difference in 1/255 of the values that a shader sees, over both pictures, all texels and channels.
    /// It includes the rounding of the format.
    ///
    /// `ours` runs the method if it is ours.
    ///
    /// # Errors
    /// The error of our blur.
    pub fn error_of(
        &mut self,
        gpu: &Gpu,
        ours: &mut [Ours],
        method: Method,
        format: Format,
        sigma: f64,
    ) -> Result<f64, String> {
        let varies = method.varies();
        let setting = (format, sigma.to_bits(), varies);
        if let Some(known) = self.errors.get(&(setting, method)) {
            return known.clone();
        }
        let (pictures, edge, direction) = (&self.pictures, self.edge, self.direction);
        let expected = self.expected.entry(setting).or_insert_with(|| {
            let exact = |picture| {
                let stored = formats::quantised(picture, format.texture_format());
                if varies {
                    return varying_blur(&stored, edge, |x, y| [sigma * direction.share(SIZE, [x, y]); 2]);
                }
                gaussian_blur(&stored, [sigma; 2], edge)
            };
            pictures.each_ref().map(exact)
        });
        let mut worst = Ok(0.0);
        for (picture, expected) in pictures.iter().zip(expected) {
            let got = output(gpu, ours, method, picture, format, sigma);
            let error = got.map(|got| 255.0 * worst_difference(&got, expected).value);
            worst = worst.and_then(|worst: f64| Ok(worst.max(error?)));
        }
        self.errors.insert((setting, method), worst.clone());
        worst
    }
}

/// The result of a method on a picture.
fn output(
    gpu: &Gpu,
    ours: &mut [Ours],
    method: Method,
    picture: &Picture,
    format: Format,
    sigma: f64,
) -> Result<Picture, String> {
    if let Some(ours) = ours.iter_mut().find(|ours| ours.method() == method) {
        return ours.blurred(picture, format, sigma);
    }
    let stage = Stage::new(gpu, SIZE, format);
    stage.show(&formats::to_image(picture, format.texture_format()));
    let classic = Classic::new(&stage, method, sigma);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    classic.encode(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    // The stage uses the device of the first app.
    let headless = ours[0].headless();
    let pixels = headless.read_texture(&classic.target().texture, format.texture_format());
    Ok(formats::to_picture(&pixels))
}
