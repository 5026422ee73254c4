//! Everything that users set can be written in Bevy's `bsn!`.

use bevy::app::TaskPoolPlugin;
use bevy::asset::HandleTemplate;
use bevy::camera::{Camera3d, Hdr};
use bevy::prelude::*;
use bevy::scene::ScenePlugin;
use bevy_gaussian_blur::prelude::*;

/// A world that can spawn scenes.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default(), ScenePlugin))
        .init_asset::<Image>();
    app
}

/// The only component of its type.
fn only<T: Component + Clone>(app: &mut App) -> T {
    let mut query = app.world_mut().query::<&T>();
    query.single(app.world()).expect("there is one").clone()
}

fn path_of(app: &App, image: &Handle<Image>) -> String {
    let path = app.world().resource::<AssetServer>().get_path(image.id());
    path.expect("it was loaded from a file").to_string()
}

#[test]
fn cameras_can_be_written_as_scenes() {
    let mut app = app();
    let camera = bsn! {
        Camera3d
        Hdr
        GaussianBlur { radius: 60.0, unit: BlurUnit::ViewportHeight, edge: EdgeMode::Mirror }
        BlurStage::AfterUi
        BlurProfile::Band { center: Vec2::splat(0.5), direction: {Vec2::X}, sharp: 0.1, soft: 0.4 }
        FreezeBlur
    };
    app.world_mut().spawn_scene(camera).expect("it is spawned");
    let blur = GaussianBlur::new(60.0)
        .with_unit(BlurUnit::ViewportHeight)
        .with_edge(EdgeMode::Mirror);
    assert_eq!(only::<GaussianBlur>(&mut app), blur);
    assert_eq!(only::<BlurStage>(&mut app), BlurStage::AfterUi);
    let band = BlurProfile::Band {
        center: Vec2::splat(0.5),
        direction: Vec2::X,
        sharp: 0.1,
        soft: 0.4,
    };
    assert_eq!(only::<BlurProfile>(&mut app), band);
    assert_eq!(only::<FreezeBlur>(&mut app), FreezeBlur);
}

#[test]
fn images_are_named_by_their_paths() {
    let mut app = app();
    let blur = bsn! {
        BlurImage { source: "photo.png", alpha: BlurAlpha::Opaque }
        BlurProfile::Mask("mask.png")
        GaussianBlur::from_sigma(8.0)
    };
    app.world_mut().spawn_scene(blur).expect("it is spawned");
    let image = only::<BlurImage>(&mut app);
    assert_eq!(path_of(&app, &image.source), "photo.png");
    assert_eq!(
        BlurImage {
            source: default(),
            ..image
        },
        BlurImage::default().with_alpha(BlurAlpha::Opaque)
    );
    let BlurProfile::Mask(mask) = only(&mut app) else {
        panic!("it is a mask")
    };
    assert_eq!(path_of(&app, &mask), "mask.png");
    assert_eq!(only::<GaussianBlur>(&mut app), GaussianBlur::from_sigma(8.0));
}

#[test]
fn images_may_be_blurred_in_place_or_into_another_one() {
    let mut app = app();
    let scene = bsn! { BlurImage::in_place("photo.png") };
    app.world_mut().spawn_scene(scene).expect("it is spawned");
    let image = only::<BlurImage>(&mut app);
    assert_eq!(path_of(&app, &image.source), "photo.png");
    assert_eq!(image.target, Some(image.source));

    let mut app = self::app();
    let target = app.world_mut().resource_mut::<Assets<Image>>().add(Image::default());
    let template = target.clone();
    let scene = bsn! { BlurImage { source: "photo.png", target: {HandleTemplate::Handle(template)} } };
    app.world_mut().spawn_scene(scene).expect("it is spawned");
    assert_eq!(only::<BlurImage>(&mut app).target, Some(target));
}

#[test]
fn regions_find_their_camera_by_name() {
    for constructed in [false, true] {
        let mut app = app();
        let rect = Rect::new(0.0, 0.0, 320.0, 720.0);
        let scenes = bsn_list! [
            (#Main Camera3d),
            BackdropRegion { camera: #Main, rect: {rect}, layer: BackdropLayer::BelowUi }
                BackdropBlur::new(60.0)
                FreezeArea::Region,
        ];
        let constructing = bsn_list! [
            (#Main Camera3d),
            BackdropRegion::new(#Main, rect)
                BackdropRegion { layer: BackdropLayer::BelowUi }
                BackdropBlur { blur: GaussianBlur { radius: 60.0 } }
                FreezeArea::Region,
        ];
        if constructed {
            app.world_mut()
                .spawn_scene_list(constructing)
                .expect("they are spawned");
        } else {
            app.world_mut().spawn_scene_list(scenes).expect("they are spawned");
        }
        let mut cameras = app.world_mut().query_filtered::<Entity, With<Camera3d>>();
        let camera = cameras.single(app.world()).expect("there is one camera");
        let region = BackdropRegion::new(camera, rect).with_layer(BackdropLayer::BelowUi);
        assert_eq!(only::<BackdropRegion>(&mut app), region);
        assert_eq!(only::<BackdropBlur>(&mut app), BackdropBlur::new(60.0));
        assert_eq!(only::<FreezeArea>(&mut app), FreezeArea::Region);
    }
}

#[test]
fn menus_can_be_written_as_scenes() {
    fn menu() -> impl Scene {
        bsn! {
            Node { width: px(400), height: px(300) }
            BackdropBlur { blur: GaussianBlur { radius: 60.0 }, colors: {vec![ColorStep::Brightness(0.7)]} }
            BackdropLens { displacement: -8.0 }
            BackdropGroup
            Children [
                Text("Aurora") UiFilter::shadow(vec2(0.0, 4.0), 12.0, Color::BLACK),
                UiFilter {
                    opacity: 0.5,
                    shadows: {vec![DropShadow::glow(9.0, Color::WHITE)]},
                    outline: GroupOutline { width: 2.0 },
                    fade: {UiRect::vertical(px(24))},
                },
            ]
        }
    }
    let mut app = app();
    let fainter = bsn! { menu() BackdropBlur { opacity: 0.5 } };
    app.world_mut().spawn_scene(fainter).expect("it is spawned");
    let glass = BackdropBlur::new(60.0)
        .with_color(ColorStep::Brightness(0.7))
        .with_opacity(0.5);
    assert_eq!(only::<BackdropBlur>(&mut app), glass);
    let lens = BackdropLens {
        displacement: -8.0,
        ..default()
    };
    assert_eq!(only::<BackdropLens>(&mut app), lens);
    assert_eq!(only::<BackdropGroup>(&mut app), BackdropGroup);
    let mut filters = app.world_mut().query::<&UiFilter>();
    let filters: Vec<_> = filters.iter(app.world()).cloned().collect();
    let shadow = UiFilter::shadow(vec2(0.0, 4.0), 12.0, Color::BLACK);
    let glow = UiFilter::opacity(0.5)
        .with_shadow(DropShadow::glow(9.0, Color::WHITE))
        .with_outline(2.0, Color::BLACK)
        .with_fade(UiRect::vertical(px(24)));
    assert!(
        filters == [shadow.clone(), glow.clone()] || filters == [glow, shadow],
        "{filters:?}"
    );
}
