//! The blurs behind glass. Every group of backdrops has one job, in which the backdrops are items; it leaves their last steps to
//! the glass. Each backdrop with a profile has its own job.
//!
//! Everything is prepared before anything is drawn: a system that draws items of a phase borrows the whole world, so it can
//! change nothing.

use super::camera_groups::CameraGroups;
use super::extract::ExtractedBackdrops;
use super::extracted::ExtractedBackdrop;
use super::freeze::FrozenBackdrops;
use super::groups::Group;
use super::job::BackdropJob;
use super::pipelines::BackdropPipelines;
use super::share::{item_of, share};
use crate::errors::BlurError;
use crate::formats::{CameraPicture, CameraPictureItem, Ends};
use crate::freeze::{Frozen, Losses, Wanted};
use crate::gpu::{BlurIo, BlurJob, BlurPreparer, BlurRequest, Deferred, PageSet, Work};
use crate::plan::Finish;
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::math::URect;
use bevy::prelude::*;
use bevy::render::render_resource::{TextureUsages, TextureView};
use bevy::render::view::ViewTarget;

/// The pages of glass. What is blurred there is painted before the next group is blurred.
pub const PAGES: PageSet = PageSet("glass", [0; 2]);

/// The page that holds what glass inside filtered groups sees.
const SEEN: PageSet = PageSet("seen by glass", [0; 2]);

/// The jobs of all glass. Recreated with the render device.
#[derive(Resource, Default)]
pub struct BackdropJobs {
    /// The jobs of groups, by the main world's entity of their first backdrop.
    groups: EntityHashMap<BackdropJob>,
    /// The jobs of backdrops whose sigma varies, by the main world's entity.
    varying: EntityHashMap<BackdropJob>,
    /// For every backdrop of this frame the job that blurs it.
    places: Vec<Option<Place>>,
    /// The jobs of frozen backdrops, by the main world's entity.
    frozen: EntityHashMap<BackdropJob>,
    /// The backdrops that were blurred in a group in the last frame.
    were_grouped: EntityHashSet,
    /// The page that holds what glass inside filtered groups sees, one backdrop after the other. By the render world's entity of
    /// the camera.
    nested: EntityHashMap<TextureView>,
}

/// The job that blurs a backdrop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// The job of a group with this first backdrop, and the index of the item in it.
    Group(Entity, usize),
    /// Its own job.
    Alone(Entity),
    /// Its own job, which reads a kept picture.
    Frozen(Entity),
}

