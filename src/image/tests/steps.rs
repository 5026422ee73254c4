//! What happens in the histories of the [walk](super::walk).

/// How many entities and images a history is about.
pub const SLOTS: usize = 4;

/// Something that happens. Slots and images are counted from 0.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Spawn {
        slot: usize,
        source: usize,
        target: usize,
        disabled: bool,
    },
    Strength {
        slot: usize,
        radius: u8,
    },
    Image {
        slot: usize,
        source: usize,
        target: usize,
        update: u8,
    },
    Mask {
        slot: usize,
        image: usize,
    },
    Varying {
        slot: usize,
    },
    NoStrength(usize),
    NoImage(usize),
    NoProfile(usize),
    Again(usize),
    Disable {
        slot: usize,
        pooled: bool,
    },
    Enable(usize),
    Despawn(usize),
    Clone {
        slot: usize,
        to: usize,
    },
    Touch(usize),
    Source {
        slot: usize,
        image: usize,
    },
    /// It reads what another blur writes.
    Chain {
        slot: usize,
        of: usize,
    },
    Update {
        slot: usize,
        update: u8,
    },
    Pixels {
        image: usize,
        side: u32,
        pixels: u8,
    },
    NoPixels(usize),
    LatePixels(u8),
    LatePipelines(u8),
    LoseDevice,
    Frames(u8),
}

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn index(&mut self) -> usize {
        self.below(SLOTS as u64) as usize
    }

    fn byte(&mut self, limit: u64) -> u8 {
        self.below(limit) as u8
    }

    pub fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    pub fn step(&mut self) -> Step {
        let (slot, other) = (self.index(), self.index());
        match self.below(34) {
            0..3 => Step::Spawn {
                slot,
                source: other,
                target: self.target(),
                disabled: self.below(4) == 0,
            },
            3 => Step::Strength {
                slot,
                radius: self.byte(5),
            },
            4..6 => Step::Image {
                slot,
                source: other,
                target: self.target(),
                update: self.byte(3),
            },
            6 => Step::Mask { slot, image: other },
            7 => Step::Varying { slot },
            8 => Step::NoStrength(slot),
            9 => Step::NoImage(slot),
            10 => Step::NoProfile(slot),
            11 => Step::Again(slot),
            12..14 => Step::Disable {
                slot,
                pooled: self.flip(),
            },
            14..16 => Step::Enable(slot),
            16 => Step::Despawn(slot),
            17 => Step::Clone { slot, to: other },
            18 => Step::Touch(slot),
            19 => Step::Source { slot, image: other },
            20 => Step::Chain { slot, of: other },
            21 => Step::Update {
                slot,
                update: self.byte(3),
            },
            22..25 => Step::Pixels {
                image: other,
                side: self.byte(2) as u32 + 1,
                pixels: self.byte(250) + 1,
            },
            25 => Step::NoPixels(other),
            26 => Step::LatePixels(self.byte(4)),
            27 => Step::LatePipelines(self.byte(4)),
            28 if self.below(3) == 0 => Step::LoseDevice,
            _ => Step::Frames(self.byte(3) + 1),
        }
    }

    /// An image, or mostly none: the plugin's own.
    fn target(&mut self) -> usize {
        self.below(2 * SLOTS as u64) as usize
    }
}
