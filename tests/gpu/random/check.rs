//! What must be true of a random world when everything has settled.
//!
//! The target of an image blur holds the Gaussian of the *current* contents of its source, with these exceptions: a
//! source that a camera paints and that is blurred only on change, a blur in place, a single blur, and a blur in a
//! cycle, but not one below a cycle. A camera with its own canvas shows the Gaussian of its picture without its blur.

use super::world::Last;
use super::*;
use crate::excerpts::padded;
use crate::profiles::{sigmas, stretched};
use crate::support::formats::{Span, stored_channels};
use crate::support::reference::varying_blur;
use bevy::asset::AssetId;
use bevy::core_pipeline::tonemapping::DebandDither;

/// Greater strengths are not compared: the reference would take too long.
const LARGEST_SIGMA: f32 = 300.0;

/// The sigmas and the edge mode for the reference, or `None` if a sigma is too large for it.
fn known(blur: &GaussianBlur, height: u32) -> Option<([f64; 2], EdgeMode)> {
    // Settings out of range do not blur.
    let sigma = blur.sigma_in_texels(1.0, height).unwrap_or(Vec2::ZERO);
    (sigma.max_element() <= LARGEST_SIGMA).then(|| ([f64::from(sigma.x), f64::from(sigma.y)], blur.edge))
}

/// Larger pictures are not compared if sigma varies: the reference sums their texels one by one.
const MOST_VARYING_TEXELS: usize = 5000;

/// The reference of a blur, and its additional tolerance over a uniform one. `None` if it is not known: for nonsensical
/// numbers, and for steep profiles, where the last bit of a position decides. A mask comes with its picture.
fn reference(
    sharp: &Picture,
    (sigma, edge): ([f64; 2], EdgeMode),
    profile: Option<&BlurProfile>,
    mask: Option<&Picture>,
) -> Option<(Picture, f64)> {
    let profile = match profile {
        None | Some(BlurProfile::Uniform) => return Some((gaussian_blur(sharp, sigma, edge), 0.0)),
        Some(profile) => profile,
    };
    let most = sigma[0].max(sigma[1]);
    if profile.check().is_err() || most > 20.0 || sharp.texels.len() > MOST_VARYING_TEXELS {
        return None;
    }
    let width = sharp.width;
    let sigmas: Vec<f64> = match mask {
        Some(mask) if !mask.texels.iter().all(|texel| texel[0].is_finite()) => return None,
        Some(mask) => {
            let shares = stretched(mask, [width, sharp.height]).into_iter();
            shares.map(|share| share.clamp(0.0, 1.0) * most).collect()
        }
        None => sigmas(profile, [width, sharp.height], most),
    };
    let is_gentle = |index: usize, next: usize| sigmas.get(next).is_none_or(|next| (sigmas[index] - next).abs() < 1.0);
    // Near the least sigma, rounding decides whether a texel is blurred.
    let is_known = |sigma: &f64| (*sigma - 0.03).abs() > 0.001;
    if !(0..sigmas.len()).all(|i| is_gentle(i, i + 1) && is_gentle(i, i + width)) || !sigmas.iter().all(is_known) {
        return None;
    }
    let share = |axis: usize| if most > 0.0 { sigma[axis] / most } else { 0.0 };
    let blurred = varying_blur(sharp, edge, |x, y| {
        [0, 1].map(|axis| share(axis) * sigmas[y * width + x])
    });
    // Masks may be steeper.
    let more = if mask.is_some() { 10.0 } else { 3.0 };
    Some((blurred, more / 255.0))
}

impl World {
    /// Lets everything settle, and compares everything with a known reference.
    pub fn check(&mut self) {
        self.settle();
        if !self.is_lockstep() {
            return;
        }
        for entity in self.blurs.clone() {
            self.compared += usize::from(self.check_image(entity).is_some());
        }
        for camera in self.cameras.clone() {
            self.compared += usize::from(self.check_camera(camera).is_some());
            self.compared += usize::from(self.check_frozen(camera).is_some());
        }
    }

    fn image_of(&self, entity: Entity) -> Option<&BlurImage> {
        self.headless.app.world().get::<BlurImage>(entity)
    }

