//! A pool of textures that all blurs share.
//!
//! No two blurs run at the same time, so plans write the same textures one after another, except for what is read later in the
//! frame. A texture may be a little larger than needed, so that sizes can be animated, and many sizes need few textures. Samplers
//! take positions as shares of a texture's size and round them accordingly, so that may change a result by a step of its format.
//! Each user gets its texture again in the next frame, so equal frames create none.
//!
//! A texture is idle from the end of the first frame that does not use it, however long frames take. It is released after a
//! second, or as soon as idle textures hold more than the frames of the last second or two used: while sizes change in every
//! frame, the pool holds two frames' worth, at any frame rate.

use super::view_info::{layer_view, texture_size};
use crate::diagnostics::label::TextureBytes;
use crate::errors::BlurError;
use crate::formats::Capabilities;
use crate::plan::pack::PageSet;
use bevy::image::ToExtents;
use bevy::prelude::*;
use bevy::render::Extract;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages, TextureView,
};
use bevy::render::renderer::RenderDevice;
use bevy::tasks::futures::now_or_never;
use core::cmp::Reverse;
use core::time::Duration;
use wgpu::ErrorFilter;

/// How long a texture is kept without being used, and how long a frame counts for the bytes of idle textures.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// Everything that distinguishes one texture from others of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureKind {
    pub format: TextureFormat,
    pub usages: TextureUsages,
}

/// What uses a texture in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// Plans. The contents are valid until another plan runs.
    Plans,
    /// A page of a set. The contents are valid until that page is taken again.
    Page(PageSet, usize),
    /// A job. The contents are valid until the end of the frame.
    Job,
}

/// What a texture must be like.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Its least width and height.
    pub size: UVec2,
    pub kind: TextureKind,
    pub user: User,
}

/// The pool. `T` is a texture.
#[derive(Resource)]
pub struct Pool<T: Send + Sync + 'static> {
    textures: Vec<Pooled<T>>,
    /// The number of plans that have taken textures.
    plan: u64,
    /// The bytes that are used in this frame.
    used: u64,
    /// The most bytes that a frame used, since a time, and in the second before it.
    most: [u64; 2],
    since: Duration,
}

struct Pooled<T> {
    texture: T,
    size: UVec2,
    kind: TextureKind,
    /// What used it last, and the plan.
    user: User,
    plan: u64,
    /// Whether it is used in this frame.
    is_used: bool,
    idle_since: Option<Duration>,
}

impl<T> Pooled<T> {
    /// Whether it may be used, whatever its size.
    fn is_free(&self, need: &Need, plan: u64) -> bool {
        let is_shared = match need.user {
            User::Plans => self.user == User::Plans && self.plan != plan,
            User::Page(..) => self.user == need.user,
            User::Job => false,
        };
        self.kind == need.kind && (!self.is_used || is_shared)
    }

    fn serves(&self, need: &Need, plan: u64) -> bool {
        let is_large = self.size.cmpge(need.size).all();
        is_large && area(self.size) <= largest_area(need.size) && self.is_free(need, plan)
    }

    /// Whether it could be used, if the needed size were not somewhat smaller or larger now.
    fn is_near(&self, need: &Need, plan: u64) -> bool {
        let [own, needed] = [self.size, need.size].map(area);
        own * 4 >= needed && own <= needed * 4 && self.is_free(need, plan)
    }

    fn bytes(&self) -> u64 {
        bytes(self.size, self.kind)
    }
}

