//! Which pictures glass does not see, for stacks of cameras with one target.

use super::*;
use bevy::camera::ImageRenderTarget;
use std::sync::LazyLock;

/// A texture, which is the shared one if its number is 0.
fn texture(index: usize) -> TextureId {
    static TEXTURES: LazyLock<[TextureId; 2]> = LazyLock::new(|| [(); 2].map(|()| TextureId::new()));
    TEXTURES[index]
}

/// A camera with the same target as all others here.
fn camera(index: u32, clear: Clear) -> Stacked {
    Stacked {
        entity: Entity::from_raw_u32(index).expect("a small index"),
        order: index as isize,
        target: NormalizedRenderTarget::Image(ImageRenderTarget::from(Handle::default())),
        viewport: URect::new(0, 0, 100, 50),
        texture: texture(0),
        clear,
        is_written: true,
    }
}

/// The cameras that glass on the last camera does not see: their indices, and the indices of the cameras that clear.
fn unseen(cameras: &[Stacked]) -> Vec<(u32, Option<u32>)> {
    unseen_below(URect::new(0, 0, 100, 50), cameras)
}

/// The same if the glass covers only these texels.
fn unseen_below(glass: URect, cameras: &[Stacked]) -> Vec<(u32, Option<u32>)> {
    let upper = cameras.last().expect("a camera");
    let index = |entity: Entity| entity.index_u32();
    let unseen = cameras.iter().filter_map(|other| upper.unseen(other, glass, cameras));
    unseen
        .map(|(camera, cleared_by)| (index(camera), cleared_by.map(index)))
        .collect()
}

#[test]
fn a_shared_texture_that_is_not_cleared_is_seen() {
    let world = camera(0, Clear::Covering);
    assert!(unseen(&[world.clone(), camera(1, Clear::Nothing)]).is_empty());
    let both = [world.clone(), camera(1, Clear::Nothing), camera(2, Clear::Nothing)];
    assert!(unseen(&both).is_empty());
    assert_eq!(unseen(&[world, camera(1, Clear::Transparent)]), [(0, Some(1))]);
}

#[test]
fn other_textures_are_not_seen() {
    let other = Stacked {
        texture: texture(1),
        ..camera(0, Clear::Covering)
    };
    assert_eq!(unseen(&[other, camera(1, Clear::Nothing)]), [(0, None)]);
}

#[test]
fn what_is_covered_or_elsewhere_is_not_missed() {
    let world = || camera(0, Clear::Covering);
    let hdr = || Stacked {
        texture: texture(1),
        ..world()
    };
    assert!(
        unseen(&[hdr(), camera(1, Clear::Covering)]).is_empty(),
        "covered by the camera itself"
    );
    let between = [hdr(), camera(1, Clear::Covering), camera(2, Clear::Nothing)];
    assert!(unseen(&between).is_empty(), "covered by another one");
    let beside = Stacked {
        viewport: URect::new(100, 0, 200, 50),
        ..hdr()
    };
    assert!(
        unseen(&[beside, camera(1, Clear::Nothing)]).is_empty(),
        "another viewport"
    );
    let elsewhere = Stacked {
        target: NormalizedRenderTarget::TextureView(default()),
        ..hdr()
    };
    assert!(
        unseen(&[elsewhere, camera(1, Clear::Nothing)]).is_empty(),
        "another target"
    );
    let unwritten = Stacked {
        is_written: false,
        ..hdr()
    };
    assert!(
        unseen(&[unwritten, camera(1, Clear::Nothing)]).is_empty(),
        "it shows nothing"
    );
}

#[test]
fn only_what_is_below_glass_is_missed() {
    let map = Stacked {
        viewport: URect::new(0, 0, 10, 10),
        texture: texture(1),
        ..camera(1, Clear::Nothing)
    };
    let world = |texture| Stacked {
        texture,
        ..camera(0, Clear::Covering)
    };
    let centre = URect::new(40, 20, 60, 30);
    let right = [world(texture(0)), map.clone(), camera(2, Clear::Nothing)];
    assert!(unseen_below(centre, &right).is_empty());
    let wrong = [world(texture(1)), map, camera(2, Clear::Nothing)];
    assert_eq!(unseen_below(centre, &wrong), [(0, None)]);
}

/// The viewport limits what a camera covers, but not what it clears.
#[test]
fn a_camera_in_a_corner_clears_everything() {
    let corner = Stacked {
        viewport: URect::new(0, 0, 10, 10),
        ..camera(1, Clear::Covering)
    };
    let cameras = [camera(0, Clear::Covering), corner, camera(2, Clear::Nothing)];
    assert_eq!(unseen(&cameras), [(0, Some(1))]);
}

/// An app that makes and removes cameras does not grow.
#[test]
fn cameras_that_are_gone_are_forgotten() {
    let mut world = World::new();
    let cameras = [(); 2].map(|()| world.spawn_empty().id());
    let mut reported = cameras.into_iter().map(|camera| (camera, String::new())).collect();
    forget_gone(&mut reported, world.entities());
    assert_eq!(reported.len(), 2);
    world.despawn(cameras[0]);
    forget_gone(&mut reported, world.entities());
    assert_eq!(reported.into_keys().collect::<Vec<_>>(), [cameras[1]]);
}
