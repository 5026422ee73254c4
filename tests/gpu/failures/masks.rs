//! Masks that no blur can read.

use super::*;

const UPDATES: [BlurUpdate; 3] = [BlurUpdate::OnChange, BlurUpdate::EveryFrame, BlurUpdate::Once];

/// An image that a blur can be written to.
fn writable(headless: &mut Headless) -> Handle<Image> {
    let mut image = good_image();
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    headless.add_image(image)
}

#[test]
fn a_mask_that_the_blur_itself_writes() {
    for backend in one_backend() {
        let mut headless = warm(backend);
        for (update, is_in_place) in UPDATES.into_iter().flat_map(|update| [(update, false), (update, true)]) {
            let mask = writable(&mut headless);
            let before = {
                headless.frame();
                headless.read_image(&mask).bytes
            };
            let source = if is_in_place {
                mask.clone()
            } else {
                headless.add_image(good_image())
            };
            let blur = plain(source).with_target(mask.clone()).with_update(update);
            let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), blur);
            let profile = BlurProfile::Mask(mask.clone());
            headless.insert(entity, profile);
            let name = format!("{backend:?}, {update:?}, in place: {is_in_place}");
            assert_eq!(failures(&mut headless, 20), [BlurError::MaskIsTarget], "{name}");
            assert!(
                headless.read_image(&mask).bytes == before,
                "{name}: the image stays as it was"
            );
            let other = headless.add_image(image(5, 5));
            let profile = BlurProfile::Mask(other);
            headless.insert(entity, profile);
            // `Once` means once more: a failed blur has not run.
            assert!(finished(&mut headless, 10) > 0, "{name}: another mask is a mask");
            headless.despawn(entity);
            finished(&mut headless, 2);
        }
        assert_alive(&mut headless);
    }
}

#[test]
fn a_layer_that_is_viewed_as_an_array() {
    let mut headless = warm(BlurBackend::Compute);
    let mut mask = image(8, 8);
    mask.texture_view_descriptor = Some(TextureViewDescriptor {
        dimension: Some(TextureViewDimension::D2Array),
        ..default()
    });
    let mask = headless.add_image(mask);
    let source = headless.add_image(good_image());
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), plain(source));
    let profile = BlurProfile::Mask(mask);
    headless.insert(entity, profile);
    let expected = BlurError::UnsupportedMask { format: FORMAT };
    assert_eq!(failures(&mut headless, 20), [expected]);
    assert_alive(&mut headless);
}

#[test]
fn a_second_missing_mask_is_reported_too() {
    let mut headless = warm(BlurBackend::Compute);
    let source = headless.add_image(good_image());
    let entity = spawn(&mut headless, GaussianBlur::from_sigma(SIGMA), plain(source));
    for path in ["no first mask.png", "no second mask.png"] {
        let mask = headless.app.world().resource::<AssetServer>().load(path);
        let profile = BlurProfile::Mask(mask);
        headless.insert(entity, profile);
        assert_eq!(failures_in_time(&mut headless), [BlurError::MaskNotLoaded], "{path}");
    }
}
