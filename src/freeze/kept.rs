//! The render world: the pictures of the freezes that the main world sees.
//!
//! The picture of a camera is painted over what the camera has painted, and blurred in place as usual: no pipeline differs.
//! The result is kept, too. While nothing changes, it is painted instead.

use super::freezes::{Freeze, FreezeKey, FreezeReport, FreezeState, Freezes, FrozenBlur};
use super::picture::{KeptPicture, Sheet, Shot, Wanted};
use crate::diagnostics::label::BlurLabel;
use crate::diagnostics::timestamps::timed;
use crate::errors::BlurError;
use crate::formats::{CameraPictureItem, Ends, precision_of};
use crate::gpu::{BlurJob, BlurPreparer, BlurRecorder, BlurRequest, Timed, Views, Work, WorkKind};
use crate::image_changes::ImageChanges;
use crate::mailbox::Mailbox;
use crate::plan::Finish;
use crate::profiles::ShownProfiles;
use crate::schedule::FrozenGlass;
use crate::settings::{BlurStage, FreezeArea, FreezeBlur};
use bevy::camera::CompositingSpace;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{CommandEncoder, TextureFormat};
use bevy::render::renderer::RenderContext;
use bevy::render::view::ViewTarget;
use core::fmt::Display;
use core::sync::atomic::{AtomicBool, Ordering};

/// The pictures of all freezes, visible or not. Recreated with the render device.
///
/// Only taking and fitting know what a picture is made of: tests use numbers.
#[derive(Resource)]
pub struct KeptPictures<P: Send + Sync + 'static = KeptPicture> {
    all: HashMap<FreezeKey, Frozen<P>>,
}

impl<P: Send + Sync> Default for KeptPictures<P> {
    fn default() -> Self {
        Self {
            all: HashMap::default(),
        }
    }
}

/// A freeze, as the main world knows it, and what the render world has of it.
struct Frozen<P> {
    freeze: Freeze,
    /// What glass keeps. It has no effect on a picture that is taken.
    area: FreezeArea,
    /// A number that changes with the contents of the blur's mask.
    mask: u64,
    kept: Kept<P>,
}

/// What the render world has of a freeze.
enum Kept<P> {
    /// There has been no picture to take.
    Nothing,
    /// The picture, or room for it.
    Room(Room<P>),
    /// The picture was lost, or there was no room for it. The blur continues unfrozen.
    Lost,
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

impl<P> Frozen<P> {
    fn room(&self) -> Option<&Room<P>> {
        match &self.kept {
            Kept::Room(room) => Some(room),
            Kept::Nothing | Kept::Lost => None,
        }
    }

    fn taken(&self) -> Option<&Room<P>> {
        self.room().filter(|room| room.is_taken.load(Ordering::Relaxed))
    }

    /// What has become of the picture.
    fn state(&self) -> FreezeState {
        match self.kept {
            Kept::Lost => FreezeState::Lost,
            _ if self.taken().is_some() => FreezeState::Taken,
            _ => FreezeState::Untaken,
        }
    }

    fn lose(&mut self, (entity, _): FreezeKey, why: impl Display) {
        error!("the frozen blur of entity {entity} continues unfrozen: {why}");
        self.kept = Kept::Lost;
    }
}

impl<P: Send + Sync> KeptPictures<P> {
    /// Follows the freezes that the main world sees in this frame, each with what its glass keeps, and the number of its mask's
    /// contents. The pictures of all others are dropped.
    pub fn follow(&mut self, freezes: impl Iterator<Item = (FreezeKey, Freeze, FreezeArea, u64)>) {
        self.all.values_mut().for_each(|frozen| frozen.freeze.is_seen = false);
        for (key, freeze, area, mask) in freezes {
            let known = self.all.remove(&key).filter(|known| known.freeze.id == freeze.id);
            let mut frozen = Frozen {
                freeze,
                area,
                mask,
                kept: known.map_or(Kept::Nothing, |known| known.kept),
            };
            match (freeze.state, frozen.state()) {
                (FreezeState::Taken, FreezeState::Untaken) => {
                    frozen.lose(key, "its picture was lost with the render device")
                }
                (FreezeState::Lost, _) => frozen.kept = Kept::Lost,
                _ => {}
            }
            self.all.insert(key, frozen);
        }
        self.all.retain(|_, frozen| frozen.freeze.is_seen);
    }

