//! How numbers encode light, where it is not by the curve of sRGB.

/// How the numbers of a picture encode light; 1.0 is the white of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// Each number is light to the power of this.
    Power(f32),
    /// The perceptual quantiser of SMPTE ST 2084, of up to 10,000 cd/m².
    Pq,
    /// The hybrid log-gamma of ARIB STD-B67, of the light of the scene.
    Hlg,
}

/// The largest light of the perceptual quantiser, next to the 203 cd/m² that ITU-R BT.2408 has for white.
const PQ_LARGEST: f32 = 10_000.0 / 203.0;
const PQ_EXPONENTS: [f32; 2] = [2610.0 / 16384.0, 2523.0 / 32.0];
const PQ_FACTORS: [f32; 3] = [3424.0 / 4096.0, 2413.0 / 128.0, 2392.0 / 128.0];

/// BT.2408 has white at three quarters of the signal, for which hybrid log-gamma has this light.
const HLG_WHITE: f32 = 0.264_9;
const HLG: [f32; 3] = [0.178_832_77, 0.284_668_92, 0.559_910_7];

impl Curve {
    /// The light of a number.
    pub fn light(self, number: f32) -> f32 {
        match self {
            Self::Power(exponent) => number.max(0.0).powf(1.0 / exponent),
            Self::Pq => {
                let root = number.clamp(0.0, 1.0).powf(1.0 / PQ_EXPONENTS[1]);
                let share = (root - PQ_FACTORS[0]).max(0.0) / (PQ_FACTORS[1] - PQ_FACTORS[2] * root);
                share.powf(1.0 / PQ_EXPONENTS[0]) * PQ_LARGEST
            }
            Self::Hlg => {
                let [a, b, c] = HLG;
                let number = number.max(0.0);
                let light = if number <= 0.5 {
                    number * number / 3.0
                } else {
                    (((number - c) / a).exp() + b) / 12.0
                };
                light / HLG_WHITE
            }
        }
    }

    /// The number of a light.
    pub fn number(self, light: f32) -> f32 {
        let light = light.max(0.0);
        match self {
            Self::Power(exponent) => light.powf(exponent),
            Self::Pq => {
                let power = (light / PQ_LARGEST).min(1.0).powf(PQ_EXPONENTS[0]);
                let share = (PQ_FACTORS[0] + PQ_FACTORS[1] * power) / (1.0 + PQ_FACTORS[2] * power);
                share.powf(PQ_EXPONENTS[1])
            }
            Self::Hlg => {
                let [a, b, c] = HLG;
                let light = light * HLG_WHITE;
                if light <= 1.0 / 12.0 {
                    (3.0 * light).sqrt()
                } else {
                    a * (12.0 * light - b).ln() + c
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_the_same() {
        for curve in [Curve::Power(1.0), Curve::Power(0.6), Curve::Pq, Curve::Hlg] {
            for step in 0..=64 {
                let number = step as f32 / 64.0;
                let back = curve.number(curve.light(number));
                assert!((back - number).abs() < 1e-4, "{curve:?}: {number} becomes {back}");
            }
        }
    }

    /// ITU-R BT.2408: white is 58 % of the perceptual quantiser, and 75 % of hybrid log-gamma.
    #[test]
    fn white_is_one() {
        assert!(
            (Curve::Pq.number(1.0) - 0.5807).abs() < 1e-3,
            "{}",
            Curve::Pq.number(1.0)
        );
        assert!(
            (Curve::Hlg.number(1.0) - 0.75).abs() < 1e-3,
            "{}",
            Curve::Hlg.number(1.0)
        );
        assert_eq!(Curve::Power(1.0).number(1.0), 1.0);
    }

    #[test]
    fn the_ends_of_the_quantiser_are_those_of_the_standard() {
        assert!(Curve::Pq.light(0.0) < 1e-6);
        assert!((Curve::Pq.light(1.0) * 203.0 - 10_000.0).abs() < 10.0);
    }
}