impl<T: Send + Sync + 'static> Default for Pool<T> {
    fn default() -> Self {
        Self {
            textures: Vec::new(),
            plan: 0,
            used: 0,
            most: [0; 2],
            since: Duration::ZERO,
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Pool<T> {
    /// Begins a plan: from now on it takes textures, each one once.
    pub fn begin_plan(&mut self) {
        self.plan += 1;
    }

    /// Takes a texture for this frame, if possible the one that the user had `before`.
    ///
    /// A new texture is exact, because most sizes never change; if one that could have been used is too small or too large, the
    /// size does change, and the new one has room to grow. No side then exceeds `limit`. Pages come with room. `create` makes a texture
    /// of at least some size, and says of which.
    ///
    /// # Errors
    /// The error of `create`.
    pub fn take(
        &mut self,
        need: Need,
        before: impl Fn(&T) -> bool,
        limit: u32,
        create: impl FnOnce(UVec2) -> Result<(T, UVec2), BlurError>,
    ) -> Result<T, BlurError> {
        let index = match self.find(&need, before) {
            Some(index) => index,
            None => {
                let is_page = matches!(need.user, User::Page(..));
                let is_changing = !is_page && self.textures.iter().any(|pooled| pooled.is_near(&need, self.plan));
                let size = if is_changing {
                    with_headroom(need.size, limit)
                } else {
                    need.size
                };
                let (texture, size) = create(size)?;
                self.textures.push(Pooled {
                    texture,
                    size,
                    kind: need.kind,
                    user: need.user,
                    plan: self.plan,
                    is_used: false,
                    idle_since: None,
                });
                self.textures.len() - 1
            }
        };
        let pooled = &mut self.textures[index];
        if !pooled.is_used {
            self.used += pooled.bytes();
        }
        (pooled.user, pooled.plan) = (need.user, self.plan);
        (pooled.is_used, pooled.idle_since) = (true, None);
        Ok(pooled.texture.clone())
    }

    /// The texture that serves best: the one from before, or else the smallest, because larger ones take longer to clear. A page
    /// takes the largest of its own, so that needs of many sizes share few.
    fn find(&self, need: &Need, before: impl Fn(&T) -> bool) -> Option<usize> {
        let serving = self.textures.iter().enumerate();
        let serving = serving.filter(|(_, pooled)| pooled.serves(need, self.plan));
        let best = serving.min_by_key(|(_, pooled)| {
            let is_page = pooled.user == need.user && matches!(need.user, User::Page(..));
            let is_its_own = is_page || before(&pooled.texture);
            let largest = is_page.then_some(Reverse(area(pooled.size)));
            (!is_its_own, largest, area(pooled.size))
        });
        best.map(|(index, _)| index)
    }
}

impl<T: Send + Sync + 'static> Pool<T> {
    /// Counts other bytes among those that are used in this frame.
    pub fn count(&mut self, bytes: u64) {
        self.used += bytes;
    }

    /// Ends a frame, at this time. Returns the bytes that were used in it.
    pub fn give_back(&mut self, now: Duration) -> u64 {
        let used = core::mem::take(&mut self.used);
        if now.saturating_sub(self.since) > IDLE_TIME {
            (self.most, self.since) = ([0, self.most[0]], now);
        }
        self.most[0] = self.most[0].max(used);
        for pooled in &mut self.textures {
            if !core::mem::take(&mut pooled.is_used) {
                pooled.idle_since.get_or_insert(now);
            }
        }
        let is_kept = |since: Duration| now.saturating_sub(since) <= IDLE_TIME;
        self.textures.retain(|pooled| pooled.idle_since.is_none_or(is_kept));
        self.release_more_than(self.most[0].max(self.most[1]));
        used
    }

    /// All textures.
    #[cfg(test)]
    pub(super) fn held(&self) -> Vec<T>
    where
        T: Copy,
    {
        self.textures.iter().map(|pooled| pooled.texture).collect()
    }

    /// Releases idle textures, the oldest first, until they hold no more bytes than these.
    fn release_more_than(&mut self, most: u64) {
        let is_idle = |pooled: &&Pooled<T>| pooled.idle_since.is_some();
        let mut idle: u64 = self.textures.iter().filter(is_idle).map(Pooled::bytes).sum();
        while idle > most {
            let since = |(index, pooled): (usize, &Pooled<T>)| Some((pooled.idle_since?, index));
            let Some((_, oldest)) = self.textures.iter().enumerate().filter_map(since).min() else {
                return;
            };
            idle -= self.textures.remove(oldest).bytes();
        }
    }
}

fn area(size: UVec2) -> u64 {
    u64::from(size.x) * u64::from(size.y)
}

/// The bytes of a texture.
pub fn bytes(size: UVec2, kind: TextureKind) -> u64 {
    area(size) * u64::from(kind.format.block_copy_size(None).unwrap_or(0))
}

/// The area of the largest texture that may serve a need.
fn largest_area(needed: UVec2) -> u64 {
    area(needed) * 3 / 2 + (64 << 6)
}

/// A size with some room to grow, in steps of eight texels unless those make too much of a narrow texture.
fn with_headroom(needed: UVec2, limit: u32) -> UVec2 {
    let grown = |step: u32| {
        let side = |side: u32| (side + side / 8).next_multiple_of(step).min(limit.max(side));
        UVec2::new(side(needed.x), side(needed.y))
    };
    let rounded = grown(8);
    if area(rounded) <= largest_area(needed) {
        rounded
    } else {
        grown(1)
    }
}

/// A size without powers of two, if they fit. Software rasterisers compile each shader anew for textures whose width or height is a power
/// of two, and that takes longer than many frames.
pub fn without_powers(size: UVec2, limit: u32) -> UVec2 {
    let side = |side: u32| {
        let mut more = side..=limit.max(side);
        more.find(|side| !side.is_power_of_two()).unwrap_or(side)
    };
    UVec2::new(side(size.x), side(size.y))
}

/// The size of a texture that is made where this size is needed.
pub fn made_size(needed: UVec2, capabilities: &Capabilities) -> UVec2 {
    match capabilities.is_software {
        true => without_powers(needed, capabilities.largest_side()),
        false => needed,
    }
}

/// The intermediate textures of all blurs. Created again for every render device.
pub type IntermediateTextures = Pool<TextureView>;

impl IntermediateTextures {
    /// Takes a texture.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`].
    pub fn take_view(
        &mut self,
        need: Need,
        before: Option<&TextureView>,
        capabilities: &Capabilities,
    ) -> Result<TextureView, BlurError> {
        let limit = capabilities.largest_side();
        let before = before.map(|view| view.id());
        let create = |size: UVec2| {
            let size = made_size(size, capabilities);
            Ok((create(size, need.kind, &capabilities.device)?, size))
        };
        self.take(need, |view| before == Some(view.id()), limit, create)
    }

    /// Counts a front end's own texture among those used in this frame.
    pub fn count_view(&mut self, view: &TextureView) {
        let (size, kind) = kind_of(view);
        self.count(bytes(size, kind));
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
        published.replace([bytes]);
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

/// Creates an intermediate texture.
///
/// # Errors
/// [`BlurError::OutOfMemory`].
pub fn create(size: UVec2, kind: TextureKind, device: &RenderDevice) -> Result<TextureView, BlurError> {
    let texture = create_texture(device, "gaussian_blur_intermediate", size, 1, kind)?;
    Ok(layer_view(&texture, default(), [0, 0]))
}

/// The size of a texture, and all else that distinguishes it.
pub fn kind_of(view: &TextureView) -> (UVec2, TextureKind) {
    let texture = view.texture();
    let kind = TextureKind {
        format: texture.format(),
        usages: texture.usage(),
    };
    (texture_size(texture), kind)
}
