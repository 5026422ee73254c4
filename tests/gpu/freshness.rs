//! No picture is stale: a blurred image belongs to the frame, the pixels and the settings that it reports.

mod beginnings;
mod cameras;
mod chains;
mod events;
mod held;
mod in_place;
mod masks;
mod once;
mod pipelined;
mod reactive;
mod rest;
mod uploads;

use crate::support::images::ready_app;
use crate::support::prelude::*;

const FORMAT: TextureFormat = TextureFormat::Rgba16Float;

/// Two pictures of one size.
fn pictures(width: usize, height: usize) -> [Picture; 2] {
    inputs::patterns(width, height)
}

fn image(picture: &Picture) -> Image {
    to_image(picture, FORMAT)
}

fn once(source: Handle<Image>) -> BlurImage {
    plain(source).with_update(BlurUpdate::Once)
}

/// Lets a blur fail from now on, with a mask that cannot be read.
fn insert_unreadable_mask(headless: &mut Headless, blur: Entity) {
    let mut numbers = Image::default();
    numbers.texture_descriptor.format = TextureFormat::R8Uint;
    numbers.data = Some(vec![1]);
    let mask = BlurProfile::Mask(headless.add_image(numbers));
    headless.insert(blur, mask);
}

/// The number of frames in which image assets were flagged as changed.
#[derive(Resource, Default)]
struct Flagged(usize);

fn count_changes(images: Res<Assets<Image>>, mut flagged: ResMut<Flagged>) {
    flagged.0 += usize::from(images.is_changed());
}

#[test]
fn images_are_not_flagged_while_nothing_changes() {
    let setup = |app: &mut App| {
        app.init_resource::<Flagged>().add_systems(Last, count_changes);
    };
    let mut headless = ready_app(setup);
    for update in [BlurUpdate::OnChange, BlurUpdate::EveryFrame, BlurUpdate::Once] {
        let source = headless.add_image(image(&pictures(61, 47)[0]));
        let blur = GaussianBlur::from_sigma(3.5);
        spawn(&mut headless, blur, plain(source).with_update(update));
    }
    finished(&mut headless, 10);
    let mut flagged = headless.app.world_mut().resource_mut::<Flagged>();
    assert!(core::mem::take(&mut flagged.0) > 0, "targets have been allocated");
    assert_eq!(
        finished(&mut headless, 20),
        20,
        "one of the three is blurred in every frame"
    );
    assert_eq!(headless.app.world().resource::<Flagged>().0, 0);
}
