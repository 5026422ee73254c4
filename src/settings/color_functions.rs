//! Colour functions, which glass and filters of the user interface share, in the order in which users list them.

use super::ranges::{NumberRange, Problem};
use bevy::prelude::*;

/// One step of a list of colour functions, as in CSS `filter`.
///
/// Steps act one after the other, on values encoded as sRGB that are not multiplied by alpha. Each limits its result to at least 0, and
/// in pictures of eight bits to at most 1. Alpha stays. The formulas are those of
/// [Filter Effects Module Level 1](https://www.w3.org/TR/filter-effects-1/), sections 7 to 9.
///
/// A step that is out of range changes nothing and is reported once.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum ColorStep {
    /// CSS `saturate()`: 0 is grey, 1 changes nothing. Range: finite and at least 0.
    Saturate(f32),
    /// CSS `brightness()`: 0 is black, 1 changes nothing. Range: finite and at least 0.
    Brightness(f32),
    /// CSS `contrast()`: 0 is grey, 1 changes nothing. Range: finite and at least 0.
    Contrast(f32),
    /// CSS `invert()`: 0 changes nothing, 1 is the negative. Range: 0 to 1; values beyond count as 0 or 1.
    Invert(f32),
    /// CSS `hue-rotate()`, in degrees: 0 changes nothing. Range: finite.
    HueRotate(f32),
    /// CSS `sepia()`: 0 changes nothing, 1 is brown. Range: 0 to 1; values beyond count as 0 or 1.
    Sepia(f32),
    /// Multiplied by this colour: white changes nothing, and its alpha does not count. Range: finite and at least 0.
    Tint(Color),
    /// Mixed with this colour, by its alpha: a figure that flashes white, a panel that fades to black. Range: finite; an alpha beyond
    /// 0 and 1 counts as 0 or 1.
    Cover(Color),
    /// Any other function: the rows give red, green and blue, from red, green, blue and 1. Range: finite.
    Matrix([Vec4; 3]),
}

impl Default for ColorStep {
    /// Changes nothing.
    fn default() -> Self {
        Self::Saturate(1.0)
    }
}

/// The rows of a matrix that changes nothing.
const IDENTITY: [Vec4; 3] = [Vec4::X, Vec4::Y, Vec4::Z];

/// The weights of red, green and blue in a colour without saturation.
const GREY: Vec3 = Vec3::new(0.213, 0.715, 0.072);

impl ColorStep {
    /// The rows that give red, green and blue, from red, green, blue and 1.
    ///
    /// # Errors
    /// The step is out of this range.
    fn matrix(self) -> Result<[Vec4; 3], NumberRange> {
        use NumberRange::{Finite, Positive, Share};
        let splat = Vec3::splat;
        match self {
            // A share beyond 1 is more colourful.
            Self::Saturate(scale) => Positive.check([scale]).map(|_| mixed([GREY; 3], 1.0 - scale)),
            Self::Brightness(scale) => Positive.check([scale]).map(|_| scaled(splat(scale), Vec3::ZERO)),
            Self::Contrast(scale) => (Positive.check([scale])).map(|_| scaled(splat(scale), splat(0.5 - 0.5 * scale))),
            Self::Invert(share) => Share
                .check([share])
                .map(|[share]| scaled(splat(1.0 - 2.0 * share), splat(share))),
            Self::HueRotate(degrees) => Finite.check([degrees]).map(|_| rotated(degrees)),
            Self::Sepia(share) => Share.check([share]).map(|[share]| mixed(SEPIA, share)),
            Self::Tint(color) => (Positive.check(Srgba::from(color).to_f32_array_no_alpha()))
                .map(|color| scaled(Vec3::from(color), Vec3::ZERO)),
            Self::Cover(color) => Finite
                .check(Srgba::from(color).to_f32_array())
                .map(|[red, green, blue, alpha]| {
                    let share = alpha.clamp(0.0, 1.0);
                    scaled(splat(1.0 - share), share * Vec3::new(red, green, blue))
                }),
            Self::Matrix(rows) => match rows.iter().all(|row| row.is_finite()) {
                true => Ok(rows),
                false => Err(Finite),
            },
        }
    }

    /// What is wrong with it.
    fn problem(self) -> Option<String> {
        let range = self.matrix().err()?;
        Some(format!("the colour step {self:?} is out of range: it must be {range}"))
    }
}

/// The rows that scale every channel and add a constant.
fn scaled(scale: Vec3, constant: Vec3) -> [Vec4; 3] {
    [0, 1, 2].map(|row| (scale[row] * IDENTITY[row].truncate()).extend(constant[row]))
}

/// The rows that go from each channel to a mixture of all, by this share.
fn mixed(mixture: [Vec3; 3], share: f32) -> [Vec4; 3] {
    [0, 1, 2].map(|row| IDENTITY[row].truncate().lerp(mixture[row], share).extend(0.0))
}