    /// The cameras that paint an image, active or not.
    pub fn painters(&self, id: AssetId<Image>) -> Vec<Entity> {
        let world = self.headless.app.world();
        let paints = |camera: &&Entity| match world.get::<RenderTarget>(**camera) {
            Some(RenderTarget::Image(target)) => target.handle.id() == id,
            _ => false,
        };
        self.cameras.iter().filter(paints).copied().collect()
    }

    fn writers(&self, id: AssetId<Image>) -> Vec<Entity> {
        let writes = |entity: &&Entity| {
            self.image_of(**entity)
                .and_then(|image| image.target.as_ref())
                .is_some_and(|target| target.id() == id)
        };
        let writers = self.blurs.iter().filter(writes).copied();
        // What is disabled writes nothing.
        writers.filter(|entity| !self.is_disabled(*entity)).collect()
    }

    /// The source and the mask of an image blur.
    fn inputs_of(&self, entity: Entity) -> impl Iterator<Item = AssetId<Image>> + use<> {
        let source = self.image_of(entity).map(|image| image.source.id());
        let mask = match self.headless.app.world().get::<BlurProfile>(entity) {
            Some(BlurProfile::Mask(mask)) => Some(mask.id()),
            _ => None,
        };
        source.into_iter().chain(mask)
    }

    /// The images that contribute to this one, and this one.
    fn origins_of(&self, id: AssetId<Image>) -> Vec<AssetId<Image>> {
        let mut found = vec![id];
        let mut next = 0;
        while let Some(id) = found.get(next).copied() {
            for input in self.writers(id).into_iter().flat_map(|writer| self.inputs_of(writer)) {
                if !found.contains(&input) {
                    found.push(input);
                }
            }
            next += 1;
        }
        found
    }

    /// Whether no image that contributes to this one has two writers.
    fn is_plain(&self, id: AssetId<Image>) -> bool {
        self.origins_of(id).into_iter().all(|id| self.writers(id).len() < 2)
    }

    /// Whether a blur depends on its own result.
    fn is_in_cycle(&self, entity: Entity) -> bool {
        let target = self.image_of(entity).and_then(|image| image.target.as_ref());
        let reads = |target: AssetId<Image>| self.inputs_of(entity).any(|id| self.origins_of(id).contains(&target));
        target.is_some_and(|target| reads(target.id()))
    }

    /// Whether all blurs that contribute to an image have finished or failed before.
    fn is_fed(&self, id: AssetId<Image>) -> bool {
        let last = &self.headless.app.world().resource::<Last>().0;
        let mut writers = self.origins_of(id).into_iter().flat_map(|id| self.writers(id));
        writers.all(|writer| last.contains_key(&writer))
    }

    fn is_on_gpu(&self, id: AssetId<Image>) -> bool {
        let images = self.headless.render_world().resource::<RenderAssets<GpuImage>>();
        images.get(id).is_some()
    }

    /// Whether the app still has the asset: removed ones may still be on the GPU, but are no longer followed.
    fn is_there(&self, image: &Handle<Image>) -> bool {
        let images = self.headless.app.world().resource::<Assets<Image>>();
        images.contains(image) && self.is_on_gpu(image.id())
    }

    /// The picture of a blur's mask, `None` without one. Fails if it is missing, or changes under a blur that does not
    /// follow every frame.
    fn mask_of(&self, entity: Entity, looks_always: bool) -> Result<Option<Picture>, ()> {
        let Some(BlurProfile::Mask(mask)) = self.headless.app.world().get::<BlurProfile>(entity) else {
            return Ok(None);
        };
        let is_still = self.painters(mask.id()).is_empty() || looks_always;
        if !(is_still && self.is_plain(mask.id()) && self.is_there(mask)) {
            return Err(());
        }
        Ok(Some(self.headless.picture(mask)))
    }

