//! Settings of every magnitude, one frame each, in one small app: no panic, no error of the GPU, and the picture of ordinary
//! settings is the same before and after.

use crate::random::settings::{backdrop, gaussian, magnitude, profile};
use crate::support::prelude::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many settings are tried with each kind of pass: a few, or as many as `scripts/soak` takes.
const SETTINGS: [usize; 2] = [40, 400];

/// The settings of a frame.
#[derive(Clone, Debug)]
struct Settings {
    filter: UiFilter,
    glass: [BackdropBlur; 2],
    rect: Rect,
    blurs: [GaussianBlur; 2],
    profile: BlurProfile,
    region: Option<URect>,
    padding: u32,
    keeps: Option<FreezeArea>,
}

fn signed() -> impl Strategy<Value = f32> {
    (magnitude(), any::<bool>()).prop_map(|(number, is_negative)| if is_negative { -number } else { number })
}

fn filter() -> impl Strategy<Value = UiFilter> {
    let shadow = ([signed(), signed()], magnitude())
        .prop_map(|(offset, radius)| DropShadow::new(Vec2::from(offset), radius, Color::BLACK));
    let shadows = prop::collection::vec(shadow, 0..3);
    (gaussian(), shadows, 0.0..1.2_f32, any::<bool>()).prop_map(|(blur, shadows, opacity, is_rounded)| UiFilter {
        blur,
        shadows,
        opacity,
        is_rounded,
        ..default()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let rect = ([signed(), signed()], [signed(), signed()])
        .prop_map(|(one, other)| Rect::from_corners(Vec2::from(one), Vec2::from(other)));
    let part = prop::option::of(([0..80_u32, 0..80_u32], [any::<u32>(), any::<u32>()]));
    let region = part.prop_map(|part| {
        part.map(|(min, max)| URect {
            min: UVec2::from(min),
            max: UVec2::from(max),
        })
    });
    let padding = prop_oneof![Just(0), 0..20_u32, any::<u32>()];
    let keeps = prop::option::of(prop::sample::select(vec![FreezeArea::Region, FreezeArea::Viewport]));
    let glass = (backdrop(), backdrop(), rect);
    let blurs = (gaussian(), gaussian(), profile());
    (filter(), glass, blurs, (region, padding, keeps)).prop_map(
        |(filter, (pane, above, rect), (camera, image, profile), (region, padding, keeps))| Settings {
            filter,
            glass: [pane, above],
            rect,
            blurs: [camera, image],
            profile,
            region,
            padding,
            keeps,
        },
    )
}

impl Settings {
    fn ordinary() -> Self {
        let shadow = DropShadow::new(Vec2::new(3.0, 2.0), 6.0, Color::BLACK);
        Self {
            filter: UiFilter::from_sigma(1.0).with_shadow(shadow),
            glass: [2.0, 2.0].map(BackdropBlur::from_sigma),
            rect: Rect::new(150.0, 1.0, 170.0, 9.0),
            blurs: [GaussianBlur::from_sigma(1.5); 2],
            profile: BlurProfile::Uniform,
            region: None,
            padding: 2,
            keeps: None,
        }
    }

    /// A blurred group with a shadow that no texture could reach: the plan of the group's blur was empty.
    fn far_shadow() -> Self {
        let shadow = DropShadow::new(Vec2::new(40.0, 1e30), 1e30, Color::BLACK);
        Self {
            filter: UiFilter::from_sigma(1.0).with_shadow(shadow),
            ..Self::ordinary()
        }
    }
}

/// The entities that are set.
struct Things {
    camera: Entity,
    group: Entity,
    pane: Entity,
    region: Entity,
    image: Entity,
    source: Handle<Image>,
}

fn put(world: &mut World, things: &Things, settings: &Settings) {
    let [camera, image] = settings.blurs;
    let [pane, above] = settings.glass.clone();
    world
        .entity_mut(things.camera)
        .insert((camera, settings.profile.clone()));
    world.entity_mut(things.group).insert(settings.filter.clone());
    world.entity_mut(things.pane).insert((pane, settings.profile.clone()));
    let region = BackdropRegion::new(things.camera, settings.rect);
    world.entity_mut(things.region).insert((region, above));
    let blur_image = plain(things.source.clone()).with_padding(settings.padding);
    let blur_image = BlurImage {
        region: settings.region,
        ..blur_image
    };
    world
        .entity_mut(things.image)
        .insert((image, blur_image, settings.profile.clone()));
    for entity in [things.camera, things.pane, things.region] {
        match settings.keeps {
            Some(keeps) => world.entity_mut(entity).insert((FreezeBlur, keeps)),
            None => world.entity_mut(entity).remove::<FreezeBlur>(),
        };
    }
}

#[test]
fn no_setting_of_any_magnitude_breaks_a_frame() {
    for backend in BACKENDS {
        let mut headless = gpu_with(backend, |app| {
            outcomes::record(app);
            scene::add_plugins(app, Kind::Core2d);
        });
        scene::spawn(&mut headless, Kind::Core2d, 1.0);
        let canvas = scene::target(&mut headless, UVec2::new(257, 11), LDR);
        let camera = scene::camera(&mut headless, Kind::Core2d, &canvas, Msaa::Off);
        let source = headless.add_image(to_image(&inputs::patterns(61, 47)[0], TextureFormat::Rgba8UnormSrgb));
        let world = headless.app.world_mut();
        let node = |left: f32, width: f32| node(Vec2::new(left, 2.0), Vec2::new(width, 7.0));
        let group = world
            .spawn((node(20.0, 60.0), BackgroundColor(Color::WHITE), UiTargetCamera(camera)))
            .id();
        let pane = world.spawn((node(8.0, 30.0), ChildOf(group))).id();
        let [region, image] = [(); 2].map(|()| world.spawn_empty().id());
        let things = Things {
            camera,
            group,
            pane,
            region,
            image,
            source,
        };
        put(headless.app.world_mut(), &things, &Settings::ordinary());
        headless.warm_up();
        let before = headless.read_image(&canvas);
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let random = (0..SETTINGS[usize::from(is_full())])
            .map(|_| settings().new_tree(&mut runner).expect("nothing is filtered").current());
        for settings in core::iter::once(Settings::far_shadow()).chain(random.collect::<Vec<_>>()) {
            println!("{settings:?}");
            put(headless.app.world_mut(), &things, &settings);
            headless.frame();
        }
        put(headless.app.world_mut(), &things, &Settings::ordinary());
        headless.warm_up();
        let after = headless.read_image(&canvas);
        assert!(
            before.bytes == after.bytes,
            "{backend:?}: ordinary settings show another picture"
        );
    }
}

/// The blur of a group is the same whether its shadow is far away or missing.
#[test]
fn a_shadow_far_away_leaves_the_picture_as_it_is() {
    let mut headless = gpu_with(BlurBackend::Auto, |app| {
        outcomes::record(app);
        scene::add_plugins(app, Kind::Core2d);
    });
    let canvas = scene::target(&mut headless, UVec2::new(257, 11), LDR);
    let camera = scene::camera(&mut headless, Kind::Core2d, &canvas, Msaa::Off);
    let node = node(Vec2::new(40.0, 2.0), Vec2::new(50.0, 7.0));
    let bundle = (node, BackgroundColor(Color::WHITE), UiTargetCamera(camera));
    let group = headless.spawn(bundle);
    let mut picture = |filter: UiFilter| {
        headless.insert(group, filter);
        headless.warm_up();
        headless.read_image(&canvas).bytes
    };
    let sharp = picture(UiFilter::default());
    let alone = picture(UiFilter::from_sigma(2.0));
    assert!(sharp != alone, "the blur is visible");
    for offset in [Vec2::new(40.0, 1e30), Vec2::new(-1e30, 1e30), Vec2::splat(-1e30)] {
        let shadow = DropShadow::new(offset, 1e30, Color::BLACK);
        let both = picture(UiFilter::from_sigma(2.0).with_shadow(shadow));
        assert!(both == alone, "{offset}");
    }
}
