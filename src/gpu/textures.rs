//! Intermediate textures: one set for all blurs.
//!
//! No two blurs run at the same time, so blurs share their textures, except for the inputs of deferred steps, which are
//! read later in the frame. A texture may be a little larger than a blur needs, so that sizes can be animated, and many
//! sizes need few textures. Pages, which hold several blurs, are shared by all batches. A page stays as large as it recently
//! had to be, so that backdrops can move without new textures; but a small camera does not get, and clear, the page of a large one.
//! Textures and pages that were not used for a second are released.

use super::view_info::texture_size;
use crate::diagnostics::figures::TextureBytes;
use crate::errors::BlurError;
use crate::formats::Resolved;
use crate::plan::BlurPlan;
use bevy::image::ToExtents;
use bevy::math::UVec2;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages, TextureView,
    TextureViewDescriptor,
};
use bevy::render::renderer::RenderDevice;
use bevy::tasks::futures::now_or_never;
use core::time::Duration;
use wgpu::ErrorFilter;

/// How long a texture or a page is kept without being used.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// A page that is twice as large as needed for this many frames is released.
const PAGE_FRAMES: u32 = 120;

/// Everything that distinguishes one texture from others of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureKind {
    pub format: TextureFormat,
    pub usages: TextureUsages,
}

/// A set of pages: what they hold, and two numbers that distinguish sets of the same kind. Blurs that use different sets do not
/// overwrite each other's results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageSet(pub &'static str, pub [u32; 2]);

/// Where a page belongs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PagePlace {
    set: PageSet,
    /// Its index in the set.
    index: usize,
    /// Its sides, rounded up to powers of two.
    class: UVec2,
    kind: TextureKind,
}

/// The intermediate textures of all blurs. Created again for every render device.
#[derive(Resource, Default)]
pub struct IntermediateTextures {
    held: HashMap<TextureKind, Vec<Held>>,
    /// The pages by their places in plans.
    pages: HashMap<PagePlace, Page>,
    /// The bytes of the textures used in this frame.
    bytes: u64,
    /// The number of plans that have taken textures.
    plans: u64,
    /// The time of this frame.
    now: Duration,
}

/// What a plan needs.
pub struct Needs<'a> {
    /// The plan. Its intermediates get the sizes of the textures that it takes.
    pub plan: &'a mut BlurPlan,
    /// The sizes that it needs.
    pub sizes: &'a [UVec2],
    pub resolved: &'a Resolved,
}

impl Needs<'_> {
    fn kind(&self) -> TextureKind {
        TextureKind {
            format: self.resolved.intermediate,
            usages: self.resolved.intermediate_usages(),
        }
    }
}

struct Held {
    view: TextureView,
    size: UVec2,
    /// The time of its last use.
    used: Duration,
    /// The plan that used it last.
    plan: u64,
    /// What it is used for in this frame.
    role: Role,
}

/// What a texture is used for in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Idle,
    /// Its contents are valid until another blur runs.
    Shared,
    /// A deferred step reads it later in the frame.
    Deferred,
}

/// Which textures may serve a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Exact,
    /// Somewhat larger ones, too.
    Larger,
}

impl Held {
    /// Whether it can serve a plan that needs this size.
    fn serves(&self, needed: UVec2, fit: Fit, role: Role, plan: u64) -> bool {
        let is_free = match role {
            Role::Deferred => self.role == Role::Idle,
            _ => self.role != Role::Deferred && self.plan != plan,
        };
        is_free
            && match fit {
                Fit::Exact => self.size == needed,
                Fit::Larger => self.size.cmpge(needed).all() && area(self.size) <= largest_area(needed),
            }
    }
}

fn area(size: UVec2) -> u64 {
    u64::from(size.x) * u64::from(size.y)
}

/// The area of the largest texture that may serve a plan: larger ones take longer to clear.
fn largest_area(needed: UVec2) -> u64 {
    area(needed) * 3 / 2 + (64 << 6)
}

/// A size with some room to grow.
fn with_headroom(needed: UVec2, limit: u32) -> UVec2 {
    let grown = |side: u32| (side + side / 8).next_multiple_of(8).min(limit.max(side));
    UVec2::new(grown(needed.x), grown(needed.y))
}

