//! Pictures that are hard to blur well, the same on every machine.
//!
//! Each generator makes one [`Channel`] with values in `[0, 1]`; [`quad`] packs
//! four of them into one RGBA picture, so that one blur tests four inputs.

use std::f64::consts::PI;

use super::reference::Picture;

/// Samples per axis and texel that measure how much of it a disk covers.
const DISK_SAMPLES: usize = 8;

/// One channel of a picture: `width` x `height` values in `[0, 1]`, stored row
/// after row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Values per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width * height` values; `(x, y)` is at `y * width + x`.
    pub values: Vec<f64>,
}

impl Channel {
    /// Calls `value` for every `(x, y)`, row after row.
    pub fn from_fn(width: usize, height: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let mut values = Vec::with_capacity(width * height);
        for y in 0..height {
            values.extend((0..width).map(|x| value(x, y)));
        }
        Self { width, height, values }
    }

    /// One minus each value.
    pub fn inverted(mut self) -> Self {
        self.values.iter_mut().for_each(|value| *value = 1.0 - *value);
        self
    }

    /// Stretched so that the least value becomes 0 and the greatest 1; all
    /// zeros where the values do not differ.
    fn stretched(mut self) -> Self {
        let (least, greatest) = self
            .values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), &value| {
                (least.min(value), greatest.max(value))
            });
        let range = if greatest > least { greatest - least } else { 1.0 };
        self.values
            .iter_mut()
            .for_each(|value| *value = (*value - least) / range);
        self
    }
}

/// Packs four channels of one size as red, green, blue and alpha.
///
/// # Panics
/// When the sizes differ.
pub fn quad(channels: [Channel; 4]) -> Picture {
    let [width, height] = [channels[0].width, channels[0].height];
    for channel in &channels {
        assert_eq!(
            [channel.width, channel.height],
            [width, height],
            "the channels of one picture have one size"
        );
    }
    Picture::from_fn(width, height, |x, y| {
        channels.each_ref().map(|it| it.values[y * width + x])
    })
}

/// The two pictures that every blur has to get right. Red, green, blue, alpha:
///
/// 0. vertical step, impulse, zone plate, binary noise;
/// 1. pink noise, diagonal step, small disk, the binary noise inverted.
pub fn patterns(width: usize, height: usize) -> [Picture; 2] {
    let noise = binary_noise(width, height);
    // Neither at the centre of a texel nor at a multiple of a small power of
    // two, where a pyramid would be at its best.
    let [disk_x, disk_y] = [0.37 * width as f64 + 0.29, 0.61 * height as f64 + 0.13];
    [
        quad([
            step(width, height),
            impulse(width, height),
            zone_plate(width, height),
            noise.clone(),
        ]),
        quad([
            pink_noise(width, height),
            diagonal_step(width, height),
            disk(width, height, disk_x, disk_y, 2.3),
            noise.inverted(),
        ]),
    ]
}

/// A vertical edge: 0 left of column `width / 2`, 1 from there on.
pub fn step(width: usize, height: usize) -> Channel {
    Channel::from_fn(width, height, |x, _| f64::from(u8::from(x >= width / 2)))
}

/// A slanted edge along the diagonal from the top left to the bottom right: 1
/// above it, 0 on and below it, without antialiasing.
pub fn diagonal_step(width: usize, height: usize) -> Channel {
    Channel::from_fn(width, height, |x, y| {
        f64::from(u8::from((2 * x + 1) * height > (2 * y + 1) * width))
    })
}

/// One texel of 1 in column `width / 2` of row `height / 2`, zeros elsewhere:
/// its blur is the kernel.
pub fn impulse(width: usize, height: usize) -> Channel {
    Channel::from_fn(width, height, |x, y| {
        f64::from(u8::from(x == width / 2 && y == height / 2))
    })
}

/// Rings that grow finer outwards, `0.5 + 0.5 cos(k r²)` with `r` in texels
/// from the centre: every frequency in every direction. At the border of the
/// longer axis they reach Nyquist, one cycle in two texels.
pub fn zone_plate(width: usize, height: usize) -> Channel {
    // The phase grows by 2 k x per texel along x, which is pi at half a side.
    let k = PI / width.max(height) as f64;
    let [centre_x, centre_y] = [width, height].map(|side| 0.5 * side as f64);
    Channel::from_fn(width, height, |x, y| {
        let dx = x as f64 + 0.5 - centre_x;
        let dy = y as f64 + 0.5 - centre_y;
        0.5 + 0.5 * (k * (dx * dx + dy * dy)).cos()
    })
}

/// Every texel 0 or 1, at random: full contrast at all frequencies alike.
pub fn binary_noise(width: usize, height: usize) -> Channel {
    Channel::from_fn(width, height, |x, y| random(x, y, 0).round())
}

/// Noise with as much power in each octave, as photographs have it (1/f in
/// amplitude), stretched to fill `[0, 1]`.
pub fn pink_noise(width: usize, height: usize) -> Channel {
    let octaves = width.max(height).max(2).ilog2();
    Channel::from_fn(width, height, |x, y| {
        (0..=octaves).map(|octave| value_noise(x, y, octave)).sum()
    })
    .stretched()
}

/// A disk of 1 on 0, antialiased; `cx`, `cy` and `radius` are in texels, and
/// the texel `(x, y)` covers `[x, x + 1)` by `[y, y + 1)`.
pub fn disk(width: usize, height: usize, cx: f64, cy: f64, radius: f64) -> Channel {
    Channel::from_fn(width, height, |x, y| {
        let [left, top] = [x as f64 - cx, y as f64 - cy];
        // No corner of a texel is further from its centre than one texel.
        if (left + 0.5).hypot(top + 0.5) > radius + 1.0 {
            return 0.0;
        }
        let inside = (0..DISK_SAMPLES * DISK_SAMPLES)
            .filter(|sample| {
                let [column, row] = [sample % DISK_SAMPLES, sample / DISK_SAMPLES];
                let [dx, dy] = [column, row].map(|it| (it as f64 + 0.5) / DISK_SAMPLES as f64);
                (left + dx).hypot(top + dy) <= radius
            })
            .count();
        inside as f64 / (DISK_SAMPLES * DISK_SAMPLES) as f64
    })
}

/// Random values on a grid of `2^octave` texels, smoothly joined; in `[0, 1]`.
fn value_noise(x: usize, y: usize, octave: u32) -> f64 {
    let cell = 1_usize << octave;
    let seed = u64::from(octave) + 1;
    let corner = |dx, dy| random(x / cell + dx, y / cell + dy, seed);
    let [across, down] = [x, y].map(|it| smooth((it % cell) as f64 / cell as f64));
    let top = corner(0, 0) * (1.0 - across) + corner(1, 0) * across;
    let bottom = corner(0, 1) * (1.0 - across) + corner(1, 1) * across;
    top * (1.0 - down) + bottom * down
}

/// A ramp from 0 to 1 that starts and ends level.
fn smooth(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

/// A number in `[0, 1)` that looks random but depends only on its arguments:
/// a multiply and shift mix (the finaliser of SplitMix64), run once for each.
fn random(x: usize, y: usize, seed: u64) -> f64 {
    let mixed = mix(mix(mix(seed) ^ x as u64) ^ y as u64);
    // The upper 53 bits are what the mantissa of an f64 holds exactly.
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// Spreads every bit of `bits` over all 64; the increment moves zero away from
/// itself.
pub fn mix(bits: u64) -> u64 {
    let mut bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
