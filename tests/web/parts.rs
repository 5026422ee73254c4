//! Parts of the library in a browser: blurs that a render system records, the frozen blur of a camera, filters of the user
//! interface, lenses, and a scroller with round corners.
//!
//! You should see a picture of bars and noise twice, blurred alike: on the left by [`BlurImage`], on the right by a
//! [`TextureBlur`]. With a filter, you should see it once, in the middle of a black window. `parts.html` is the page;
//! `parts.py` decides what to show and checks the texels.

use bevy::core_pipeline::schedule::{Core2d, Core2dSystems};
use bevy::prelude::*;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::TextureFormat;
use bevy::render::renderer::RenderContext;
use bevy::render::texture::GpuImage;
use bevy::render::{Render, RenderApp, RenderSystems};
use bevy_gaussian_blur::prelude::*;
use bevy_gaussian_blur::recorder::{BlurTexture, TextureBlur, TextureBlurRecorder, TextureBlurRequest, TextureBlurs};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wasm_bindgen::prelude::wasm_bindgen;

/// The size of the picture in texels. Its sides are odd, so that no level of a blur ends exactly at the picture's border. No
/// window is lower than 120 pixels, so the picture is not either.
const SIZE: UVec2 = UVec2::new(161, 123);

const FORMAT: TextureFormat = TextureFormat::Rgba8UnormSrgb;

/// The alpha of both blurs, whose defaults differ.
const ALPHA: BlurAlpha = BlurAlpha::Straight;

/// The requests of the page.
#[derive(Resource, ExtractResource, Clone, Default, PartialEq)]
struct Asked {
    /// Of the picture's two blurs, in texels.
    sigma: f32,
    /// Of the camera's blur, in texels.
    camera_sigma: f32,
    /// How far both sprites are turned, in radians.
    angle: f32,
    is_frozen: bool,
}

static ASKED: Request<Asked> = Request::new(None);

/// The filter of a node in the middle of the window.
static FILTER: Request<UiFilter> = Request::new(None);

/// The lens of a pane over both pictures.
static LENS: Request<BackdropLens> = Request::new(None);

/// How far the rounded scroller is scrolled, and the radius of its corners, in pixels.
static SCROLL: Request<(Vec2, f32)> = Request::new(None);

/// The last request of the page, until a system takes it.
type Request<T> = Mutex<Option<T>>;

