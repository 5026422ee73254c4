//! What blurs of images show while the threads that compile their pipelines are busy with other tasks.

use super::*;
use crate::support::outcomes::record;
use bevy::image::ToExtents;
use bevy::render::render_resource::TextureDimension;

/// A grey picture in a format of blocks, which is read through a copy.
fn blocks() -> Image {
    let mut grey = Image::new_uninit(
        UVec2::new(92, 32).to_extents(),
        TextureDimension::D2,
        TextureFormat::Bc4RUnorm,
        default(),
    );
    grey.data = Some([200, 200, 0, 0, 0, 0, 0, 0].repeat(23 * 8));
    grey
}

/// The blur itself reads a copy in the format of the first source, so its pipelines are compiled. Only the pipeline that pads the
/// new source is missing.
#[test]
fn a_padded_target_keeps_its_result_until_its_source_can_be_read() {
    let mut live = Live::late(BlurBackend::Auto, record);
    let device = live.headless.app.world().resource::<RenderDevice>();
    if !device.features().contains(TextureFormat::Bc4RUnorm.required_features()) {
        return;
    }
    let source = to_image(&pictures(61, 47)[0], TextureFormat::R8Unorm);
    let source = live.headless.add_image(source);
    let padded = BlurImage {
        padding: 8,
        ..plain(source.clone())
    };
    let entity = spawn(&mut live.headless, GaussianBlur::from_sigma(3.5), padded);
    live.frame();
    live.wait_until_ready();
    live.frames(4);
    let target = target_of(&live.headless, entity);
    live.watch(&target);
    let held = live.hold_compiler();
    live.frames(4);
    replace_image(&mut live.headless, &source, blocks());
    live.frames(8);
    held.release();
    live.wait_until_ready();
    live.frames(8);
    // The first shots are of frames before it was watched.
    let shots = live.shots();
    let watched = shots.iter().filter_map(|shot| shot.images.first());
    let shown: Vec<&[u8]> = watched
        .map(|pixels| &*pixels.as_ref().expect("it is on the GPU").bytes)
        .collect();
    let (old, new) = (shown[0], shown[shown.len() - 1]);
    assert!(new.len() != old.len(), "the next result follows");
    assert!(new.iter().any(|byte| *byte != 0), "it shows something");
    let other = shown.iter().position(|bytes| *bytes != old && *bytes != new);
    assert_eq!(other, None, "of {} frames, one shows neither result", shown.len());
}
