//! Intermediate textures: one set for all blurs.
//!
//! No two blurs run at the same time, so blurs of one size share their textures, except for the inputs of deferred
//! steps, which are read later in the frame. Textures that were not used for a few frames are released. Pages, which
//! hold several blurs, are shared by all batches. A page stays as large as it recently had to be, so that backdrops can
//! move without new textures.

use crate::diagnostics::memory::TextureBytes;
use crate::errors::BlurError;
use crate::formats::Resolved;
use crate::plan::BlurPlan;
use bevy::image::ToExtents;
use bevy::math::UVec2;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, Texture, TextureDescriptor, TextureDimension, TextureFormat, TextureUsages, TextureView,
    TextureViewDescriptor,
};
use bevy::render::renderer::RenderDevice;
use bevy::tasks::futures::now_or_never;
use wgpu::ErrorFilter;

/// How many frames a texture is kept without being used.
const IDLE_FRAMES: u32 = 3;

/// A page that is twice as large as needed for this many frames is released.
const PAGE_FRAMES: u32 = 120;

/// Everything that distinguishes one texture from another.
type Kind = (UVec2, TextureFormat, TextureUsages);

/// A set of pages: what they hold, and two numbers that distinguish sets of the same kind. Blurs that use different sets do not
/// overwrite each other's results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageSet(pub &'static str, pub [u32; 2]);

/// The intermediate textures of all blurs. Created again for every render device.
#[derive(Resource, Default)]
pub struct IntermediateTextures {
    /// As many of a kind as the most demanding blur needs.
    held: HashMap<Kind, Vec<Held>>,
    /// Textures that a deferred step reads later in the frame: one for each such step.
    deferred: HashMap<Kind, Vec<Held>>,
    /// The pages by their places in plans.
    pages: HashMap<(PageSet, usize, TextureFormat, TextureUsages), Page>,
    /// The bytes of the textures used in this frame.
    bytes: u64,
}

struct Held {
    view: TextureView,
    /// The frames since its last use.
    idle: u32,
}

impl IntermediateTextures {
    /// Takes the intermediate textures of a plan for this frame. If a job keeps the input of its deferred step, that
    /// texture is the job's own, and there is one such step.
    ///
    /// # Errors
    /// [`BlurError::OutOfMemory`]; then only some have been taken.
    pub fn take(
        &mut self,
        plan: &BlurPlan,
        resolved: &Resolved,
        mut own: Option<&mut Option<TextureView>>,
        device: &RenderDevice,
        taken: &mut Vec<TextureView>,
    ) -> Result<(), BlurError> {
        taken.clear();
        let is_deferred = |index: usize| plan.reads_later(index);
        for (index, size) in plan.intermediates.iter().enumerate() {
            let kind = (*size, resolved.intermediate, resolved.intermediate_usages());
            if let Some(own) = own.as_deref_mut().filter(|_| is_deferred(index)) {
                let view = match own.take().filter(|view| kind_of(view) == kind) {
                    Some(view) => view,
                    None => create(kind, device)?,
                };
                taken.push(own.insert(view).clone());
                self.bytes += bytes(kind);
                continue;
            }
            let (held, place) = if is_deferred(index) {
                let held = self.deferred.entry(kind).or_default();
                let place = held.iter().take_while(|one| one.idle == 0).count();
                (held, place)
            } else {
                let is_alike = |other: &usize| plan.intermediates[*other] == *size && !is_deferred(*other);
                let place = (0..index).filter(is_alike).count();
                (self.held.entry(kind).or_default(), place)
            };
            let (view, bytes) = use_one(held, place, kind, device)?;
            taken.push(view);
            self.bytes += bytes;
        }
        Ok(())
    }

    /// Counts a front end's own textures among those used in this frame.
    pub fn count<'a>(&mut self, views: impl IntoIterator<Item = &'a TextureView>) {
        self.bytes += views.into_iter().map(|view| bytes(kind_of(view))).sum::<u64>();
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
        (format, usages): (TextureFormat, TextureUsages),
        device: &RenderDevice,
        sizes: &mut [UVec2],
        taken: &mut Vec<TextureView>,
    ) -> Result<bool, BlurError> {
        taken.clear();
        for (index, needed) in needed.iter().enumerate() {
            let place = (set, index, format, usages);
            let known = self.pages.remove(&place);
            let enough = known.as_ref().map_or(*needed, |page| page.size.max(*needed));
            let mut page = match known.filter(|page| page.size == enough) {
                Some(page) => page,
                None => Page::new((enough, format, usages), device)?,
            };
            if page.held.idle > 0 {
                page.held.idle = 0;
                self.bytes += bytes((page.size, format, usages));
            }
            page.needed = page.needed.max(*needed);
            taken.push(page.held.view.clone());
            self.pages.insert(place, page);
        }
        // Only now, because a page may have failed: the caller acts on other sizes, but not after an error.
        let mut are_others = false;
        for (size, view) in sizes.iter_mut().zip(taken) {
            let texture = view.texture();
            let now = UVec2::new(texture.width(), texture.height());
            are_others |= *size != now;
            *size = now;
        }
        Ok(are_others)
    }
}