impl BackdropJobs {
    /// The last step that the blur of a backdrop leaves to the glass, by the index of the backdrop. `None` if the blur cannot be
    /// encoded.
    #[must_use]
    pub fn deferred(&self, backdrop: usize) -> Option<Deferred<'_>> {
        let (job, item) = match (*self.places.get(backdrop)?)? {
            Place::Group(leader, item) => (self.groups.get(&leader)?, item),
            Place::Alone(entity) => (self.varying.get(&entity)?, 0),
            Place::Frozen(entity) => (self.frozen.get(&entity)?, 0),
        };
        job.is_ready.then_some(())?;
        job.job.deferred(item)
    }

    /// The blurs of a group that can be encoded.
    pub fn of_group<'a>(
        &'a self,
        group: &'a Group,
        backdrops: &'a ExtractedBackdrops,
    ) -> impl Iterator<Item = &'a BlurJob> {
        let entities = group.backdrops.iter().map(|index| backdrops.0[*index].entity);
        let jobs =
            entities.flat_map(|entity| [&self.groups, &self.varying, &self.frozen].map(|jobs| jobs.get(&entity)));
        jobs.flatten().filter(|job| job.is_ready).map(|job| &job.job)
    }

    /// The page that holds what glass inside filtered groups sees. What a backdrop sees begins at the page's first texel.
    #[cfg(feature = "ui")]
    pub fn nested(&self, camera: Entity) -> Option<&TextureView> {
        self.nested.get(&camera)
    }

    /// The texels of the camera's picture that must be painted before a backdrop is blurred, `None` if its blur reads a picture
    /// that has already been taken.
    #[cfg(feature = "ui")]
    pub fn needs(&self, backdrop: usize, backdrops: &ExtractedBackdrops) -> Option<URect> {
        let is_kept = matches!(self.places.get(backdrop)?, Some(Place::Frozen(_)));
        let backdrop = &backdrops.0[backdrop];
        (backdrop.sees_texels().is_some() || !is_kept).then(|| backdrop.looks_at())
    }

    fn start(&mut self, backdrops: usize) {
        for jobs in [&mut self.groups, &mut self.varying, &mut self.frozen] {
            jobs.values_mut().for_each(|job| job.is_used = false);
        }
        self.places.clear();
        self.places.resize(backdrops, None);
        self.nested.clear();
    }

    /// Takes a page that is large enough for what each of these groups sees.
    fn take_nested(
        &mut self,
        groups: &[Group],
        backdrops: &ExtractedBackdrops,
        target: &ViewTarget,
        preparer: &mut BlurPreparer,
    ) -> Option<TextureView> {
        let indices = groups.iter().flat_map(|group| &group.backdrops);
        let sizes = indices.map(|index| backdrops.0[*index].looks_at().size());
        let size = sizes.reduce(UVec2::max)?;
        let format = target.main_texture_format();
        let usages = TextureUsages::RENDER_ATTACHMENT
            | TextureUsages::TEXTURE_BINDING
            | TextureUsages::COPY_SRC
            | TextureUsages::COPY_DST;
        let mut pages = Vec::new();
        let taken = BlurError::check_usage("camera", target.main_texture().usage(), TextureUsages::COPY_SRC)
            .and_then(|()| preparer.take_pages(SEEN, &mut [size], (format, usages), &mut pages));
        if let Err(error) = taken {
            error_once!("the glass inside of filtered nodes: {error}");
        }
        pages.pop()
    }

    fn update_group(
        &mut self,
        group: &Group,
        backdrops: &ExtractedBackdrops,
        source: Source,
        preparer: &mut BlurPreparer,
    ) {
        let of_group = || group.backdrops.iter().map(|index| (*index, &backdrops.0[*index]));
        for (index, backdrop) in of_group() {
            if self.places[index].is_some() {
                continue;
            }
            if let Some(field) = backdrop.field.as_ref().filter(|_| backdrop.blurs()) {
                let work = Work::blur(backdrop.sigma, backdrop.edge, Some(field.clone()));
                let request = live_request(backdrop, work, backdrop.reads, source);
                let before = (&self.frozen, &self.were_grouped);
                let job = self.varying.entry(backdrop.entity);
                let job = job.or_insert_with(|| BackdropJob::going_on(before, backdrop.entity));
                // Until its own job can be encoded, a backdrop stays in the group that it was in.
                if job.update(backdrop, request, &source.views(), preparer)
                    || !self.were_grouped.contains(&backdrop.entity)
                {
                    self.places[index] = Some(Place::Alone(backdrop.entity));
                }
            }
        }
        let places = &mut self.places;
        let is_grouped = |(index, _): &(usize, &ExtractedBackdrop)| places[*index].is_none();
        let grouped: Vec<(usize, &ExtractedBackdrop)> = of_group().filter(is_grouped).collect();
        let Some((_, leader)) = grouped.first() else {
            return;
        };
        let asked = share(grouped.iter().map(|(_, backdrop)| *backdrop));
        for ((index, _), item) in grouped.iter().zip(&asked.item_of) {
            places[*index] = Some(Place::Group(leader.entity, *item));
        }
        let job = self.groups.entry(leader.entity).or_default();
        let items = job.batch_of(&asked.items);
        // All backdrops of a group are on one picture, so its properties can be read from the first backdrop.
        let request = live_request(leader, Work::Batch(PAGES, items), whole_of(leader), source);
        job.update(leader, request, &source.views(), preparer);
    }

    /// Updates the job that blurs a frozen backdrop's picture. If the picture is lost, or the pipeline that fits it to the
    /// camera is missing, the backdrop is blurred as if it were not frozen.
    fn update_frozen(
        &mut self,
        (index, backdrop): (usize, &ExtractedBackdrop),
        (target, picture): (&ViewTarget, &CameraPictureItem),
        frozen: &mut FrozenBackdrops,
        preparer: &mut BlurPreparer,
        losses: &Losses,
    ) {
        let Some(freeze) = backdrop.freeze else {
            return;
        };
        let Some(frozen) = frozen.picture_of(backdrop.entity) else {
            return;
        };
        let wanted = Wanted::new(target, picture, backdrop.picture.seen());
        let room = frozen.room(target.main_texture(), wanted, freeze.area, preparer);
        let fitted = room.and_then(|room| room.map_or(Ok(None), |kept| kept.fitted(wanted, picture, preparer)));
        let (sheet, area) = match fitted {
            Ok(Some(fitted)) => fitted,
            Ok(None) => return,
            Err(error) => {
                *frozen = Frozen::Lost;
                losses.push((backdrop.entity, freeze.number), error);
                return;
            }
        };
        let job = self.frozen.entry(backdrop.entity).or_default();
        if job.frozen != Some(freeze.number) {
            *job = BackdropJob::going_on((&self.varying, &self.were_grouped), backdrop.entity);
            job.frozen = Some(freeze.number);
        }
        let (work, bounds) = match &backdrop.field {
            Some(field) if backdrop.blurs() => (
                Work::blur(backdrop.sigma, backdrop.edge, Some(field.clone())),
                backdrop.reads,
            ),
            _ => {
                let items = job.batch_of(&[item_of(backdrop)]);
                (Work::Batch(PAGES, items), whole_of(backdrop))
            }
        };
        let live = live_request(backdrop, work, bounds, Source::Camera(target));
        let request = BlurRequest {
            io: BlurIo {
                target: sheet.texture.id(),
                ..live.io
            },
            source_size: sheet.size(),
            source_at: area.min,
            keeps: Some(freeze.revision),
            ..live
        };
        if let Err(error @ BlurError::OutOfMemory { .. }) = job.try_update(backdrop, request, &[&sheet.view], preparer)
        {
            *frozen = Frozen::Lost;
            losses.push((backdrop.entity, freeze.number), error);
            return;
        }
        self.places[index] = Some(Place::Frozen(backdrop.entity));
    }

    /// Drops the jobs that this frame does not use, with everything that they hold.
    fn finish(&mut self, backdrops: &ExtractedBackdrops) {
        for jobs in [&mut self.groups, &mut self.varying, &mut self.frozen] {
            jobs.retain(|_, job| job.is_used);
        }
        self.were_grouped.clear();
        for (backdrop, place) in backdrops.0.iter().zip(&self.places) {
            if let Some(Place::Group(leader, _)) = place
                && self.groups.get(leader).is_some_and(|job| job.is_ready)
            {
                self.were_grouped.insert(backdrop.entity);
            }
        }
    }
}

