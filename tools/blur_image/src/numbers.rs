//! How texture formats store numbers, byte by byte.

use half::f16;

/// The numbers of a format's channels, with their bits.
#[derive(Clone, Copy)]
pub enum Numbers {
    Unorm(u32),
    Snorm(u32),
    Uint(u32),
    Sint(u32),
    Float16,
    Float32,
    /// Ten bits each of red, green and blue, from the lowest bit on, and two of alpha.
    Rgb10a2Unorm,
    /// As `Rgb10a2Unorm`.
    Rgb10a2Uint,
    /// Unsigned half floats, rounded to eleven bits of red and green and ten of blue.
    Rg11b10Ufloat,
}

impl Numbers {
    pub fn are_floats(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Rg11b10Ufloat)
    }

    /// The bytes of a texel with this many channels.
    pub fn size(self, channels: usize) -> usize {
        match self {
            Self::Unorm(bits) | Self::Snorm(bits) | Self::Uint(bits) | Self::Sint(bits) => channels * bits as usize / 8,
            Self::Float16 => channels * 2,
            Self::Float32 => channels * 4,
            Self::Rgb10a2Unorm | Self::Rgb10a2Uint | Self::Rg11b10Ufloat => 4,
        }
    }

    /// Stores the channels of a texel. Integers are `largest` for 1.0, or their maximum if that is less.
    pub fn store(self, numbers: impl Iterator<Item = f32>, largest: f64, bytes: &mut Vec<u8>) {
        match self {
            Self::Float16 => bytes.extend(numbers.flat_map(|number| nearest_half(number).to_le_bytes())),
            Self::Float32 => bytes.extend(numbers.flat_map(f32::to_le_bytes)),
            Self::Rgb10a2Unorm | Self::Rgb10a2Uint | Self::Rg11b10Ufloat => {
                let parts = numbers.zip(self.parts(largest));
                let packed = parts.fold(0_u32, |packed, (number, part)| packed | part.store(number));
                bytes.extend(packed.to_le_bytes());
            }
            Self::Unorm(bits) | Self::Snorm(bits) | Self::Uint(bits) | Self::Sint(bits) => {
                let integer = self.integer(bits, largest);
                for number in numbers {
                    bytes.extend(&integer.store(number).to_le_bytes()[..bits as usize / 8]);
                }
            }
        }
    }

    /// Loads the channels of a texel.
    pub fn load(self, bytes: &[u8], largest: f64, numbers: &mut [f32]) {
        let stored = bytes.chunks_exact(bytes.len() / numbers.len());
        match self {
            Self::Float16 => {
                for (number, two) in numbers.iter_mut().zip(stored) {
                    *number = f16::from_le_bytes([two[0], two[1]]).to_f32();
                }
            }
            Self::Float32 => {
                for (number, four) in numbers.iter_mut().zip(stored) {
                    *number = f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
                }
            }
            Self::Rgb10a2Unorm | Self::Rgb10a2Uint | Self::Rg11b10Ufloat => {
                let packed = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                for (number, part) in numbers.iter_mut().zip(self.parts(largest)) {
                    *number = part.load(packed);
                }
            }
            Self::Unorm(bits) | Self::Snorm(bits) | Self::Uint(bits) | Self::Sint(bits) => {
                let integer = self.integer(bits, largest);
                for (number, bytes) in numbers.iter_mut().zip(stored) {
                    *number = integer.load(bytes);
                }
            }
        }
    }

    /// The meaning of integers with this many bits.
    fn integer(self, bits: u32, largest: f64) -> Integer {
        let (unsigned, signed) = ((1_u64 << bits) as f64 - 1.0, (1_u64 << (bits - 1)) as f64 - 1.0);
        let (min, max, one) = match self {
            Self::Snorm(_) => (-signed, signed, signed),
            Self::Sint(_) => (-signed - 1.0, signed, signed.min(largest)),
            Self::Uint(_) | Self::Rgb10a2Uint => (0.0, unsigned, unsigned.min(largest)),
            _ => (0.0, unsigned, unsigned),
        };
        Integer { min, max, one }
    }

    /// The parts of a packed texel, from the lowest bit on.
    fn parts(self, largest: f64) -> [Part; 4] {
        let widths = match self {
            Self::Rg11b10Ufloat => [11, 11, 10, 0],
            _ => [10, 10, 10, 2],
        };
        let mut shift = 0;
        widths.map(|width| {
            let integer = (!self.are_floats()).then(|| self.integer(width, largest));
            shift += width;
            Part {
                shift: shift - width,
                width,
                integer,
            }
        })
    }
}

/// The meaning of integers.
struct Integer {
    min: f64,
    max: f64,
    /// The integer for 1.0.
    one: f64,
}

impl Integer {
    /// The nearest integer, and 0 for NaN.
    fn store(&self, number: f32) -> i64 {
        (f64::from(number) * self.one).round().clamp(self.min, self.max) as i64
    }

    fn load(&self, bytes: &[u8]) -> f32 {
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        let unused = 64 - 8 * bytes.len();
        let shifted = i64::from_le_bytes(whole) << unused;
        // A signed shift extends the sign.
        self.number(if self.min < 0.0 {
            shifted >> unused
        } else {
            (shifted as u64 >> unused) as i64
        })
    }

    fn number(&self, integer: i64) -> f32 {
        ((integer as f64).max(self.min) / self.one) as f32
    }
}

/// A part of a packed texel: an integer, or the upper bits of an unsigned half float.
struct Part {
    shift: u32,
    width: u32,
    integer: Option<Integer>,
}

impl Part {
    fn store(&self, number: f32) -> u32 {
        let bits = match &self.integer {
            Some(integer) => integer.store(number) as u32,
            None => {
                let lost = self.lost();
                let largest = f16::from_bits(f16::MAX.to_bits() >> lost << lost).to_f32();
                // NaN becomes 0, too.
                let number = if number > 0.0 { number.min(largest) } else { 0.0 };
                let bits = u32::from(f16::from_f32(number).to_bits());
                (bits + (1 << lost >> 1)) >> lost
            }
        };
        bits << self.shift
    }

    fn load(&self, packed: u32) -> f32 {
        let bits = packed >> self.shift & ((1 << self.width) - 1);
        match &self.integer {
            Some(integer) => integer.number(i64::from(bits)),
            None => f16::from_bits((bits << self.lost()) as u16).to_f32(),
        }
    }

    /// The lower bits of a half float that are not stored.
    fn lost(&self) -> u32 {
        15 - self.width
    }
}

/// The nearest finite half float.
fn nearest_half(number: f32) -> f16 {
    f16::from_f32(number.clamp(-65504.0, 65504.0))
}
