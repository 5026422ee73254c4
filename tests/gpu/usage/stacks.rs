//! Glass on a camera that does not see the camera below it: the log reports it once, with the reason. Correct setups
//! are not reported.

use super::*;
use crate::backdrop::pane::Pane;
use crate::support::compositor::assert_composed;
use bevy::camera::{CameraMainTextureUsages, CompositingSpace};

const SIZE: UVec2 = UVec2::new(120, 80);

/// Two cameras on one target, the upper one with glass on it.
struct Stack {
    headless: Headless,
    name: &'static str,
    /// The world's camera and the user interface's.
    cameras: [Entity; 2],
    target: Handle<Image>,
}

/// Changes the cameras of a stack.
type SetUp = fn(&mut Stack);

impl Stack {
    fn new(name: &'static str) -> Self {
        Self::on(name, LDR)
    }

    fn on(name: &'static str, format: TextureFormat) -> Self {
        let mut headless = warm(BlurBackend::Compute);
        scene::spawn(&mut headless, Kind::Core2d, 1.0);
        let target = scene::target(&mut headless, SIZE, format);
        // Cameras of the same kind would share Bevy's depth texture, which does not allow other sample counts.
        let kinds = [Kind::Core2d, Kind::Core3d];
        let cameras = kinds.map(|kind| scene::camera(&mut headless, kind, &target, Msaa::Off));
        let mut stack = Self {
            headless,
            name,
            cameras,
            target,
        };
        stack.insert(0, Name::new(format!("{name}-world")));
        // The world is on another layer.
        let interface = (Name::new(format!("{name}-interface")), RenderLayers::layer(1));
        stack.insert(1, interface);
        stack.clear_with(ClearColorConfig::None);
        let world = stack.headless.app.world_mut();
        let node = scene::whole();
        world.spawn((node, BackdropBlur::from_sigma(3.0), UiTargetCamera(cameras[1])));
        stack
    }

    fn insert(&mut self, camera: usize, components: impl Bundle) {
        let entity = self.cameras[camera];
        self.headless.insert(entity, components);
    }

    /// The clear colour of the upper camera.
    fn clear_with(&mut self, clear_color: ClearColorConfig) {
        self.insert(
            1,
            Camera {
                order: 1,
                clear_color,
                ..default()
            },
        );
    }

    /// The messages about these cameras after some frames.
    fn messages(&mut self) -> Vec<String> {
        self.headless.frames(6);
        logs::all(&format!("the glass on the camera {}-interface", self.name))
    }
}

type Mistake = (&'static str, fn(&mut Stack), &'static str);

#[test]
fn glass_that_does_not_see_the_camera_below() {
    let mistakes: [Mistake; 6] = [
        (
            "stacks-hdr",
            |stack| stack.insert(0, Hdr),
            "their textures differ in format, [Rgba8UnormSrgb, Rgba16Float]: give both the same `Hdr`",
        ),
        (
            "stacks-msaa",
            |stack| stack.insert(0, Msaa::Sample4),
            "their textures differ in samples, [1, 4]: give both the same `Msaa`",
        ),
        (
            "stacks-space",
            |stack| stack.insert(1, CompositingSpace::Srgb),
            "their textures differ in format, [Rgba8Unorm, Rgba8UnormSrgb]: give both the same `Hdr` and `CompositingSpace`",
        ),
        (
            "stacks-usages",
            |stack| stack.insert(0, CameraMainTextureUsages::default().with(TextureUsages::COPY_DST)),
            "give both the same `CameraMainTextureUsages`",
        ),
        (
            "stacks-transparent",
            |stack| stack.clear_with(ClearColorConfig::Custom(Color::NONE)),
            "stacks-transparent-interface clears the texture: give it `ClearColorConfig::None`",
        ),
        (
            "stacks-both",
            |stack| {
                stack.insert(0, Hdr);
                stack.clear_with(ClearColorConfig::Custom(Color::NONE));
            },
            "the same `Hdr` and `CompositingSpace`, and stacks-both-interface clears the texture",
        ),
    ];
    for (name, mistake, cause) in mistakes {
        let mut stack = Stack::new(name);
        mistake(&mut stack);
        let messages = stack.messages();
        assert_eq!(messages.len(), 1, "{name}: {messages:#?}");
        for part in [cause, &format!("the camera {name}-world")] {
            assert!(messages[0].contains(part), "{name}: {part} is not in: {}", messages[0]);
        }
        println!("{}", messages[0]);
    }
}

#[test]
fn what_is_no_mistake_is_not_mentioned() {
    let set_ups: [(&str, SetUp); 7] = [
        ("stacks-shared", |_| {}),
        ("stacks-both-hdr", |stack| {
            stack.insert(0, (Hdr, Msaa::Sample4));
            stack.insert(1, (Hdr, Msaa::Sample4));
        }),
        ("stacks-covers", |stack| {
            stack.insert(0, Hdr);
            stack.clear_with(ClearColorConfig::Custom(Color::BLACK));
        }),
        ("stacks-inactive", |stack| {
            stack.insert(0, Hdr);
            set_active(&mut stack.headless, stack.cameras[0], false);
        }),
        ("stacks-elsewhere", |stack| {
            let target = scene::target(&mut stack.headless, SIZE, LDR);
            stack.insert(0, (Hdr, RenderTarget::Image(target.into())));
        }),
        ("stacks-beside", |stack| {
            let half = |x: u32| viewport(UVec2::new(x, 0), SIZE / UVec2::new(2, 1));
            stack.insert(0, Hdr);
            for (camera, x) in [(0, 0), (1, SIZE.x / 2)] {
                let entity = stack.cameras[camera];
                stack.headless.get_mut::<Camera>(entity).viewport = Some(half(x));
            }
        }),
        ("stacks-hidden", |stack| {
            stack.insert(0, Hdr);
            let world = stack.headless.app.world_mut();
            let mut glass = world.query_filtered::<&mut Visibility, With<BackdropBlur>>();
            *glass.single_mut(world).expect("one pane") = Visibility::Hidden;
        }),
    ];
    for (name, set_up) in set_ups {
        let mut stack = Stack::new(name);
        set_up(&mut stack);
        let messages = stack.messages();
        assert!(messages.is_empty(), "{name}: {messages:#?}");
    }
}

/// It is reported again when it occurs again, and not before.
#[test]
fn a_mended_mistake_may_be_made_again() {
    let mut stack = Stack::new("stacks-again");
    for count in 1..3 {
        stack.insert(0, Hdr);
        assert_eq!(stack.messages().len(), count);
        assert_eq!(stack.messages().len(), count, "once");
        let world = stack.cameras[0];
        stack.headless.remove::<Hdr>(world);
        assert_eq!(stack.messages().len(), count, "it is mended");
    }
}

/// The two lines of the documentation: the same `Hdr` and `Msaa` as below, and no clear.
#[test]
fn glass_of_an_agreeing_camera_blurs_the_world() {
    let mut stack = Stack::on("stacks-agreeing", HDR);
    stack.insert(0, (Hdr, Msaa::Sample4));
    stack.insert(1, (Hdr, Msaa::Sample4));
    stack.headless.warm_up();
    let got = stack.headless.picture(&stack.target);
    set_active(&mut stack.headless, stack.cameras[1], false);
    stack.headless.warm_up();
    let world = stack.headless.picture(&stack.target);
    let pane = Pane::new([0.0, 0.0, SIZE.x as f32, SIZE.y as f32], BackdropBlur::from_sigma(3.0));
    assert_composed("stacks-agreeing", &got, &world, &[pane.layer()], HDR);
}