    fn check_image(&mut self, entity: Entity) -> Option<()> {
        let image = self.image_of(entity).filter(|_| !self.is_disabled(entity))?.clone();
        let blur = *self.headless.app.world().get::<GaussianBlur>(entity)?;
        let (source, target) = (image.source.clone(), image.target.clone()?);
        let is_still = self.painters(source.id()).is_empty() || image.update == BlurUpdate::EveryFrame;
        let is_known = is_still && image.update != BlurUpdate::Once && source != target;
        let is_written_alone =
            self.painters(target.id()).is_empty() && self.is_plain(target.id()) && !self.is_in_cycle(entity);
        if !(is_known && is_written_alone && self.is_there(&source) && self.is_there(&target)) {
            return None;
        }
        let mask = self.mask_of(entity, image.update == BlurUpdate::EveryFrame).ok()?;
        let world = self.headless.app.world();
        let outcome = world.resource::<Last>().0.get(&entity);
        // Only images that another blur has yet to write may be missing.
        let profile = world.get::<BlurProfile>(entity).cloned();
        let mut inputs = self.inputs_of(entity);
        assert!(
            outcome.is_some() || inputs.any(|input| !self.writers(input).is_empty()),
            "{entity}: {image:?} is neither finished nor failed"
        );
        let Ok(done) = outcome? else {
            return None;
        };
        // A blur waits for those that write its inputs and have never had inputs themselves. Until then its target stays as it
        // is, empty if it is new.
        if !self.inputs_of(entity).all(|input| self.is_fed(input)) {
            return None;
        }
        assert!(
            same(done, &blur),
            "{entity}: {blur:?} is wanted, {done:?} was carried out last"
        );
        let [from, to] = [&source, &target].map(|image| self.headless.read_image(image));
        let region = image.region.unwrap_or(URect::new(0, 0, from.width, from.height));
        let (sigma, edge) = known(&blur, region.height())?;
        let is_cut_and_varies = image.padding > 0 && profile.as_ref().is_some_and(|profile| !profile.is_uniform());
        if from.format != to.format || image.dither || is_cut_and_varies {
            return None;
        }
        let format = from.format;
        let [min, size] = [region.min, region.size()].map(|pair| pair.to_array().map(|side| side as usize));
        let (sharp, got) = (to_picture(&from).crop(min, size), to_picture(&to));
        let (sharp, edge) = match image.padding {
            0 => (sharp, edge),
            padding => (padded(&sharp, padding as usize), EdgeMode::Transparent),
        };
        let (expected, more) = reference(&sharp, (sigma, edge), profile.as_ref(), mask.as_ref())?;
        let stored = stored_channels(format);
        let channels: Vec<usize> = match image.alpha {
            BlurAlpha::Premultiplied => stored,
            // Other tests compare division and multiplication by alpha.
            BlurAlpha::Straight | BlurAlpha::Unpremultiply if stored.contains(&3) => vec![3],
            BlurAlpha::Straight | BlurAlpha::Unpremultiply => stored,
            BlurAlpha::Opaque => stored.into_iter().filter(|channel| *channel < 3).collect(),
        };
        let span = Span::of(format);
        let within = formats::within_storage(&got, &expected, format);
        let tolerance = formats::tolerance(format, &span);
        println!(
            "comparing {entity}: {blur:?}, {image:?}, {profile:?}, {}x{}",
            from.width, from.height
        );
        for channel in channels {
            let name = format!("random-image-{format:?}-{sigma:?}-{edge:?}-{channel}");
            let (got, within) = (span.unit(&got), span.unit(&within));
            assert_close(&name, &got, &within, &[channel], tolerance[channel] + more);
        }
        Some(())
    }

