//! Losses, and their messages.

use super::*;
use crate::support::events::{heard, listen};
use crate::support::scene::SIZE;

#[test]
fn a_texture_that_cannot_be_copied_is_not_frozen() {
    let mut twins = Twins::with(Kind::Core2d, SIZE, LDR, listen::<FreezeLost>);
    twins.insert(without_copies());
    twins.blur((GaussianBlur::from_sigma(4.0), FreezeBlur));
    twins.headless.warm_up();
    step(&mut twins.headless, 1);
    // It continues, and reports this once.
    twins.assert_blurred("goes-on-unfrozen", [4.0; 2]);
    step(&mut twins.headless, 2);
    twins.assert_blurred("goes-on-unfrozen-2", [4.0; 2]);
    let camera = twins.blurred.camera;
    assert_eq!(heard::<FreezeLost>(&twins.headless), [camera]);
    let said = logs::all(&format!("the frozen blur of entity {camera} continues unfrozen"));
    assert!(said.len() <= 1, "{said:?}");
}

#[test]
fn what_freezes_nothing_is_said_once() {
    let mut twins = Twins::new(Kind::Core2d, SIZE, LDR);
    let name = "frozen user interface";
    twins.blur((
        Name::new(name),
        GaussianBlur::from_sigma(4.0),
        BlurStage::AfterUi,
        FreezeBlur,
    ));
    twins.headless.warm_up();
    let frozen = twins.pixels();
    step(&mut twins.headless, 1);
    assert_bits("after the user interface", &twins, &frozen);
    assert!(logs::all(name).len() <= 1, "{:?}", logs::all(name));
}

#[test]
fn a_picture_that_is_taken_is_reported_once() {
    let mut twins = Twins::with(Kind::Core2d, SIZE, LDR, listen::<FreezeTaken>);
    twins.blur(GaussianBlur::from_sigma(4.0));
    twins.headless.warm_up();
    let camera = twins.blurred.camera;
    twins.blur(FreezeBlur);
    twins.headless.frame();
    assert_eq!(
        heard::<FreezeTaken>(&twins.headless),
        [],
        "the frame that takes it reports nothing yet"
    );
    let frozen = twins.pixels();
    for frame in 1..4 {
        // Inserting it again changes nothing.
        twins.blur(FreezeBlur);
        step(&mut twins.headless, frame);
        assert_eq!(heard::<FreezeTaken>(&twins.headless), [camera]);
        assert_bits("inserted again", &twins, &frozen);
    }
}