/// A texture that holds several blurs.
struct Page {
    held: Held,
    size: UVec2,
    /// The largest size needed in its last frames, and the number of these frames.
    needed: UVec2,
    frames: u32,
}

impl Page {
    fn new(kind: Kind, device: &RenderDevice) -> Result<Self, BlurError> {
        Ok(Self {
            held: Held::new(kind, device)?,
            size: kind.0,
            needed: UVec2::ZERO,
            frames: 0,
        })
    }

    /// Ends a frame. Returns whether the page is kept.
    fn is_kept(&mut self) -> bool {
        self.held.idle += 1;
        self.frames += 1;
        let area = |size: UVec2| u64::from(size.x) * u64::from(size.y);
        let is_large = area(self.size) >= 2 * area(self.needed);
        if self.frames == PAGE_FRAMES {
            (self.needed, self.frames) = (UVec2::ZERO, 0);
            return !is_large;
        }
        self.held.idle <= IDLE_FRAMES
    }
}

impl Held {
    fn new(kind: Kind, device: &RenderDevice) -> Result<Self, BlurError> {
        Ok(Self {
            view: create(kind, device)?,
            idle: 1,
        })
    }
}

/// Uses a texture of a kind. Returns it with the bytes that it adds to those used in this frame.
fn use_one(
    held: &mut Vec<Held>,
    index: usize,
    kind: Kind,
    device: &RenderDevice,
) -> Result<(TextureView, u64), BlurError> {
    if held.len() == index {
        held.push(Held::new(kind, device)?);
    }
    let one = &mut held[index];
    let is_new = one.idle > 0;
    one.idle = 0;
    Ok((one.view.clone(), if is_new { bytes(kind) } else { 0 }))
}

/// Ends a frame: publishes the used bytes, and releases unused textures.
pub fn give_back_textures(mut textures: ResMut<IntermediateTextures>, published: Option<Res<TextureBytes>>) {
    let bytes = core::mem::take(&mut textures.bytes);
    if let Some(published) = published {
        published.set(bytes);
    }
    textures.pages.retain(|_, page| page.is_kept());
    let IntermediateTextures { held, deferred, .. } = &mut *textures;
    for kinds in [held, deferred] {
        kinds.retain(|_, held| {
            held.iter_mut().for_each(|one| one.idle += 1);
            held.retain(|one| one.idle <= IDLE_FRAMES);
            !held.is_empty()
        });
    }
}

/// Creates a texture.
///
/// # Errors
/// [`BlurError::OutOfMemory`]. Without an error scope, that error would end the app.
pub fn create_texture(device: &RenderDevice, descriptor: &TextureDescriptor) -> Result<Texture, BlurError> {
    let size = UVec2::new(descriptor.size.width, descriptor.size.height);
    create_for(size, descriptor.format, device, || device.create_texture(descriptor))
}

/// Creates a buffer for the texels of a texture.
///
/// # Errors
/// [`BlurError::OutOfMemory`], also if no buffer of the device may be so large.
pub fn create_texel_buffer(
    device: &RenderDevice,
    descriptor: &BufferDescriptor,
    (size, format): (UVec2, TextureFormat),
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

fn create((size, format, usage): Kind, device: &RenderDevice) -> Result<TextureView, BlurError> {
    let descriptor = TextureDescriptor {
        label: Some("gaussian_blur_intermediate"),
        size: size.to_extents(),
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    };
    let texture = create_texture(device, &descriptor)?;
    Ok(texture.create_view(&TextureViewDescriptor {
        label: Some("gaussian_blur_intermediate"),
        ..default()
    }))
}

fn kind_of(view: &TextureView) -> Kind {
    let texture = view.texture();
    (
        UVec2::new(texture.width(), texture.height()),
        texture.format(),
        texture.usage(),
    )
}

fn bytes((size, format, _): Kind) -> u64 {
    let texel = u64::from(format.block_copy_size(None).unwrap_or(0));
    u64::from(size.x) * u64::from(size.y) * texel
}