    /// The number of the contents of a frozen blur's mask. `None` if the blur is not frozen.
    pub fn mask(&self, key: FreezeKey) -> Option<u64> {
        self.all.get(&key).map(|frozen| frozen.mask)
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
        let frozen = self.all.get(&(entity, FrozenBlur::Glass))?;
        let is_frozen = frozen.state() != FreezeState::Lost && !viewport.is_empty();
        is_frozen.then(|| FrozenGlass {
            keeps: frozen.area,
            taken: frozen.taken().map(|room| room.shot.area_in(viewport)),
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
        let Some(Frozen { kept, .. }) = self.all.get_mut(&key) else {
            return Ok(None);
        };
        if let Kept::Room(room) = kept
            && !*room.is_taken.get_mut()
            && room.shot != shot
        {
            // Never two at once.
            *kept = Kept::Nothing;
        }
        if matches!(kept, Kept::Nothing) {
            *kept = Kept::Room(Room {
                shot,
                is_taken: AtomicBool::new(false),
                picture: make()?,
            });
        }
        Ok(match kept {
            Kept::Room(room) => Some(room),
            Kept::Nothing | Kept::Lost => None,
        })
    }

    /// The room of a blur whose picture must be taken now: once.
    pub fn due(&self, key: FreezeKey) -> Option<&Room<P>> {
        let room = self.all.get(&key)?.room()?;
        (!room.is_taken.swap(true, Ordering::Relaxed)).then_some(room)
    }

    /// Drops the picture of a blur, or its room. The blur continues unfrozen. Logs why.
    pub fn lose(&mut self, key: FreezeKey, why: impl Display) {
        if let Some(frozen) = self.all.get_mut(&key) {
            frozen.lose(key, why);
        }
    }

    /// What the main world does not know yet.
    pub fn reports(&self) -> impl Iterator<Item = FreezeReport> {
        let all = self
            .all
            .iter()
            .map(|(key, frozen)| (*key, frozen.freeze, frozen.state()));
        let differing = all.filter(|(_, freeze, state)| freeze.state != *state);
        differing.map(|(key, freeze, state)| (key, freeze.id, state))
    }
}

/// Extracts the freezes of this frame.
pub fn extract_freezes(
    mut kept: ResMut<KeptPictures>,
    freezes: Extract<Res<Freezes>>,
    areas: Extract<Query<&FreezeArea, With<FreezeBlur>>>,
    profiles: Res<ShownProfiles>,
    images: Extract<Res<ImageChanges>>,
) {
    kept.follow(freezes.seen().map(|(key, freeze)| {
        let area = areas.get(key.0).copied().unwrap_or_default();
        (key, freeze, area, images.number_of_mask(profiles.get(key.0)))
    }));
}

/// Reports what has become of the pictures in this frame.
pub fn report_pictures(kept: Res<KeptPictures>, reports: Res<Mailbox<FreezeReport>>) {
    reports.extend(kept.reports());
}

/// Counts the kept textures.
pub fn count_pictures(kept: Res<KeptPictures>, mut preparer: BlurPreparer) {
    let rooms = kept.all.values().filter_map(Frozen::room);
    rooms
        .flat_map(|room| room.picture.views())
        .for_each(|view| preparer.textures.count_view(view));
}

impl KeptPictures {
    /// Does something to the picture of a blur, or to room for it. If that fails, the picture is lost. `None` if there is none.
    fn prepare<T>(
        &mut self,
        key: FreezeKey,
        shot: Shot,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
        prepare: impl FnOnce(&mut Room<KeptPicture>, &mut BlurPreparer) -> Result<Option<T>, BlurError>,
    ) -> Option<T> {
        let room = self.room(key, shot, || KeptPicture::new(target.main_texture(), &shot, preparer));
        let prepared = room.and_then(|room| room.map_or(Ok(None), |room| prepare(room, preparer)));
        prepared.unwrap_or_else(|error| {
            self.lose(key, error);
            None
        })
    }

    /// The picture of frozen glass as a camera needs it, with its position. `None` if the glass is not frozen, its picture is lost, or the
    /// pipeline that fits it to the camera is missing.
    pub fn fit_glass(
        &mut self,
        entity: Entity,
        shot: Shot,
        camera: &CameraPictureItem,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> Option<(Sheet, URect)> {
        let key = (entity, FrozenBlur::Glass);
        self.prepare(key, shot, target, preparer, |room, preparer| {
            let fitted = room.fitted(shot.camera, camera, preparer)?;
            Ok(fitted.map(|(sheet, area)| (sheet.clone(), area)))
        })
    }

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

    /// Prepares the picture of a frozen camera. Returns whether its result is up to date: then its blur has nothing to do.
    pub fn prepare_camera(
        &mut self,
        entity: Entity,
        stage: BlurStage,
        request: &BlurRequest,
        camera: &CameraPictureItem,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> bool {
        let key = (entity, FrozenBlur::Camera);
        let Some(mask) = self.mask(key).filter(|_| !request.region.is_empty()) else {
            return false;
        };
        let to = Wanted::new(target, camera, request.region);
        let shot = Shot {
            stage,
            camera: to,
            area: request.region,
        };
        let prepared = self.prepare(key, shot, target, preparer, |room, preparer| {
            room.prepare_camera(request, mask, to, camera, preparer)
        });
        prepared == Some(true)
    }

    /// Records the blur of a frozen camera. Returns `false` if there is nothing to record in the place of the live one.
    pub fn record_camera(
        &mut self,
        entity: Entity,
        job: &mut BlurJob,
        recorder: &BlurRecorder,
        context: &mut RenderContext,
        label: Option<&BlurLabel>,
        target: &ViewTarget,
    ) -> bool {
        let key = (entity, FrozenBlur::Camera);
        let is_new = self.take(key, target.main_texture(), IVec2::ZERO, context.command_encoder());
        let Some(Kept::Room(Room { picture, .. })) = self.all.get_mut(&key).map(|frozen| &mut frozen.kept) else {
            return false;
        };
        let whole = Timed::whole(label);
        let is_done = if is_new {
            // In the frame in which the picture is taken, the camera's texture holds it already.
            job.record(recorder, context, whole, &Views::in_camera(target))
        } else if !picture.paint.is_ready(recorder) {
            return false;
        } else if let Some(result) = picture.result().cloned() {
            let views = Views::onto_camera(&result.view, target);
            picture.paint.record(recorder, context, whole, &views);
            return true;
        } else {
            let sharp = picture.shown().view.clone();
            let (paint, part) = (&mut picture.paint, label.map_or(Timed::Not, Timed::Nested));
            timed(context, label, |context, _| {
                paint.record(recorder, context, part, &Views::onto_camera(&sharp, target));
                job.record(recorder, context, part, &Views::in_camera(target))
            })
        };
        if is_done {
            picture.keep_result(target, context);
        }
        true
    }
}

impl Room<KeptPicture> {
    /// Prepares the picture for a camera whose blur makes this request. `None` while the pipeline that fits it to the camera is
    /// missing; otherwise, whether the result of the blur is kept.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    fn prepare_camera(
        &mut self,
        request: &BlurRequest,
        mask: u64,
        to: Wanted,
        camera: &CameraPictureItem,
        preparer: &mut BlurPreparer,
    ) -> Result<Option<bool>, BlurError> {
        if self.fitted(to, camera, preparer)?.is_none() {
            self.picture.paint.release();
            return Ok(None);
        }
        let asked = (!request.is_idle()).then(|| BlurRequest {
            // The camera's two textures take turns: either gives the same result.
            target: self.picture.sheet.texture.id(),
            ends: Ends {
                spaces: [to.space; 2],
                ..request.ends
            },
            keeps: Some(mask),
            ..request.clone()
        });
        self.picture.follow(asked, preparer)?;
        let painted = BlurRequest {
            ends: Ends::new(to.format, to.format),
            work: Work::Copy,
            source_size: request.region.size(),
            source_at: request.region.min.as_ivec2(),
            ..request.clone()
        };
        self.picture.paint.update(preparer, painted)?;
        Ok(Some(self.picture.result().is_some()))
    }

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
        let (from, taken, area) = (self.shot.camera, self.shot.area, self.shot.area_in(to.viewport));
        for format in camera.formats() {
            preparer.announce(ends(from, format, to.space), WorkKind::Mipmap, Finish::Write);
        }
        let picture = &mut self.picture;
        if (area.size(), to.format, to.space) == (taken.size(), from.format, from.space) {
            picture.fitted = None;
        } else if picture.fitted.as_ref().is_none_or(|(fits, _)| *fits != to) {
            let sheet = Sheet::new(area.size(), to.format, preparer)?;
            let (ends, target) = (ends(from, to.format, to.space), sheet.texture.id());
            let request = BlurRequest::whole(ends, target, Work::Mipmap, area.size(), taken.size());
            let views = Views::new(&picture.sheet.view, &sheet.view);
            if !picture.fit.run(preparer, request, &views)? {
                return Ok(None);
            }
            picture.fitted = Some((to, sheet));
        }
        Ok(Some((picture.shown(), area)))
    }
}

/// From a picture of a camera as it was to one of another format or space.
fn ends(from: Wanted, format: TextureFormat, space: CompositingSpace) -> Ends {
    Ends {
        precision: precision_of(format),
        spaces: [from.space, space],
        ..Ends::new(from.format, format)
    }
}