/// Updates the jobs of all glass.
pub fn update_jobs(
    cameras: Query<(&ViewTarget, CameraPicture)>,
    backdrops: Res<ExtractedBackdrops>,
    (mut frozen, losses): (ResMut<FrozenBackdrops>, Res<Losses>),
    grouped: Res<CameraGroups>,
    pipelines: Res<BackdropPipelines>,
    mut jobs: ResMut<BackdropJobs>,
    mut preparer: BlurPreparer,
) {
    jobs.start(backdrops.0.len());
    for (camera, view) in &grouped.0 {
        let Ok((target, picture)) = cameras.get(*camera) else {
            continue;
        };
        if pipelines.mixes(target.main_texture_format()).is_none() {
            continue;
        }
        for index in view.backdrops() {
            let backdrop = (index, &backdrops.0[index]);
            jobs.update_frozen(backdrop, (target, &picture), &mut frozen, &mut preparer, &losses);
        }
        for group in view.on_camera() {
            jobs.update_group(group, &backdrops, Source::Camera(target), &mut preparer);
        }
        if let Some(page) = jobs.take_nested(&view.nested, &backdrops, target, &mut preparer) {
            for group in &view.nested {
                jobs.update_group(group, &backdrops, Source::Nested(target, &page), &mut preparer);
            }
            jobs.nested.insert(*camera, page);
        }
    }
    jobs.finish(&backdrops);
}

/// What glass reads.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// What its camera has painted so far.
    Camera(&'a ViewTarget),
    /// A page, for glass inside a filtered group of that camera.
    Nested(&'a ViewTarget, &'a TextureView),
}

impl Source<'_> {
    /// Either texture of a camera may be the current one: blurs that run before this one may flip the pair.
    fn views(&self) -> [&TextureView; 2] {
        match self {
            Self::Camera(target) => [target.main_texture_other_view(), target.main_texture_view()],
            Self::Nested(_, page) => [page, page],
        }
    }

    /// Its size, and the texel of the camera's picture that is its first one.
    fn place(&self, backdrop: &ExtractedBackdrop) -> (UVec2, UVec2) {
        match self {
            Self::Camera(_) => (backdrop.picture.size, UVec2::ZERO),
            Self::Nested(_, page) => {
                let texture = page.texture();
                (UVec2::new(texture.width(), texture.height()), backdrop.looks_at().min)
            }
        }
    }
}

/// All texels of a backdrop's picture.
fn whole_of(backdrop: &ExtractedBackdrop) -> URect {
    URect::from_corners(UVec2::ZERO, backdrop.picture.size)
}

/// A blur of what has been painted so far.
fn live_request(backdrop: &ExtractedBackdrop, work: Work, bounds: URect, source: Source) -> BlurRequest {
    let (Source::Camera(target) | Source::Nested(target, _)) = source;
    let (source_size, source_at) = source.place(backdrop);
    BlurRequest {
        io: BlurIo {
            ends: Ends::of_camera(target.main_texture_format(), backdrop.picture.is_light),
            target: target.main_texture().id(),
            // The camera paints it again in every frame.
            source_is_fresh: true,
        },
        work,
        finish: Finish::Defer,
        region: bounds,
        bounds,
        source_size,
        source_at,
        keeps: None,
        mask: None,
    }
}
