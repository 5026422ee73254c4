//! Freezing: a blur keeps the picture of one frame.

use bevy::ecs::VariantDefaults;
use bevy::prelude::*;

/// From the frame in which this component is added, the blur beside it keeps the picture of that frame. Remove the
/// component to return to the current picture.
///
/// It goes on a camera with [`GaussianBlur`](crate::GaussianBlur), or on glass: a node or a region with
/// [`BackdropBlur`](crate::BackdropBlur). Images have [`BlurUpdate::Once`](crate::BlurUpdate::Once).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_gaussian_blur::prelude::*;
/// fn open_menu(mut commands: Commands, camera: Single<Entity, With<Camera3d>>) {
///     commands.entity(*camera).insert((GaussianBlur::new(40.0), FreezeBlur));
/// }
///
/// fn close_menu(mut commands: Commands, camera: Single<Entity, With<Camera3d>>) {
///     commands.entity(*camera).remove::<(GaussianBlur, FreezeBlur)>();
/// }
/// ```
///
/// # What is frozen
///
/// The picture before the blur: on a camera, all that [`BlurStage`](crate::BlurStage) blurs; of glass, what lies below it. Radius,
/// profile, mask, colours, opacity, position and shape may still change, and act on the kept picture. While none of them changes,
/// nothing is blurred, and the last result is shown again. For a camera that takes as long as a copy of its picture. A profile that
/// follows something in the world moves over the kept picture, until you stop it.
///
/// While the blur is hidden or its camera inactive, there is no picture yet: the first visible frame is the one that is
/// kept. The picture stays where it was on the screen. If the viewport changes its size, the picture is stretched to
/// fit. [`FreezeArea`] says how much of it glass keeps.
///
/// With [`BlurStage::BeforeTonemapping`](crate::BlurStage::BeforeTonemapping), later effects still run on the picture. With
/// [`BlurStage::AfterUi`](crate::BlurStage::AfterUi) this camera's user interface is frozen as well, which the log says
/// once: put menus on another camera. The stage is the one at which the picture was taken; another one takes effect when
/// the camera thaws.
///
/// # The world may stop
///
/// A frozen camera still renders its world, and the blur paints over it. To save that as well, put opaque glass over
/// the whole viewport, on a UI camera that
/// [shares the world's texture](crate::BackdropBlur#what-two-cameras-must-share). Freeze the glass, and when
/// [`FreezeTaken`] says that its picture is kept, set `is_active = false` on the world's camera. Leave no part of the
/// viewport without opaque glass: nothing paints the world there any more, so what is painted over it piles up.
///
/// The example `freeze` does this.
///
/// # Easing
///
/// With a radius of 0, the kept picture is shown as it is. If the radius eases out while the blur is frozen, the kept
/// picture comes into focus, and removing the component then cuts to the running world. So remove the component when
/// the ease-out starts: the world moves while it comes into focus.
///
/// # How long it is kept
///
/// The picture, in the camera's format, and the result are kept until this component, the blur or the entity is
/// removed. The diagnostic [`TEXTURE_BYTES`](crate::diagnostics::TEXTURE_BYTES) counts both. If the render device is
/// lost, or there is no memory for them, [`FreezeLost`] is triggered and the blur continues unfrozen.
///
/// Nothing is kept while the entity is disabled, while this component is there without its blur, or while
/// [`BlurSwitch`](crate::BlurSwitch) is off. If that ends a picture, [`FreezeLost`] is triggered in the same frame, and
/// [`FreezeTaken`] when there is another one: of the frame in which the blur is back.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct FreezeBlur;

/// How much of the picture below it glass keeps. Optional, next to [`FreezeBlur`] on glass. It has no effect on a
/// picture that is already kept.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect, VariantDefaults)]
#[reflect(Component, Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum FreezeArea {
    /// All of the viewport: the glass may move and grow.
    #[default]
    Viewport,
    /// The visible part of what the glass covers: for glass at rest. Where the glass moves beyond that, nothing is
    /// painted.
    ///
    /// Glass with [`BackdropSampling::Surroundings`](crate::BackdropSampling::Surroundings) keeps the viewport all the same.
    Region,
}

/// Triggered on an entity with [`FreezeBlur`] when its picture has been taken: from now on, the world's camera
/// [may stop](FreezeBlur#the-world-may-stop).
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct FreezeTaken {
    /// The entity that carries [`FreezeBlur`].
    pub entity: Entity,
}

/// Triggered on an entity with [`FreezeBlur`] when its picture is lost. A game that has stopped its world should resume
/// it here.
///
/// If the render device is lost, or there is no memory to keep the picture, the log says which, and the blur continues
/// unfrozen until the component is inserted again. [`BlurSwitch::Off`](crate::BlurSwitch::Off), and a blur that is
/// [not there](FreezeBlur#how-long-it-is-kept), end a picture, too: when the blur is back, it takes another one.
#[derive(EntityEvent, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct FreezeLost {
    /// The entity that carries [`FreezeBlur`].
    pub entity: Entity,
}