fn request<T>(of: &'static Request<T>) -> MutexGuard<'static, Option<T>> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets what to show from the next frame on.
#[wasm_bindgen]
pub fn ask(sigma: f32, camera_sigma: f32, angle: f32, is_frozen: bool) {
    *request(&ASKED) = Some(Asked {
        sigma,
        camera_sigma,
        angle,
        is_frozen,
    });
}

/// From the next frame on, shows the picture as a node over a black window, with this filter.
#[wasm_bindgen]
pub fn filter(sigma: f32, opacity: f32, shadow_offset: f32) {
    let filter = UiFilter::from_sigma(sigma).with_opacity(opacity);
    let shadow = DropShadow::from_sigma(Vec2::splat(shadow_offset), sigma, Color::WHITE);
    *request(&FILTER) = Some(if shadow_offset == 0.0 {
        filter
    } else {
        filter.with_shadow(shadow)
    });
}

/// The same with what a filter does to the sharp picture: it fades towards the bottom over this length, becomes brown and darker by
/// these shares, and has a white line of this width around it. Lengths are in pixels.
#[wasm_bindgen]
pub fn finish(fade: f32, sepia: f32, brightness: f32, line: f32) {
    let filter = UiFilter {
        colors: vec![ColorStep::Sepia(sepia), ColorStep::Brightness(brightness)],
        ..UiFilter::outline(line, Color::WHITE)
    };
    *request(&FILTER) = Some(filter.with_fade(UiRect::bottom(px(fade))));
}

/// From the next frame on, shows a pane of clear glass with this lens.
#[wasm_bindgen]
pub fn lens(bevel: f32, displacement: f32, dispersion: f32) {
    *request(&LENS) = Some(BackdropLens {
        bevel,
        displacement,
        dispersion,
        rim_light: 0.0,
        ..default()
    });
}

/// From the next frame on, shows the picture in a scroller with corners of this radius, over both pictures.
#[wasm_bindgen]
pub fn scroll(x: f32, y: f32, radius: f32) {
    *request(&SCROLL) = Some((Vec2::new(x, y), radius));
}

#[wasm_bindgen]
extern "C" {
    /// Notifies the page once when blurs can be shown.
    #[wasm_bindgen(js_namespace = parts, js_name = onReady)]
    fn on_ready();
}

fn main() -> AppExit {
    let window = Window {
        canvas: Some("#canvas".to_owned()),
        resolution: (SIZE * UVec2::new(2, 1)).into(),
        ..default()
    };
    let window = WindowPlugin {
        primary_window: Some(window),
        ..default()
    };
    let mut app = App::new();
    app.add_plugins((
        DefaultPlugins.set(window).set(ImagePlugin::default_nearest()),
        GaussianBlurPlugin::default(),
        ExtractResourcePlugin::<Asked>::default(),
        ExtractResourcePlugin::<Pictures>::default(),
    ))
    .insert_resource(ClearColor(Color::BLACK))
    .init_resource::<Asked>()
    .add_systems(Startup, setup)
    .add_systems(
        Update,
        (
            (listen, apply.run_if(resource_changed::<Asked>)).chain(),
            show_filter,
            show_lens,
            show_scroller,
            on_ready.run_if(blurs_ready.and_then(run_once)),
        ),
    );
    app.sub_app_mut(RenderApp)
        .init_resource::<Recorded>()
        .add_systems(Render, prepare.in_set(RenderSystems::PrepareBindGroups))
        .add_systems(Core2d, record.before(Core2dSystems::MainPass));
    app.run()
}

/// The recorder's source and target.
#[derive(Resource, ExtractResource, Clone)]
struct Pictures {
    sharp: Handle<Image>,
    recorded: Handle<Image>,
}

fn setup(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let sharp = images.add(picture());
    let [blurred, recorded] = [(); 2].map(|()| images.add(Image::new_target_texture(SIZE.x, SIZE.y, FORMAT, None)));
    commands.spawn((Camera2d, Msaa::Off));
    // Each half of the window is a sprite, texel by texel.
    let place = |side: f32| Transform::from_xyz(side * 0.5 * SIZE.x as f32, 0.0, 0.0);
    let image = BlurImage::new(sharp.clone()).with_target(blurred.clone());
    commands.spawn((image.with_alpha(ALPHA), Sprite::from_image(blurred), place(-1.0)));
    commands.spawn((Sprite::from_image(recorded.clone()), place(1.0)));
    commands.insert_resource(Pictures { sharp, recorded });
}

/// Bars on the left and noise on the right. Alpha is noise as well, and high enough everywhere that eight bits hold the
/// colour.
fn picture() -> Image {
    let texel = |index: u32| {
        let [x, y] = [index % SIZE.x, index / SIZE.x];
        let [red, green, blue, alpha] = (index * index).wrapping_mul(0x9e37_79b1).to_be_bytes();
        let bar = if (x / 7 + y / 19) % 2 == 0 { 20 } else { 230 };
        let alpha = 128 + alpha / 2;
        if x < SIZE.x / 2 {
            [bar, 255 - bar, 60, alpha]
        } else {
            [red, green, blue, alpha]
        }
    };
    let mut image = Image::new_target_texture(SIZE.x, SIZE.y, FORMAT, None);
    image.data = Some((0..SIZE.element_product()).flat_map(texel).collect());
    image
}

fn listen(mut known: ResMut<Asked>) {
    if let Some(asked) = request(&ASKED).take() {
        known.set_if_neq(asked);
    }
}

fn apply(
    asked: Res<Asked>,
    mut image: Single<&mut GaussianBlur, With<BlurImage>>,
    camera: Single<Entity, With<Camera2d>>,
    mut sprites: Query<&mut Transform, With<Sprite>>,
    mut commands: Commands,
) {
    image.set_if_neq(GaussianBlur::from_sigma(asked.sigma));
    let mut camera = commands.entity(*camera);
    camera.insert(GaussianBlur::from_sigma(asked.camera_sigma));
    if asked.is_frozen {
        camera.insert_if_new(FreezeBlur);
    } else {
        camera.remove::<FreezeBlur>();
    }
    for mut transform in &mut sprites {
        transform.rotation = Quat::from_rotation_z(asked.angle);
    }
}

fn show_filter(pictures: Res<Pictures>, shown: Query<Entity, With<UiFilter>>, mut commands: Commands) {
    let Some(filter) = request(&FILTER).take() else {
        return;
    };
    if let Ok(node) = shown.single() {
        commands.entity(node).insert(filter);
        return;
    }
    let window = Node {
        width: percent(100),
        height: percent(100),
        justify_content: JustifyContent::Center,
        ..default()
    };
    let picture = (pictures.node(), filter);
    commands.spawn((window, BackgroundColor(Color::BLACK), children![picture]));
}

fn show_lens(shown: Query<Entity, With<BackdropLens>>, mut commands: Commands) {
    let Some(lens) = request(&LENS).take() else {
        return;
    };
    if let Ok(node) = shown.single() {
        commands.entity(node).insert(lens);
        return;
    }
    let pane = Node {
        position_type: PositionType::Absolute,
        left: px(20),
        top: px(10),
        width: px(280),
        height: px(100),
        border_radius: BorderRadius::all(px(50)),
        ..default()
    };
    commands.spawn((pane, BackdropBlur::new(0.0), lens));
}

#[derive(Component)]
struct Scroller;

fn show_scroller(pictures: Res<Pictures>, shown: Query<Entity, With<Scroller>>, mut commands: Commands) {
    let Some((scrolled, radius)) = request(&SCROLL).take() else {
        return;
    };
    let scroller = Node {
        position_type: PositionType::Absolute,
        left: px(30),
        top: px(14),
        width: px(120),
        height: px(90),
        overflow: Overflow::scroll(),
        border_radius: BorderRadius::all(px(radius)),
        ..default()
    };
    let scroller = (scroller, ScrollPosition(scrolled));
    if let Ok(node) = shown.single() {
        commands.entity(node).insert(scroller);
        return;
    }
    commands.spawn((scroller, Scroller, UiFilter::rounded(), children![pictures.node()]));
}

/// The recorded blur, from frame to frame.
#[derive(Resource, Default)]
struct Recorded(TextureBlur);

impl Pictures {
    /// Both textures, once they are on the GPU.
    fn textures(&self, images: &RenderAssets<GpuImage>) -> Option<[BlurTexture; 2]> {
        Some([images.get(&self.sharp)?.into(), images.get(&self.recorded)?.into()])
    }

    /// The sharp picture as a node, texel by texel.
    fn node(&self) -> impl Bundle + use<> {
        let node = Node {
            width: px(SIZE.x),
            height: px(SIZE.y),
            flex_shrink: 0.0,
            ..default()
        };
        (node, ImageNode::new(self.sharp.clone()))
    }
}

fn prepare(
    asked: Res<Asked>,
    pictures: Res<Pictures>,
    images: Res<RenderAssets<GpuImage>>,
    mut blur: ResMut<Recorded>,
    mut blurs: TextureBlurs,
) {
    let Some([sharp, recorded]) = pictures.textures(&images) else {
        return;
    };
    // Like the image's blur, to the bit.
    let sigma = GaussianBlur::from_sigma(asked.sigma).sigma();
    let request = TextureBlurRequest {
        alpha: ALPHA,
        ..TextureBlurRequest::new(&sharp, &recorded, Vec2::splat(sigma))
    };
    if let Err(error) = blurs.prepare(&mut blur.0, &request) {
        error!("the recorded blur: {error}");
    }
}

fn record(
    pictures: Res<Pictures>,
    images: Res<RenderAssets<GpuImage>>,
    mut blur: ResMut<Recorded>,
    recorder: TextureBlurRecorder,
    mut context: RenderContext,
) {
    if let Some([sharp, recorded]) = pictures.textures(&images) {
        recorder.record(&mut blur.0, &mut context, &sharp, &recorded, None);
    }
}