impl IntermediateTextures {
    /// Takes textures of at least the needed sizes for this frame, and sets `sizes` to their sizes. Returns whether any of
    /// these has changed. If a job keeps the input of its deferred step, that texture is the job's own, and there is one
    /// such step.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`]; then only some have been taken.
    pub fn take(
        &mut self,
        needs: Needs,
        fit: Fit,
        mut own: Option<&mut Option<TextureView>>,
        device: &RenderDevice,
        taken: &mut Vec<TextureView>,
    ) -> Result<bool, BlurError> {
        taken.clear();
        self.plans += 1;
        let kind = needs.kind();
        for (index, size) in needs.sizes.iter().enumerate() {
            let is_deferred = needs.plan.reads_later(index);
            if let Some(own) = own.as_deref_mut().filter(|_| is_deferred) {
                let view = match own.take().filter(|view| kind_of(view) == (*size, kind)) {
                    Some(view) => view,
                    None => create(*size, kind, device)?,
                };
                taken.push(own.insert(view).clone());
                self.bytes += bytes(*size, kind);
                continue;
            }
            let (fit, role) = if is_deferred {
                (Fit::Exact, Role::Deferred)
            } else {
                (fit, Role::Shared)
            };
            taken.push(self.take_one(*size, kind, fit, role, device)?);
        }
        Ok(adopt_sizes(&mut needs.plan.intermediates, taken))
    }

    /// The same from the pages of a set.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`]; then only some have been taken.
    pub fn take_pages_of(
        &mut self,
        set: PageSet,
        needs: Needs,
        device: &RenderDevice,
        taken: &mut Vec<TextureView>,
    ) -> Result<bool, BlurError> {
        let kind = needs.kind();
        self.take_pages(set, needs.sizes, kind, device, &mut needs.plan.intermediates, taken)
    }

    /// Takes the smallest texture that fits. The first of its kind is exact, because most sizes never change.
    fn take_one(
        &mut self,
        needed: UVec2,
        kind: TextureKind,
        fit: Fit,
        role: Role,
        device: &RenderDevice,
    ) -> Result<TextureView, BlurError> {
        let plan = self.plans;
        let held = self.held.entry(kind).or_default();
        let fitting = held.iter_mut().filter(|one| one.serves(needed, fit, role, plan));
        let one = match fitting.min_by_key(|one| area(one.size)) {
            Some(one) => one,
            None => {
                let is_near = |one: &Held| {
                    one.plan != plan && area(one.size) * 4 >= area(needed) && area(one.size) <= area(needed) * 4
                };
                let size = match fit {
                    Fit::Larger if held.iter().any(is_near) => {
                        with_headroom(needed, device.limits().max_texture_dimension_2d)
                    }
                    _ => needed,
                };
                held.push(Held {
                    view: create(size, kind, device)?,
                    size,
                    used: self.now,
                    plan,
                    role: Role::Idle,
                });
                let last = held.len() - 1;
                &mut held[last]
            }
        };
        if one.role == Role::Idle {
            self.bytes += bytes(one.size, kind);
        }
        (one.role, one.plan, one.used) = (role, plan, self.now);
        Ok(one.view.clone())
    }

    /// Counts a front end's own textures among those used in this frame.
    pub fn count<'a>(&mut self, views: impl IntoIterator<Item = &'a TextureView>) {
        for (size, kind) in views.into_iter().map(kind_of) {
            self.bytes += bytes(size, kind);
        }
    }

    /// Takes pages of at least the needed sizes for this frame, from one set. Returns whether any of `sizes` has
    /// changed.
    ///
    /// Contents are valid until the next call for the same set in the same frame.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`]; then only some have been taken.
    pub fn take_pages(
        &mut self,
        set: PageSet,
        needed: &[UVec2],
        kind: TextureKind,
        device: &RenderDevice,
        sizes: &mut [UVec2],
        taken: &mut Vec<TextureView>,
    ) -> Result<bool, BlurError> {
        taken.clear();
        for (index, needed) in needed.iter().enumerate() {
            let class = UVec2::new(needed.x.next_power_of_two(), needed.y.next_power_of_two());
            let place = PagePlace {
                set,
                index,
                class,
                kind,
            };
            let known = self.pages.remove(&place);
            let enough = known.as_ref().map_or(*needed, |page| page.size.max(*needed));
            let mut page = match known.filter(|page| page.size == enough) {
                Some(page) => page,
                None => Page::new(enough, kind, device)?,
            };
            if !core::mem::replace(&mut page.is_used, true) {
                self.bytes += bytes(page.size, kind);
            }
            page.used = self.now;
            page.needed = page.needed.max(*needed);
            taken.push(page.view.clone());
            self.pages.insert(place, page);
        }
        // Only now, because a page may have failed: the caller acts on other sizes, but not after an error.
        Ok(adopt_sizes(sizes, taken))
    }

    /// Ends a frame. Returns the bytes that were used in it.
    fn give_back(&mut self, now: Duration) -> u64 {
        self.now = now.max(self.now);
        let now = self.now;
        self.pages.retain(|_, page| page.is_kept(now));
        self.held.retain(|_, held| {
            held.retain_mut(|one| {
                one.role = Role::Idle;
                now - one.used <= IDLE_TIME
            });
            !held.is_empty()
        });
        core::mem::take(&mut self.bytes)
    }
}

