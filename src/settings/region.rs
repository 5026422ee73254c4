//! Glass without a node.

use super::backdrop::BackdropBlur;
use bevy::camera::ViewportConversionError;
use bevy::ecs::template::EntityTemplate;
use bevy::prelude::*;

/// Glass without a node: any rectangle of a camera's viewport, with the [`BackdropBlur`] of the same entity.
///
/// Regions need no node, but the feature `ui`, as all glass. They are always antialiased. On a node, the region takes
/// precedence.
///
/// Regions under the UI are painted first, then the UI with its glass, then regions above it. Within a layer,
/// [`order`](Self::order) decides. Glass that is painted later sees glass that was painted earlier.
///
/// A region can follow an object in the world: call [`center_on`](Self::center_on) in every frame.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gaussian_blur::prelude::*;
///
/// fn blur_the_left(mut commands: Commands, camera: Single<Entity, With<Camera>>) {
///     commands.spawn((
///         BackdropRegion::new(*camera, Rect::new(0.0, 0.0, 320.0, 720.0)),
///         BackdropBlur::new(60.0).with_color(ColorStep::Brightness(0.7)),
///     ));
/// }
/// ```
///
/// # Other crates' interfaces
///
/// A region [above the user interface](BackdropLayer::AboveUi) can lie under a translucent window of `bevy_egui`. The
/// system `egui_pass` draws that window, in the schedules `Core2d` and `Core3d` of the render app. Order it:
/// `configure_sets(Core3d, GaussianBlurSystems::BackdropAboveUi.before(egui_pass))`. The region then shows the scene
/// and Bevy's UI. It cannot show other egui windows, because egui draws all of them in one pass.
/// If egui lies below Bevy's UI (`UiRenderOrder::BevyUiAboveEgui`), order `GaussianBlurSystems::Backdrop.after(egui_pass)`, so
/// that glass among the nodes shows egui.
#[derive(Component, FromTemplate, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(BackdropBlur)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[must_use]
pub struct BackdropRegion {
    /// The camera on whose picture the glass lies. Default: none, [`Entity::PLACEHOLDER`]. An entity that is not a
    /// camera is reported once.
    #[entities]
    pub camera: Entity,
    /// The rectangle of the glass, in logical pixels of the camera's viewport, from its top left corner.
    ///
    /// Range: any; the part outside the viewport is not visible. Default: empty. An empty, NaN or infinite rectangle
    /// means no glass.
    pub rect: Rect,
    /// The radii of the top left, top right, bottom right and bottom left corner, in logical pixels.
    ///
    /// Range: from 0 to half the shorter side of [`rect`](Self::rect); larger radii are clamped, NaN and negative ones
    /// count as 0. Default: 0.
    pub corners: Vec4,
    /// Whether the glass lies under or over Bevy's user interface. Default: [`BackdropLayer::AboveUi`].
    pub layer: BackdropLayer,
    /// Regions of one layer are painted in this order; the order of equal ones is not defined. Default: 0.
    pub order: i32,
}

impl Default for BackdropRegion {
    fn default() -> Self {
        Self {
            camera: Entity::PLACEHOLDER,
            rect: Rect::default(),
            corners: Vec4::ZERO,
            layer: BackdropLayer::AboveUi,
            order: 0,
        }
    }
}

impl BackdropRegion {
    /// A rectangle of a camera's viewport, in logical pixels.
    pub fn new(camera: Entity, rect: Rect) -> Self {
        Self {
            camera,
            rect,
            ..Self::default()
        }
    }

    /// Moves [`rect`](Self::rect) so that its centre is where the camera shows this position of the world.
    ///
    /// In [`PostUpdate`], after `TransformSystems::Propagate`, the region is exactly there; in [`Update`], it is where the
    /// last frame showed the position.
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_gaussian_blur::prelude::*;
    /// # #[derive(Component)]
    /// # struct Hero;
    /// fn follow(
    ///     camera: Single<(&Camera, &GlobalTransform)>,
    ///     hero: Single<&GlobalTransform, With<Hero>>,
    ///     mut region: Single<&mut BackdropRegion>,
    /// ) {
    ///     let (camera, transform) = *camera;
    ///     if region.center_on(camera, transform, hero.translation()).is_err() {
    ///         // The hero is not in sight. Do not return the error: Bevy panics on errors of systems by default.
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The position is not between the camera's near and far planes (behind the camera, for example), or the size of the viewport is not
    /// known yet, as in the first frame. The region then stays where it is.
    pub fn center_on(
        &mut self,
        camera: &Camera,
        camera_transform: &GlobalTransform,
        position: Vec3,
    ) -> Result<(), ViewportConversionError> {
        let [point, _] = place_in_viewport(camera, camera_transform, position)?;
        self.rect = Rect::from_center_size(point, self.rect.size());
        Ok(())
    }

    /// The same region with other [`corners`](Self::corners).
    pub fn with_corners(self, corners: Vec4) -> Self {
        Self { corners, ..self }
    }

    /// The same region in another [`layer`](Self::layer).
    pub fn with_layer(self, layer: BackdropLayer) -> Self {
        Self { layer, ..self }
    }

    /// The same region with another [`order`](Self::order).
    pub fn with_order(self, order: i32) -> Self {
        Self { order, ..self }
    }
}

/// What `BackdropRegion::new(#Camera, ..)` calls in `bsn!`.
impl BackdropRegionTemplate {
    /// As [`BackdropRegion::new`].
    #[must_use]
    pub fn new(camera: impl Into<EntityTemplate>, rect: Rect) -> Self {
        Self {
            camera: camera.into(),
            rect,
            ..Self::default()
        }
    }
}

/// Whether a [`BackdropRegion`] lies under or over the user interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum BackdropLayer {
    /// Over the scene, after all post-processing, under Bevy's user interface.
    BelowUi,
    /// Over Bevy's user interface, before [`BlurStage::AfterUi`](crate::BlurStage::AfterUi).
    #[default]
    AboveUi,
}

/// Where a camera shows a position of the world, and the size of its viewport, in logical pixels. Unlike in
/// [`Camera::world_to_viewport`], the corner of the viewport is the origin, even if the viewport is a part of its target.
pub fn place_in_viewport(
    camera: &Camera,
    camera_transform: &GlobalTransform,
    position: Vec3,
) -> Result<[Vec2; 2], ViewportConversionError> {
    let viewport = camera
        .logical_viewport_rect()
        .ok_or(ViewportConversionError::NoViewportSize)?;
    let in_target = camera.world_to_viewport(camera_transform, position)?;
    Ok([in_target - viewport.min, viewport.size()])
}
