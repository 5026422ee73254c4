//! The render world: the pictures of the freezes that the main world sees.

use super::freezes::{Freeze, FreezeId, FreezeKey, FreezeReport, FreezeState, Freezes, FrozenBlur};
use super::picture::{KeptPicture, Sheet, Shot, Wanted, area_in};
use crate::errors::BlurError;
use crate::formats::{CameraPictureItem, Ends, precision_of};
use crate::gpu::{BlurPreparer, BlurRequest, Views, Work, WorkKind};
use crate::image_changes::ImageChanges;
use crate::mailbox::Mailbox;
use crate::plan::Finish;
use crate::schedule::FrozenGlass;
use crate::settings::{BlurProfile, BlurStage, FreezeArea, FreezeBlur};
use bevy::camera::CompositingSpace;
use bevy::math::URect;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{CommandEncoder, TextureFormat};
use core::fmt::Display;
use core::sync::atomic::{AtomicBool, Ordering};

/// The pictures of all freezes, visible or not. Recreated with the render device.
///
/// Only taking and fitting know what a picture is made of: tests use numbers.
#[derive(Resource)]
pub struct KeptPictures<P: Send + Sync + 'static = KeptPicture> {
    all: HashMap<FreezeKey, Kept<P>>,
}

impl<P: Send + Sync> Default for KeptPictures<P> {
    fn default() -> Self {
        Self {
            all: HashMap::default(),
        }
    }
}

/// What the render world has of a freeze.
struct Kept<P> {
    /// As the main world knows it.
    freeze: Freeze,
    /// What glass keeps. It has no effect on a picture that is taken.
    area: FreezeArea,
    /// A number that changes with the contents of the blur's mask.
    mask: u64,
    /// The picture, or room for it. `None` while there is no picture to take, and when it is lost.
    room: Option<Room<P>>,
    /// Whether the picture was lost, or there was no room for it. The blur continues unfrozen.
    is_lost: bool,
}

/// Room for a picture, or the picture.
pub struct Room<P> {
    /// What it shows.
    pub shot: Shot,
    /// Atomic, because the picture is taken in a system with shared access.
    is_taken: AtomicBool,
    /// What it is made of.
    pub picture: P,
}

impl<P> Room<P> {
    /// Whether it holds the picture.
    pub fn is_taken(&self) -> bool {
        self.is_taken.load(Ordering::Relaxed)
    }

    /// The position of the picture in a viewport.
    pub fn area_in(&self, viewport: URect) -> URect {
        area_in(&self.shot, viewport)
    }
}

impl<P> Kept<P> {
    /// What has become of the picture.
    fn state(&self) -> FreezeState {
        match self.taken() {
            _ if self.is_lost => FreezeState::Lost,
            Some(_) => FreezeState::Taken,
            None => FreezeState::Untaken,
        }
    }

    fn taken(&self) -> Option<&Room<P>> {
        self.room.as_ref().filter(|room| room.is_taken())
    }

    fn lose(&mut self, (entity, _): FreezeKey, why: impl Display) {
        error!("the frozen blur of entity {entity} continues unfrozen: {why}");
        (self.room, self.is_lost) = (None, true);
    }
}

impl<P: Send + Sync> KeptPictures<P> {
    /// Follows the freezes that the main world sees in this frame, each with what its glass keeps, and the number of its mask's
    /// contents. The pictures of all others are dropped.
    pub fn follow(&mut self, freezes: impl Iterator<Item = (FreezeKey, Freeze, FreezeArea, u64)>) {
        self.all.values_mut().for_each(|kept| kept.freeze.is_seen = false);
        for (key, freeze, area, mask) in freezes {
            let new = || Kept {
                freeze,
                area,
                mask,
                room: None,
                is_lost: false,
            };
            let kept = self.all.entry(key).or_insert_with(new);
            if kept.freeze.id != freeze.id {
                *kept = new();
            }
            (kept.freeze, kept.area, kept.mask) = (freeze, area, mask);
            match (freeze.state, kept.state()) {
                (FreezeState::Taken, FreezeState::Untaken) => {
                    kept.lose(key, "its picture was lost with the render device")
                }
                (FreezeState::Lost, _) => (kept.room, kept.is_lost) = (None, true),
                _ => {}
            }
        }
        self.all.retain(|_, kept| kept.freeze.is_seen);
    }

    /// The freeze of a blur, and the number of its mask's contents.
    pub fn freeze(&self, key: FreezeKey) -> Option<(FreezeId, u64)> {
        self.all.get(&key).map(|kept| (kept.freeze.id, kept.mask))
    }

    /// The picture of a blur, if it has been taken.
    pub fn taken(&self, key: FreezeKey) -> Option<&Room<P>> {
        self.all.get(&key)?.taken()
    }

    /// The stage at which a camera's picture was taken.
    pub fn stage(&self, camera: Entity) -> Option<BlurStage> {
        self.taken((camera, FrozenBlur::Camera)).map(|room| room.shot.stage)
    }

    /// How glass on a viewport is frozen. `None` if it is not, or its picture is lost.
    pub fn glass(&self, entity: Entity, viewport: URect) -> Option<FrozenGlass> {
        let kept = self.all.get(&(entity, FrozenBlur::Glass))?;
        let is_frozen = kept.state() != FreezeState::Lost && !viewport.is_empty();
        is_frozen.then(|| FrozenGlass {
            keeps: kept.area,
            taken: kept.taken().map(|room| room.area_in(viewport)),
        })
    }