/// Sets sizes to those of textures. Returns whether any has changed.
fn adopt_sizes(sizes: &mut [UVec2], taken: &[TextureView]) -> bool {
    let mut are_others = false;
    for (size, view) in sizes.iter_mut().zip(taken) {
        let (now, _) = kind_of(view);
        are_others |= *size != now;
        *size = now;
    }
    are_others
}

/// A texture that holds several blurs.
struct Page {
    view: TextureView,
    /// Whether it is used in this frame.
    is_used: bool,
    /// The time of its last use.
    used: Duration,
    size: UVec2,
    /// The largest size needed in its last frames, and the number of these frames.
    needed: UVec2,
    frames: u32,
}

impl Page {
    fn new(size: UVec2, kind: TextureKind, device: &RenderDevice) -> Result<Self, BlurError> {
        Ok(Self {
            view: create(size, kind, device)?,
            is_used: false,
            used: Duration::ZERO,
            size,
            needed: UVec2::ZERO,
            frames: 0,
        })
    }

    /// Ends a frame. Returns whether the page is kept.
    fn is_kept(&mut self, now: Duration) -> bool {
        self.is_used = false;
        self.frames += 1;
        let is_large = area(self.size) >= 2 * area(self.needed);
        if self.frames == PAGE_FRAMES {
            (self.needed, self.frames) = (UVec2::ZERO, 0);
            return !is_large;
        }
        now - self.used <= IDLE_TIME
    }
}

/// The time of the main world's frame.
#[derive(Resource, Clone, Copy, Default)]
pub struct FrameTime(Duration);

pub fn extract_time(mut now: ResMut<FrameTime>, time: Extract<Option<Res<Time<Real>>>>) {
    if let Some(time) = &*time {
        now.0 = time.elapsed();
    }
}

/// Ends a frame: publishes the used bytes, and releases unused textures.
pub fn give_back_textures(
    mut textures: ResMut<IntermediateTextures>,
    published: Option<Res<TextureBytes>>,
    now: Res<FrameTime>,
) {
    let bytes = textures.give_back(now.0);
    if let Some(published) = published {
        published.set(bytes);
    }
}

/// Creates a texture of one level.
///
/// # Errors
/// [`BlurError::OutOfMemory`]. Without an error scope, that error would end the app.
pub fn create_texture(
    device: &RenderDevice,
    label: &'static str,
    size: UVec2,
    layers: u32,
    kind: TextureKind,
) -> Result<Texture, BlurError> {
    let mut extents = size.to_extents();
    extents.depth_or_array_layers = layers;
    let descriptor = TextureDescriptor {
        label: Some(label),
        size: extents,
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format: kind.format,
        usage: kind.usages,
        view_formats: &[],
    };
    create_for(size, kind.format, device, || device.create_texture(&descriptor))
}

/// Creates a buffer for the texels of a texture.
///
/// # Errors
/// [`BlurError::OutOfMemory`], also if no buffer of the device may be so large.
pub fn create_texel_buffer(
    device: &RenderDevice,
    descriptor: &BufferDescriptor,
    size: UVec2,
    format: TextureFormat,
) -> Result<Buffer, BlurError> {
    if descriptor.size > device.limits().max_buffer_size {
        return Err(BlurError::OutOfMemory { size, format });
    }
    create_for(size, format, device, || device.create_buffer(descriptor))
}

fn create_for<T>(
    size: UVec2,
    format: TextureFormat,
    device: &RenderDevice,
    create: impl FnOnce() -> T,
) -> Result<T, BlurError> {
    // Browsers report errors only after the resource is needed.
    if cfg!(target_arch = "wasm32") {
        return Ok(create());
    }
    let scope = device.wgpu_device().push_error_scope(ErrorFilter::OutOfMemory);
    let created = create();
    match now_or_never(scope.pop()).flatten() {
        None => Ok(created),
        Some(_) => Err(BlurError::OutOfMemory { size, format }),
    }
}

fn create(size: UVec2, kind: TextureKind, device: &RenderDevice) -> Result<TextureView, BlurError> {
    let label = "gaussian_blur_intermediate";
    let texture = create_texture(device, label, size, 1, kind)?;
    Ok(texture.create_view(&TextureViewDescriptor {
        label: Some(label),
        ..default()
    }))
}

fn kind_of(view: &TextureView) -> (UVec2, TextureKind) {
    let texture = view.texture();
    let kind = TextureKind {
        format: texture.format(),
        usages: texture.usage(),
    };
    (texture_size(texture), kind)
}

fn bytes(size: UVec2, kind: TextureKind) -> u64 {
    area(size) * u64::from(kind.format.block_copy_size(None).unwrap_or(0))
}
