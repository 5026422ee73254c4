//! Frozen glass: every backdrop keeps its own picture, which its blur reads.

use crate::freeze::{FreezeNumbers, Frozen, Losses, MaskRevisions};
use crate::gpu::BlurPreparer;
use crate::schedule::Freeze;
use crate::settings::{BackdropBlur, BlurProfile, BlurSwitch, FreezeArea, FreezeBlur};
use bevy::ecs::entity::EntityHashMap;
use bevy::math::URect;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::CommandEncoder;

/// All frozen glass, visible or not, by the main world's entity.
#[derive(Resource, Default)]
pub struct FrozenBackdrops(EntityHashMap<FrozenBackdrop>);

/// A frozen backdrop.
pub struct FrozenBackdrop {
    /// The number of the freeze, which distinguishes it from the next.
    number: u64,
    is_there: bool,
    keeps: FreezeArea,
    /// How often the mask has changed.
    revision: u64,
    frozen: Frozen,
}

impl FrozenBackdrop {
    /// How glass on a viewport is frozen.
    pub fn on(&self, viewport: URect) -> Freeze {
        Freeze {
            keeps: self.keeps,
            taken: self.frozen.taken().map(|kept| kept.area_in(viewport)),
            number: self.number,
            revision: self.revision,
        }
    }
}

impl FrozenBackdrops {
    /// How a backdrop on a viewport is frozen, unless its picture is lost.
    pub fn get(&self, entity: Entity, viewport: URect) -> Option<Freeze> {
        let frozen = self.0.get(&entity)?;
        let is_there = !matches!(frozen.frozen, Frozen::Lost) && !viewport.is_empty();
        is_there.then(|| frozen.on(viewport))
    }

    /// The frozen picture of a backdrop.
    pub fn picture_of(&mut self, entity: Entity) -> Option<&mut Frozen> {
        self.0.get_mut(&entity).map(|known| &mut known.frozen)
    }

    /// Takes the picture of a backdrop, unless it has been taken. The first texel of `from` is the texel `origin` of the camera's
    /// picture.
    pub fn take(&self, entity: Entity, from: &wgpu::Texture, origin: IVec2, encoder: &mut CommandEncoder) {
        if let Some(Frozen::Kept(picture)) = self.0.get(&entity).map(|known| &known.frozen) {
            picture.take(from, origin, encoder);
        }
    }
}

type FrozenGlass = (Entity, Option<&'static FreezeArea>, Option<&'static BlurProfile>);

type IsFrozen = (With<BackdropBlur>, With<FreezeBlur>);

/// Extracts which glass is frozen. Glass that is no longer frozen is removed, with its picture.
pub fn extract_frozen(
    mut frozen: ResMut<FrozenBackdrops>,
    glass: Extract<Query<FrozenGlass, IsFrozen>>,
    numbers: Extract<Res<FreezeNumbers>>,
    masks: Extract<Res<MaskRevisions>>,
    switch: Extract<Res<BlurSwitch>>,
) {
    frozen.0.values_mut().for_each(|known| known.is_there = false);
    for (entity, keeps, profile) in glass.iter().filter(|_| switch.is_on()) {
        let (number, revision) = (numbers.of(entity), masks.of(profile));
        match frozen.0.get_mut(&entity) {
            Some(known) if known.number == number => (known.is_there, known.revision) = (true, revision),
            _ => {
                let new = FrozenBackdrop {
                    number,
                    is_there: true,
                    keeps: keeps.copied().unwrap_or_default(),
                    revision,
                    frozen: Frozen::Waiting,
                };
                frozen.0.insert(entity, new);
            }
        }
    }
    frozen.0.retain(|_, known| known.is_there);
}

/// Forgets the pictures of a lost render device.
pub fn lose_pictures(mut frozen: ResMut<FrozenBackdrops>, losses: Res<Losses>) {
    for (entity, known) in &mut frozen.0 {
        known.frozen = known.frozen.without_device((*entity, known.number), &losses);
    }
}

/// Reports the pictures that were taken in this frame.
pub fn report_taken(mut frozen: ResMut<FrozenBackdrops>, losses: Res<Losses>) {
    for (entity, known) in &mut frozen.0 {
        known.frozen.report_taken((*entity, known.number), &losses);
    }
}

/// Counts the kept textures.
pub fn count_pictures(frozen: Res<FrozenBackdrops>, mut preparer: BlurPreparer) {
    for known in frozen.0.values() {
        preparer.count(known.frozen.views());
    }
}
