//! When the plugin works, for other systems to order against.

use bevy::prelude::*;

/// When the plugin works in the render world: the places in `Core2d` and `Core3d` where a camera is blurred, one for each
/// [`BlurStage`](crate::BlurStage), and those in `RenderGraph` where images are.
///
/// Order your own render systems against them. Nothing runs in the former for a camera without a blur. What a camera paints
/// into an image is blurred at the end of its schedule, after `upscaling`.
///
/// A camera with a schedule of its own is blurred by the same three systems, wherever you put them:
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
    BeforeTonemapping,
    /// After all post-processing, before the user interface.
    AfterTonemapping,
    /// After [`AfterTonemapping`](Self::AfterTonemapping), before Bevy's user interface: glass under it and among its nodes.
    Backdrop,
    /// After Bevy's user interface, before [`AfterUi`](Self::AfterUi): glass over it. Other crates' interfaces are ordered
    /// against this.
    BackdropAboveUi,
    /// After Bevy's user interface, before the picture goes to the camera's target.
    AfterUi,
    /// Before all cameras: images that no camera paints. A render system that writes such an image comes before.
    ImagesBeforeCameras,
    /// After all cameras: images painted by cameras with schedules of their own.
    ImagesAfterCameras,
}

/// When the plugin works in the main world. Order your own systems against these.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlurSystems {
    /// In [`PreUpdate`]: [`BlurFinished`](crate::BlurFinished) and [`BlurFailed`](crate::BlurFailed) are triggered.
    Report,
    /// In [`PostUpdate`]: targets of images are allocated and fitted to their sources. What is done to the size of a source
    /// before counts in this frame. It runs before Bevy's `AssetEventSystems`.
    Fit,
    /// In [`PostUpdate`], after [`Fit`](Self::Fit): settings are read. What is changed before counts in this frame.
    Collect,
}
