//! The system sets of the plugin, for other systems to order against.

use bevy::prelude::*;

/// Where the plugin works in the render world: in `Core2d` and `Core3d` for cameras, one set per
/// [`BlurStage`](crate::BlurStage), and in `RenderGraph` for images.
///
/// Order your own render systems against these sets. The camera sets do nothing for a camera without a blur. An image
/// that a camera paints is blurred at the end of the camera's schedule, after `upscaling`.
///
/// A camera with its own schedule is blurred by the same three systems, wherever you put them:
///
/// ```
/// # use bevy::ecs::schedule::ScheduleLabel;
/// # use bevy::prelude::*;
/// use bevy_gaussian_blur::render::blur_after_tonemapping;
///
/// # #[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
/// # struct MySchedule;
/// # fn my_tonemapping() {}
/// # fn my_ui() {}
/// # let mut app = App::new();
/// # let render_app = app.main_mut();
/// render_app.add_systems(MySchedule, blur_after_tonemapping.after(my_tonemapping).before(my_ui));
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GaussianBlurSystems {
    /// After the early post-processing and motion blur, before bloom and tonemapping.
    ///
    /// Bevy's [`FullscreenMaterial`](bevy::core_pipeline::fullscreen_material::FullscreenMaterial) runs before tonemapping
    /// by default, too, and Bevy has no set for these materials. On a camera with both, say in your material which one comes first;
    /// without an order, one of them may be lost in some frames:
    ///
    /// ```ignore
    /// fn schedule_configs(system: ScheduleConfigs<BoxedSystem>) -> ScheduleConfigs<BoxedSystem> {
    ///     system
    ///         .in_set(Core3dSystems::PostProcess)
    ///         .after(GaussianBlurSystems::BeforeTonemapping)
    ///         .before(tonemapping)
    /// }
    /// ```
    BeforeTonemapping,
    /// After all post-processing, before the user interface.
    AfterTonemapping,
    /// After [`AfterTonemapping`](Self::AfterTonemapping), before Bevy's user interface: glass under it and among its nodes.
    Backdrop,
    /// After Bevy's user interface, before [`AfterUi`](Self::AfterUi): glass over it. Order the interfaces of other
    /// crates against this.
    BackdropAboveUi,
    /// After Bevy's user interface, before the picture is written to the camera's target.
    AfterUi,
    /// Before all cameras: images that no camera paints. A render system that writes such an image must run before.
    ImagesBeforeCameras,
    /// After all cameras: images painted by cameras with their own schedules.
    ImagesAfterCameras,
}

/// Where the plugin works in the main world. Order your own systems against these.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlurSystems {
    /// In [`PreUpdate`]: [`BlurFinished`](crate::BlurFinished) and [`BlurFailed`](crate::BlurFailed) are triggered.
    Report,
    /// In [`PostUpdate`]: targets of images are allocated and fitted to their sources. If a source changes its size
    /// before this set, its target follows in this frame. The set runs before Bevy's `AssetEventSystems`.
    Fit,
    /// In [`PostUpdate`], after [`Fit`](Self::Fit): settings are read. A change before this set takes effect in this
    /// frame.
    Collect,
}