    /// The picture of a blur, or room for it. Until the picture is taken, room is made anew whenever the shot changes. `None` if the
    /// blur is not frozen, or its picture is lost.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn room(
        &mut self,
        key: FreezeKey,
        shot: Shot,
        make: impl FnOnce() -> Result<P, BlurError>,
    ) -> Result<Option<&mut Room<P>>, BlurError> {
        let Some(kept) = self.all.get_mut(&key) else {
            return Ok(None);
        };
        // Never two at once.
        kept.room.take_if(|room| !room.is_taken() && room.shot != shot);
        if kept.room.is_none() && !kept.is_lost {
            kept.room = Some(Room {
                shot,
                is_taken: AtomicBool::new(false),
                picture: make()?,
            });
        }
        Ok(kept.room.as_mut())
    }

    /// The picture of a blur, or room for it.
    pub fn room_mut(&mut self, key: FreezeKey) -> Option<&mut Room<P>> {
        self.all.get_mut(&key)?.room.as_mut()
    }

    /// The room of a blur whose picture must be taken now: once.
    pub fn due(&self, key: FreezeKey) -> Option<&Room<P>> {
        let room = self.all.get(&key)?.room.as_ref()?;
        (!room.is_taken.swap(true, Ordering::Relaxed)).then_some(room)
    }

    /// Drops the picture of a blur, or its room. The blur continues unfrozen. Logs why.
    pub fn lose(&mut self, key: FreezeKey, why: impl Display) {
        if let Some(kept) = self.all.get_mut(&key) {
            kept.lose(key, why);
        }
    }

    /// What the main world does not know yet.
    pub fn reports(&self) -> impl Iterator<Item = FreezeReport> {
        let differs = |(_, kept): &(_, &Kept<P>)| kept.state() != kept.freeze.state;
        let differing = self.all.iter().filter(differs);
        differing.map(|(key, kept)| (*key, kept.freeze.id, kept.state()))
    }
}

type FrozenThing = (Option<&'static FreezeArea>, Option<&'static BlurProfile>);

/// Extracts the freezes of this frame.
pub fn extract_freezes(
    mut kept: ResMut<KeptPictures>,
    freezes: Extract<Res<Freezes>>,
    frozen: Extract<Query<FrozenThing, With<FreezeBlur>>>,
    images: Extract<Res<ImageChanges>>,
) {
    kept.follow(freezes.seen().map(|(key, freeze)| {
        let (area, profile) = frozen.get(key.0).unwrap_or_default();
        let (area, mask) = (area.copied().unwrap_or_default(), images.number_of_mask(profile));
        (key, freeze, area, mask)
    }));
}

/// Reports what has become of the pictures in this frame.
pub fn report_pictures(kept: Res<KeptPictures>, reports: Res<Mailbox<FreezeReport>>) {
    reports.extend(kept.reports());
}

/// Counts the kept textures.
pub fn count_pictures(kept: Res<KeptPictures>, mut preparer: BlurPreparer) {
    for room in kept.all.values().filter_map(|kept| kept.room.as_ref()) {
        preparer.count(room.picture.views());
    }
}

impl KeptPictures {
    /// Copies the picture of a blur from what the camera has painted so far, unless it has been taken. Returns whether it was
    /// copied now. The first texel of `from` is the texel `origin` of the camera's picture.
    pub fn take(&self, key: FreezeKey, from: &wgpu::Texture, origin: IVec2, encoder: &mut CommandEncoder) -> bool {
        let due = self.due(key);
        if let Some(room) = due {
            let first = (room.shot.area.min.as_ivec2() - origin).as_uvec2();
            room.picture.sheet.copy_from(from, first, encoder);
        }
        due.is_some()
    }
}

impl Room<KeptPicture> {
    /// The picture as a camera needs it, with its position. `None` while a pipeline for that is missing. Pipelines for
    /// the camera's formats are requested ahead of time.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn fitted(
        &mut self,
        to: Wanted,
        camera: &CameraPictureItem,
        preparer: &mut BlurPreparer,
    ) -> Result<Option<(&Sheet, URect)>, BlurError> {
        for format in camera.formats() {
            preparer.announce(self.ends(format, to.space), WorkKind::Mipmap, Finish::Write);
        }
        let (
            Shot {
                camera: from,
                area: taken,
                ..
            },
            area,
        ) = (self.shot, self.area_in(to.viewport));
        if (area.size(), to.format, to.space) == (taken.size(), from.format, from.space) {
            self.picture.fitted = None;
        } else if self.picture.fitted.as_ref().is_none_or(|(fits, _)| *fits != to) {
            let sheet = Sheet::new(area.size(), to.format, preparer)?;
            let (ends, target) = (self.ends(to.format, to.space), sheet.texture.id());
            let request = BlurRequest::whole(ends, target, Work::Mipmap, area.size(), taken.size());
            let views = Views::new(&self.picture.sheet.view, &sheet.view);
            if !self.picture.fit.run(preparer, request, &views)? {
                return Ok(None);
            }
            self.picture.fitted = Some((to, sheet));
        }
        Ok(Some((self.picture.shown(), area)))
    }

    fn ends(&self, format: TextureFormat, space: CompositingSpace) -> Ends {
        Ends {
            source: self.shot.camera.format,
            destination: format,
            precision: precision_of(format),
            in_place: false,
            spaces: [self.shot.camera.space, space],
            ..Ends::of_camera(format, true)
        }
    }
}
