//! Blurs of camera pictures belong to the same frame, and later cameras show them in it.

use super::*;
use bevy::image::ToExtents;

const SIZE: UVec2 = UVec2::new(160, 90);
const SIGMA: f32 = 6.0;
/// The layer that only the camera that shows the blur sees.
const SCREEN: usize = 1;
/// The layer that only the second painting camera sees.
const OVERLAY: usize = 2;

/// Cameras that paint an image, its blur, and a later camera that shows the blur.
struct Stage {
    headless: Headless,
    painters: Vec<Entity>,
    source: Handle<Image>,
    blurred: Handle<Image>,
    screen: Handle<Image>,
}

impl Stage {
    fn new(kind: Kind, update: BlurUpdate) -> Self {
        let mut headless = ready_app(|app| scene::add_plugins(app, kind));
        scene::spawn(&mut headless, kind, 1.0);
        // The camera that shows the blur is spawned first: the order of the cameras counts, not the order of spawning.
        let screen = scene::target(&mut headless, SIZE, FORMAT);
        let viewer = scene::camera(&mut headless, Kind::Core2d, &screen, Msaa::Off);
        see(&mut headless, viewer, SCREEN, 9);
        let source = scene::target(&mut headless, SIZE, FORMAT);
        let painter = scene::camera(&mut headless, kind, &source, Msaa::Off);
        let image = plain(source.clone()).with_update(update);
        let blur = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), image);
        headless.frame();
        let blurred = target_of(&headless, blur);
        let sprite = Sprite::from_image(blurred.clone());
        headless.spawn((sprite, RenderLayers::layer(SCREEN)));
        headless.warm_up();
        Self {
            headless,
            painters: vec![painter],
            source,
            blurred,
            screen,
        }
    }

    /// Adds a camera that paints a yellow rectangle over what the first one has painted.
    fn add_overlay(&mut self) {
        let camera = scene::camera(&mut self.headless, Kind::Core2d, &self.source, Msaa::Off);
        see(&mut self.headless, camera, OVERLAY, 1);
        let world = self.headless.app.world_mut();
        world.get_mut::<Camera>(camera).expect("a camera").clear_color = ClearColorConfig::None;
        let sprite = Sprite::from_color(LinearRgba::rgb(1.0, 1.0, 0.0), Vec2::new(30.0, 20.0));
        world.spawn((sprite, RenderLayers::layer(OVERLAY)));
        self.painters.push(camera);
        self.headless.warm_up();
    }

    /// Moves the painting cameras, alternately in opposite directions.
    fn move_to(&mut self, position: Vec2) {
        for (index, painter) in self.painters.iter().enumerate() {
            let direction = if index % 2 == 0 { 1.0 } else { -1.0 };
            let transform = Transform::from_translation((position * direction).extend(0.0));
            self.headless.insert(*painter, transform);
        }
    }

    /// Changes the size of the painted and of the shown image, as resizing a window does.
    fn resize(&mut self, size: UVec2) {
        let world = self.headless.app.world_mut();
        for image in [&self.source, &self.screen] {
            // Bevy's own event comes at the end of the frame, a frame too late for the camera.
            world.write_message(AssetEvent::<Image>::Modified { id: image.id() });
            let mut images = world.resource_mut::<Assets<Image>>();
            let mut image = images.get_mut(image).expect("it was added");
            image.resize(size.to_extents());
        }
    }

    fn picture(&self, image: &Handle<Image>) -> Picture {
        self.headless.picture(image)
    }

    /// Runs one frame. The blur must be of this frame's picture, and must be shown in it. Returns the blur.
    fn frame(&mut self, name: &str, size: UVec2) -> Picture {
        self.headless.frame();
        let sharp = self.picture(&self.source);
        assert_eq!(
            [sharp.width, sharp.height],
            size.to_array().map(|side| side as usize),
            "{name}"
        );
        assert_blur(name, &self.headless, &self.blurred, &sharp, SIGMA);
        let blurred = self.picture(&self.blurred);
        let shown = self.picture(&self.screen);
        let name = format!("{name}-shown");
        assert_close(&name, &shown, &blurred, &RGBA, 0.3 / 255.0);
        blurred
    }

    /// The same in several frames, with the cameras in other positions in each.
    fn check_moving(&mut self, name: &str) {
        let mut last: Option<Picture> = None;
        for step in 0..8_u8 {
            self.move_to(Vec2::new(f32::from(step) * 7.0 - 24.0, f32::from(step % 3) * 5.0));
            let name = format!("{name}-{step}");
            let blurred = self.frame(&name, SIZE);
            if let Some(last) = &last {
                let moved = worst_difference(&blurred, last).value;
                assert!(moved > 10.0 / 255.0, "{name}: hardly anything has moved");
            }
            last = Some(blurred);
        }
    }
}

/// Lets a camera see only one layer.
fn see(headless: &mut Headless, camera: Entity, layer: usize, order: isize) {
    headless.insert(camera, RenderLayers::layer(layer));
    headless.get_mut::<Camera>(camera).order = order;
}

#[test]
fn a_later_camera_shows_the_blur_of_this_frame() {
    // What a camera paints is a change of the source.
    for (kind, update) in [
        (Kind::Core2d, BlurUpdate::EveryFrame),
        (Kind::Core3d, BlurUpdate::EveryFrame),
        (Kind::Core2d, BlurUpdate::OnChange),
    ] {
        let mut stage = Stage::new(kind, update);
        stage.check_moving(&format!("fresh-{kind:?}-{update:?}"));
    }
}

#[test]
fn the_blur_comes_after_the_last_camera_that_paints() {
    let mut stage = Stage::new(Kind::Core2d, BlurUpdate::EveryFrame);
    stage.add_overlay();
    stage.check_moving("fresh-overlay");
    let is_yellow = |texel: &[f64; 4]| texel[0] > 0.99 && texel[1] > 0.99 && texel[2] < 0.01;
    let sharp = stage.picture(&stage.source);
    let yellow = sharp.texels.iter().filter(|texel| is_yellow(texel)).count();
    assert!(yellow > 500, "the second camera paints");
    // The first camera alone paints in the next frame.
    let overlay = stage.painters.remove(1);
    scene::set_active(&mut stage.headless, overlay, false);
    stage.check_moving("fresh-without-overlay");
}

/// Sizes that grow and shrink, including odd ones.
fn size_in(frame: u32) -> UVec2 {
    UVec2::new(100 + (frame * 37) % 61, 50 + (frame * 23) % 41)
}

#[test]
fn a_source_resized_in_every_frame_is_never_shown_blank_or_old() {
    for update in [BlurUpdate::EveryFrame, BlurUpdate::OnChange] {
        let mut stage = Stage::new(Kind::Core2d, update);
        for frame in 0..30 {
            stage.resize(size_in(frame));
            stage.frame(&format!("fresh-resized-{update:?}-{frame}"), size_in(frame));
        }
        for size in [UVec2::new(1, 1), UVec2::new(2, 90), UVec2::new(300, 1), SIZE] {
            stage.resize(size);
            stage.frame(&format!("fresh-resized-{update:?}-{size}"), size);
        }
    }
}