    fn check_camera(&mut self, camera: Entity) -> Option<()> {
        let world = self.headless.app.world();
        let blur = *world.get::<GaussianBlur>(camera)?;
        let profile = world.get::<BlurProfile>(camera).cloned();
        let mask = self.mask_of(camera, false).ok()?;
        let settings = world.get::<Camera>(camera)?;
        let RenderTarget::Image(target) = world.get::<RenderTarget>(camera)? else {
            return None;
        };
        let canvas = target.handle.clone();
        let clears = !matches!(settings.clear_color, ClearColorConfig::None);
        let has_glass = |entity: &Entity| {
            let region = world.get::<BackdropRegion>(*entity).map(|region| region.camera);
            let node = world.get::<UiTargetCamera>(*entity).map(|target| target.0);
            region == Some(camera) || node == Some(camera)
        };
        let is_alone = self.painters(canvas.id()) == [camera] && self.writers(canvas.id()).is_empty();
        let dithers = world.get::<DebandDither>(camera) == Some(&DebandDither::Enabled);
        let is_frozen = world.get::<FreezeBlur>(camera).is_some();
        let is_known = clears && settings.is_active && !dithers && !is_frozen && !self.glass.iter().any(has_glass);
        if !(is_known && is_alone && self.is_there(&canvas)) {
            return None;
        }
        let viewport = settings.physical_viewport_rect()?;
        let (sigma, edge) = known(&blur, viewport.height())?;
        let blurred = self.headless.read_image(&canvas);
        // Bevy clips a viewport that does not fit.
        if viewport.max.cmpgt(UVec2::new(blurred.width, blurred.height)).any() {
            return None;
        }
        self.world().entity_mut(camera).remove::<GaussianBlur>();
        self.run(2);
        let sharp = self.headless.read_image(&canvas);
        self.world().entity_mut(camera).insert(blur);
        self.run(2);
        let again = self.headless.read_image(&canvas);
        assert!(
            blurred.bytes == again.bytes,
            "a blur that was taken away came back different"
        );
        let format = sharp.format;
        let min = viewport.min.to_array().map(|place| place as usize);
        let size = viewport.size().to_array().map(|side| side as usize);
        let [sharp, got] = [sharp, blurred].map(|pixels| to_picture(&pixels));
        let (expected, more) = reference(&sharp.crop(min, size), (sigma, edge), profile.as_ref(), mask.as_ref())?;
        let got_inside = got.crop(min, size);
        // Both pictures have been rounded.
        let within = within_rounding(&got_inside, &expected, format);
        let within = within_rounding(&got_inside, &within, format);
        println!("comparing {camera}: {blur:?}, {profile:?}, {viewport:?}");
        let name = format!("random-camera-{format:?}-{sigma:?}-{edge:?}");
        assert_close(&name, &got_inside, &within, &RGBA, 1.2 / 255.0 + more);
        let outside = |picture: &Picture| {
            Picture::from_fn(picture.width, picture.height, |x, y| {
                let is_inside = (min[0]..min[0] + size[0]).contains(&x) && (min[1]..min[1] + size[1]).contains(&y);
                if is_inside { [0.0; 4] } else { picture.at(x, y) }
            })
        };
        assert!(
            outside(&got) == outside(&sharp),
            "{name}: pixels outside the viewport have changed"
        );
        Some(())
    }
}

impl World {
    /// The picture of a frozen camera stays as it is, whatever happens to the scene, if no other camera paints its
    /// canvas.
    fn check_frozen(&mut self, camera: Entity) -> Option<()> {
        let world = self.headless.app.world();
        world.get::<FreezeBlur>(camera).and(world.get::<GaussianBlur>(camera))?;
        let RenderTarget::Image(target) = world.get::<RenderTarget>(camera)? else {
            return None;
        };
        let canvas = target.handle.clone();
        let is_alone = self.painters(canvas.id()) == [camera] && self.writers(canvas.id()).is_empty();
        let has_live_glass = self.glass.iter().any(|glass| world.get::<FreezeBlur>(*glass).is_none());
        let is_still = self.mask_of(camera, false).is_ok();
        if !(is_alone && is_still && !has_live_glass && self.is_there(&canvas)) {
            return None;
        }
        let before = self.headless.read_image(&canvas);
        crate::freeze::stir(&mut self.headless, self.frames as u32);
        self.run(1);
        let after = self.headless.read_image(&canvas);
        assert!(before.bytes == after.bytes, "a frozen camera shows a scene that moves");
        Some(())
    }
}

/// Whether settings are the same, NaN included.
fn same(one: &GaussianBlur, other: &GaussianBlur) -> bool {
    format!("{one:?}") == format!("{other:?}")
}
