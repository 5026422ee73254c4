//! The cameras of a random world, and the canvases that they paint.

use super::content::canvas;
use super::step::{Change, Content, NewCamera, Pick, Viewport};
use super::world::picked;
use super::*;
use bevy::core_pipeline::tonemapping::DebandDither;

impl World {
    /// Bevy notices that an image is replaced one frame late. In that frame its own passes inside a viewport cause errors of
    /// the GPU if the image is smaller.
    fn leave_viewport(&mut self, camera: Entity) {
        self.change_camera(Some(camera), Change::Viewport(None));
    }

    pub fn replace_canvas(&mut self, image: Option<Handle<Image>>, content: Content) {
        let Some(image) = image else {
            return;
        };
        for camera in self.painters(image.id()) {
            self.leave_viewport(camera);
            // Bevy notices another size in the next frame, or at once where a camera has changed. Cameras that share a target
            // must notice it in one frame, or their colours and depths differ in size.
            if let Some(mut projection) = self.world().get_mut::<Projection>(camera) {
                projection.set_changed();
            }
        }
        self.replace(Some(image), canvas(content));
    }

    /// Despawns the canvas's cameras, too: a camera without a target keeps Bevy from updating the others.
    pub fn remove_canvas(&mut self, image: Option<Handle<Image>>) {
        let painters = image.as_ref().map(|image| self.painters(image.id()));
        self.remove(image);
        for camera in painters.into_iter().flatten() {
            self.world().despawn(camera);
            self.cameras.retain(|other| *other != camera);
        }
    }

    pub fn spawn_camera(&mut self, new: &NewCamera) {
        let canvas = picked(&self.canvases, new.canvas).filter(|canvas| self.is_asset(canvas));
        let Some(canvas) = canvas else {
            return;
        };
        let msaa = self.msaa_of(&canvas);
        let camera = scene::camera(
            &mut self.headless,
            if self.is_flat { Kind::Core2d } else { new.kind },
            &canvas,
            msaa,
        );
        self.spawned += 1;
        let name = Name::new(format!("{}{}", self.name, self.spawned));
        self.insert(Some(camera), (name, new.stage));
        let mut settings = self.world().get_mut::<Camera>(camera).expect("it is a camera");
        settings.order = isize::from(new.order);
        if !new.clears {
            settings.clear_color = ClearColorConfig::None;
        }
        self.cameras.push(camera);
        self.change_camera(Some(camera), Change::Hdr(new.hdr));
        self.change_camera(Some(camera), Change::Viewport(new.viewport));
        self.change_camera(Some(camera), Change::Msaa(new.msaa));
        self.change_camera(Some(camera), Change::Blur(new.blur));
    }

    pub fn change_camera(&mut self, camera: Option<Entity>, change: Change) {
        let Some(entity) = camera else {
            return;
        };
        match change {
            Change::Canvas(pick) => return self.retarget(entity, pick),
            Change::Msaa(is_on) => return self.multisample(entity, is_on),
            _ => {}
        }
        let mut camera = self.world().entity_mut(entity);
        match change {
            Change::Blur(Some(blur)) => drop(camera.insert(blur)),
            Change::Blur(None) => drop(camera.remove::<GaussianBlur>()),
            Change::Stage(stage) => drop(camera.insert(stage)),
            Change::Hdr(true) => drop(camera.insert(Hdr)),
            Change::Hdr(false) => drop(camera.remove::<Hdr>()),
            Change::Dither(true) => drop(camera.insert(DebandDither::Enabled)),
            Change::Dither(false) => drop(camera.insert(DebandDither::Disabled)),
            Change::Msaa(_) | Change::Canvas(_) => {}
            Change::Viewport(viewport) => {
                let size = camera.get::<Camera>().and_then(Camera::physical_target_size);
                let viewport = viewport.map(|viewport| viewport_of(viewport, size));
                camera.get_mut::<Camera>().expect("a camera").viewport = viewport;
            }
            Change::Order(order) => camera.get_mut::<Camera>().expect("a camera").order = isize::from(order),
            Change::Active(is_active) => camera.get_mut::<Camera>().expect("a camera").is_active = is_active,
        }
    }

    fn is_asset(&self, image: &Handle<Image>) -> bool {
        self.headless.app.world().resource::<Assets<Image>>().contains(image)
    }

    fn msaa_of(&self, canvas: &Handle<Image>) -> Msaa {
        match self.multisampled.contains(&canvas.id()) {
            true => Msaa::Sample4,
            false => Msaa::Off,
        }
    }

    /// Lets a camera paint another canvas.
    fn retarget(&mut self, camera: Entity, pick: Pick) {
        let canvas = picked(&self.canvases, pick).filter(|canvas| self.is_asset(canvas));
        if let Some(canvas) = canvas {
            let msaa = self.msaa_of(&canvas);
            self.insert(Some(camera), (RenderTarget::Image(canvas.into()), msaa));
        }
    }

    /// Switches multisampling for all cameras on the canvas of this one.
    fn multisample(&mut self, camera: Entity, is_on: bool) {
        let world = self.headless.app.world();
        let Some(RenderTarget::Image(target)) = world.get::<RenderTarget>(camera).cloned() else {
            return;
        };
        self.multisampled.retain(|id| *id != target.handle.id());
        if is_on {
            self.multisampled.push(target.handle.id());
        }
        let msaa = self.msaa_of(&target.handle);
        for camera in self.painters(target.handle.id()) {
            self.insert(Some(camera), msaa);
        }
    }
}

/// A viewport inside the target, whose size may not be known yet.
fn viewport_of([left, top, width, height]: Viewport, size: Option<UVec2>) -> bevy::camera::Viewport {
    let size = size.unwrap_or(UVec2::ONE);
    let at = |sixteenths: u8, side: u32| u32::from(sixteenths) * side / 16;
    let position = UVec2::new(at(left, size.x), at(top, size.y)).min(size - 1);
    let wanted = UVec2::new(at(width, size.x), at(height, size.y)).max(UVec2::ONE);
    viewport(position, wanted.min(size - position))
}
