//! Frosted glass, soft shadows and focus for [Bevy](https://bevy.org): a Gaussian blur for cameras, images and the user interface, by one
//! plugin and one component on what you want to blur.
//!
//! It is *the* Gaussian, within 0.35 of a grey level at every radius, at a cost that does not grow with the radius.
//!
//! | to blur | add | to |
//! |---|---|---|
//! | what a camera renders | [`GaussianBlur`], [`BlurStage`] | [the camera](#a-camera) |
//! | an image | [`GaussianBlur`], [`BlurImage`] | [any entity](#an-image) |
//! | what lies behind a node or a rectangle | [`BackdropBlur`]; [`BackdropLens`], [`BackdropRegion`] | [the node](#frosted-glass) |
//! | a node with its descendants, or their shadow | `UiFilter` | [the node](#filters-and-shadows) |
//! | some places more than others | [`BlurProfile`] | [beside any of these](#some-places-more-than-others) |
//! | the picture of one frame | [`FreezeBlur`] | [a camera or glass](#a-pause) |
//!
//! # A camera
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_gaussian_blur::prelude::*;
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, GaussianBlurPlugin::default()))
//!     .add_systems(Startup, |mut commands: Commands| {
//!         commands.spawn((Camera3d::default(), GaussianBlur::new(24.0)));
//!     })
//!     .run();
//! ```
//!
//! [`GaussianBlur`] holds the radius, which is three standard deviations, and may change in any frame. [`BlurStage`]
//! selects what to blur: light, the finished picture, or the finished picture with the user interface.
//!
//! # An image
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! fn blur_photo(mut commands: Commands, assets: Res<AssetServer>) {
//!     let photo = assets.load("photo.png");
//!     commands
//!         .spawn((GaussianBlur::from_sigma(8.0), BlurImage::new(photo)))
//!         .observe(|finished: On<BlurFinished>, blurs: Query<&BlurImage>| {
//!             let image = blurs.get(finished.entity).ok().and_then(|blur| blur.target.clone());
//!             info!("blurred into {image:?}");
//!         });
//! }
//! ```
//!
//! [`BlurImage`] names the source and, if you have one, the target. [`BlurFinished`] and [`BlurFailed`] report the outcome.
//! [`BlurPixelsExt::blur_for_pixels`] blurs an image once and hands its pixels over.
//!
//! ## A region, and padding
//!
//! [`BlurImage::region`] blurs a cell of an atlas, which takes nothing from its neighbours. [`BlurImage::padding`] adds transparent texels
//! around it, so that a shadow is not cut off at the border:
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! fn blur_a_cell(mut commands: Commands, assets: Res<AssetServer>) {
//!     let blur = GaussianBlur::new(12.0);
//!     let cell = BlurImage::new(assets.load("atlas.png"))
//!         .with_region(URect::new(64, 0, 128, 64))
//!         .with_padding(BlurImage::padding_for(&blur));
//!     commands.spawn((blur, cell));
//! }
//! ```
//!
//! # Frosted glass
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! # #[cfg(feature = "ui")]
//! fn open_menu(mut commands: Commands) {
//!     commands.spawn((Node { width: px(400), height: px(300), ..default() }, BackdropBlur::new(60.0)));
//! }
//!
//! # #[cfg(feature = "ui")]
//! fn blur_the_left(mut commands: Commands, camera: Single<Entity, With<Camera>>) {
//!     let left = BackdropRegion::new(*camera, Rect::new(0.0, 0.0, 320.0, 720.0));
//!     commands.spawn((left, BackdropBlur::new(60.0)));
//! }
//! ```
//!
//! [`BackdropBlur`] blurs everything behind a node that was painted before it, the scene and the user interface.
//! [`BackdropRegion`] does the same for any rectangle of a viewport, and [`BackdropLens`] makes either refract at its rim.
//!
//! # Filters and shadows
//!
//! `UiFilter` blurs, colours, fades and shadows a node and its descendants as one picture, and clips them to rounded corners.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! # #[cfg(feature = "ui")]
//! fn spawn_title(mut commands: Commands) {
//!     let glow = DropShadow::glow(40.0, Color::srgb(0.3, 0.8, 1.0));
//!     let shadow = DropShadow::new(vec2(0.0, 4.0), 12.0, Color::BLACK);
//!     commands.spawn((Text::new("Aurora"), UiFilter::default().with_shadow(glow).with_shadow(shadow)));
//!     // A HUD that fades as one:
//!     commands.spawn((Node::default(), UiFilter::opacity(0.5), children![Text::new("74 / 100")]));
//! }
//! ```
//!
//! # Some places more than others
//!
//! [`BlurProfile`] gives each place a share of the radius, from 0 (sharp) to 1: along a line, away from a band or a point, or by a mask.
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! fn spawn_scope(mut commands: Commands) {
//!     let scope = BlurProfile::Radial { center: Vec2::splat(0.5), inner: 0.3, outer: 0.45, from: 0.0, to: 1.0 };
//!     commands.spawn((Camera3d::default(), GaussianBlur::new(30.0), scope));
//! }
//! ```
//!
//! # A switch
//!
//! [`BlurSwitch`], a resource, turns the blurs of cameras and of the user interface off: for weak machines, and for players who want less
//! transparency. Glass is then painted in [`BackdropBlur::fallback`].
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! fn reduce_transparency(mut switch: ResMut<BlurSwitch>) {
//!     *switch = BlurSwitch::Off;
//! }
//! ```
//!
//! # A pause
//!
//! [`FreezeBlur`] makes a camera's blur or glass keep the picture of one frame. While nothing changes, nothing is
//! blurred again, and below frozen glass the world's camera may be inactive.
//!
//! # In render systems of your own
//!
//! [`recorder`] blurs any texture between two passes of yours: outlines, light maps, soft shadows, fog of war.
//!
//! # Scenes
//!
//! All components can be written in Bevy's `bsn!`, with paths for images and names for cameras:
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_gaussian_blur::prelude::*;
//! fn title_screen() -> impl SceneList {
//!     bsn_list! [
//!         (
//!             #Main
//!             Camera3d
//!             GaussianBlur { radius: 60.0 }
//!             BlurStage::AfterUi
//!             BlurProfile::Band { center: Vec2::splat(0.5), direction: {Vec2::X}, sharp: 0.1, soft: 0.4 }
//!         ),
//!         GaussianBlur::from_sigma(8.0) BlurImage { source: "photo.png" },
//!         BackdropRegion { camera: #Main, rect: Rect::new(0.0, 0.0, 320.0, 720.0) } BackdropBlur::new(60.0),
//!         Node { width: px(400), height: px(300) }
//!         BackdropBlur { blur: GaussianBlur { radius: 60.0 }, colors: {vec![ColorStep::Brightness(0.7)]} },
//!     ]
//! }
//! ```
//!
//! Fields that are not named keep their defaults; those of a [`BlurProfile`] are 0.
//!
//! # More
//!
//! `docs/questions.md` in the crate's folder has a line or a snippet for what is not shown here: fading, screenshots, photo modes, colours
//! over everything, pixel art, servers, golden images, egui, other effects, a settings menu, memory, platforms, and what the log says.
//!
//! # When it can be seen
//!
//! Bevy compiles shaders in the background. The general shaders, which draw a blur of any strength, come first: for the usual
//! cameras they compile before a camera exists. [`BlurReadiness`] and the run condition [`blurs_ready`] tell a loading screen
//! when they are compiled. From then on every blur is drawn in the frame that requests it, at every strength. It becomes
//! faster a little later, once the shader for its kernel is compiled, too ([`BlurCompilation`]). The shaders of glass and filters
//! come next; [`GaussianBlurPlugin::precompile_ui`] says when. Until they are compiled, glass is painted in its fallback colour, and
//! groups are sharp. Where threads compile, no frame waits.
//!
//! # What it costs
//!
//! [`GaussianBlurDiagnosticsPlugin`] publishes GPU times from timestamps; [`BlurLabel`](diagnostics::BlurLabel) builds
//! their paths.
//!
//! # How the crate is built
//!
//! A blur is a *plan*: a short list of passes, computed from sigma, size, edge mode and precision without a GPU. The front
//! ends for cameras, images and glass differ only in where a plan reads and writes, and one executor runs them all. The
//! derivation of the plan is at the top of `src/plan.rs`, the derivation of the kernels in `src/kernel.rs`.
//!
//! The feature `serialize` makes the settings serialisable with `serde`, like the settings of Bevy's crates.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(feature = "ui"),
    expect(
        dead_code,
        unused_imports,
        reason = "glass and filters of the user interface use more than cameras and images"
    )
)]

#[cfg(feature = "ui")]
mod backdrop;
mod camera;
pub mod diagnostics;
mod errors;
#[cfg(feature = "ui")]
mod filters;
mod formats;
mod freeze;
mod gpu;
mod image;
mod image_changes;
mod kernel;
mod mailbox;
#[cfg(feature = "ui")]
mod paint;
mod plan;
mod profiles;
mod program;
pub mod recorder;
mod redraw;
mod schedule;
mod settings;
mod sigma_field;
mod systems;
mod validation;

use bevy::prelude::*;

/// Compiles the code in documents.
#[cfg(doctest)]
#[doc = include_str!("../docs/recorder.md")]
#[cfg_attr(feature = "ui", doc = include_str!("../README.md"))]
#[cfg_attr(feature = "ui", doc = include_str!("../docs/questions.md"))]
mod documents {}

pub use diagnostics::publish::GaussianBlurDiagnosticsPlugin;
pub use errors::{BlurError, FormatCapability};
pub use gpu::{BlurReadiness, blurs_ready};
pub use image::{BlurPixelsExt, BlurredPixels};
#[cfg(feature = "ui")]
pub use paint::BackdropMaterialPlugin;
#[cfg(feature = "ui")]
pub use settings::{
    BackdropBlur, BackdropGroup, BackdropLayer, BackdropLens, BackdropRegion, BackdropRegionTemplate, BackdropSampling,
    ColorStep, DropShadow, FreezeArea, GroupOutline, HasBlur, UiFilter,
};
pub use settings::{
    BlurAlpha, BlurBackend, BlurCompilation, BlurFailed, BlurFinished, BlurImage, BlurImageTemplate, BlurProfile,
    BlurProfileTemplate, BlurRevision, BlurStage, BlurSwitch, BlurUnit, BlurUpdate, EdgeMode, FreezeBlur, FreezeLost,
    FreezeTaken, GaussianBlur, RADIUS_IN_SIGMAS,
};
pub use systems::{BlurSystems, GaussianBlurSystems};

/// The render systems of cameras, for schedules other than `Core2d` and `Core3d`. [`GaussianBlurSystems`] shows how.
pub mod render {
    pub use crate::camera::{blur_after_tonemapping, blur_after_ui, blur_before_tonemapping};
    #[cfg(feature = "ui")]
    pub use crate::paint::{backdrops_above_ui, backdrops_below_ui};
}

/// The items that nearly every user of the crate needs.
pub mod prelude {
    pub use crate::diagnostics::BlurLabel;
    #[cfg(feature = "ui")]
    pub use crate::{
        BackdropBlur, BackdropGroup, BackdropLayer, BackdropLens, BackdropMaterialPlugin, BackdropRegion,
        BackdropSampling, ColorStep, DropShadow, FreezeArea, GroupOutline, HasBlur, UiFilter,
    };
    pub use crate::{
        BlurAlpha, BlurBackend, BlurCompilation, BlurError, BlurFailed, BlurFinished, BlurImage, BlurPixelsExt,
        BlurProfile, BlurReadiness, BlurStage, BlurSwitch, BlurUnit, BlurUpdate, BlurredPixels, EdgeMode, FreezeBlur,
        FreezeLost, FreezeTaken, GaussianBlur, GaussianBlurDiagnosticsPlugin, GaussianBlurPlugin, GaussianBlurSystems,
        blurs_ready,
    };
}

/// Adds [`GaussianBlur`] to an app.
#[derive(Clone, Copy, Debug)]
pub struct GaussianBlurPlugin {
    /// Which kind of GPU pass executes blurs. Default: [`BlurBackend::Auto`].
    pub backend: BlurBackend,
    /// Whether the pipelines of glass and filters compile in the background when the app starts, so that the first of them is
    /// complete in its first frame. Default: `true`.
    ///
    /// With `false` they compile when the first [`BackdropBlur`] or `UiFilter` is spawned, visible or not: for apps that use neither.
    /// Where compiling blocks the main thread (on macOS, on the web, and without Bevy's feature `multi_threaded`), they always do.
    pub precompile_ui: bool,
}

impl Default for GaussianBlurPlugin {
    fn default() -> Self {
        Self {
            backend: BlurBackend::default(),
            precompile_ui: true,
        }
    }
}

impl Plugin for GaussianBlurPlugin {
    fn build(&self, app: &mut App) {
        let backend = self.backend;
        app.register_type::<GaussianBlur>()
            .register_type::<BlurImage>()
            .register_type::<BlurProfile>()
            .register_type::<BlurStage>()
            .register_type::<BlurRevision>()
            .register_type::<BlurSwitch>()
            .init_resource::<BlurSwitch>()
            .register_type::<BlurFinished>()
            .register_type::<BlurFailed>()
            .register_type::<FreezeBlur>()
            .register_type::<FreezeLost>()
            .register_type::<BlurCompilation>()
            .register_type::<BlurBackend>()
            .register_type::<FreezeTaken>()
            .add_plugins((
                move |app: &mut App| gpu::plugin(app, backend),
                diagnostics::assign::plugin,
                validation::plugin,
                image_changes::plugin,
                profiles::plugin,
                freeze::plugin,
                camera::plugin,
                image::plugin,
                redraw::plugin,
            ));
        #[cfg(feature = "ui")]
        paint::plugin(app, self.precompile_ui);
        #[cfg(feature = "ui")]
        app.register_type::<BackdropBlur>()
            .register_type::<BackdropRegion>()
            .register_type::<BackdropLens>()
            .register_type::<BackdropGroup>()
            .register_type::<FreezeArea>()
            .add_plugins((backdrop::plugin, filters::plugin));
    }

    #[cfg(feature = "ui")]
    fn finish(&self, app: &mut App) {
        paint::finish(app);
    }
}