/// The rows of CSS `sepia(1)`.
const SEPIA: [Vec3; 3] = [
    Vec3::new(0.393, 0.769, 0.189),
    Vec3::new(0.349, 0.686, 0.168),
    Vec3::new(0.272, 0.534, 0.131),
];

/// CSS `hue-rotate()`. No turn is exactly the identity.
fn rotated(degrees: f32) -> [Vec4; 3] {
    let (sin, cos) = (f64::from(degrees) % 360.0).to_radians().sin_cos();
    let (sin, cos) = (sin as f32, cos as f32);
    let across = [
        Vec3::new(-0.213, -0.715, 0.928),
        Vec3::new(0.143, 0.140, -0.283),
        Vec3::new(-0.787, 0.715, 0.072),
    ];
    if (sin, cos) == (0.0, 1.0) {
        return IDENTITY;
    }
    [0, 1, 2].map(|row| (GREY + cos * (IDENTITY[row].truncate() - GREY) + sin * across[row]).extend(0.0))
}

/// The steps that change something, in their order, as matrices. Most glass and groups have none, and are moved often: a list is small.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorMatrices(Vec<[Vec4; 3]>);

impl ColorMatrices {
    /// This many steps count.
    pub const MOST: usize = 8;

    /// No step.
    pub const NEUTRAL: Self = Self(Vec::new());

    /// The first steps that are in range and change something.
    pub fn new(steps: &[ColorStep]) -> Self {
        Self(effective(steps).take(Self::MOST).collect())
    }

    /// Whether colours stay as they are.
    pub fn is_neutral(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of steps.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// All of them, with neutral ones at the end.
    pub fn matrices(&self) -> [[Vec4; 3]; Self::MOST] {
        core::array::from_fn(|step| self.0.get(step).copied().unwrap_or(IDENTITY))
    }
}

fn effective(steps: &[ColorStep]) -> impl Iterator<Item = [Vec4; 3]> {
    // White is not exactly 1 once it is encoded.
    let is_identity = |rows: &[Vec4; 3]| rows.iter().zip(IDENTITY).all(|(row, one)| row.abs_diff_eq(one, 1e-6));
    let matrices = steps.iter().filter_map(|step| step.matrix().ok());
    matrices.filter(move |rows| !is_identity(rows))
}

/// What is wrong with steps of colour: one of them, or their number.
pub fn colors_problem(steps: &[ColorStep]) -> Option<Problem> {
    let number = effective(steps).count();
    let too_many = || {
        let most = ColorMatrices::MOST;
        (number > most).then(|| format!("{number} colour steps change something; at most {most} count, the first ones"))
    };
    let problem = steps.iter().find_map(|step| step.problem()).or_else(too_many);
    problem.map(|problem| ("colors", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neutral_steps_are_no_steps() {
        let neutral = [
            ColorStep::default(),
            ColorStep::Brightness(1.0),
            ColorStep::Contrast(1.0),
            ColorStep::Invert(-1.0),
            ColorStep::HueRotate(-720.0),
            ColorStep::Sepia(0.0),
            ColorStep::Tint(Color::WHITE.with_alpha(0.2)),
            ColorStep::Cover(Color::BLACK.with_alpha(0.0)),
            ColorStep::Matrix(IDENTITY),
        ];
        assert!(ColorMatrices::new(&neutral).is_neutral());
        assert_eq!(colors_problem(&neutral), None);
    }

    #[test]
    fn steps_out_of_range_change_nothing_and_are_named() {
        let wrong = [
            ColorStep::Saturate(-1.0),
            ColorStep::Brightness(f32::INFINITY),
            ColorStep::Contrast(f32::NAN),
            ColorStep::Invert(f32::NAN),
            ColorStep::HueRotate(f32::INFINITY),
            ColorStep::Sepia(f32::NAN),
            ColorStep::Tint(Color::srgb(-0.5, 0.0, 0.0)),
            ColorStep::Cover(Color::srgb(f32::NAN, 0.0, 0.0)),
            ColorStep::Matrix([Vec4::NAN; 3]),
        ];
        for step in wrong {
            assert!(ColorMatrices::new(&[step]).is_neutral(), "{step:?}");
            let (field, problem) = colors_problem(&[ColorStep::default(), step]).unwrap();
            assert_eq!(field, "colors");
            assert!(problem.contains(&format!("{step:?}")), "{problem}");
        }
    }

    #[test]
    fn the_first_eight_steps_count() {
        let dark = [ColorStep::Brightness(0.5); 8];
        assert_eq!(colors_problem(&dark), None);
        let mut more = vec![ColorStep::default(); 3];
        more.extend(dark);
        more.push(ColorStep::Invert(1.0));
        assert_eq!(ColorMatrices::new(&more), ColorMatrices::new(&dark));
        let (_, problem) = colors_problem(&more).unwrap();
        assert!(problem.starts_with("9 colour steps"), "{problem}");
    }
}
