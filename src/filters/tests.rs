//! No finite setting makes a schedule, its plans or its uniforms fail, however large or small it is.

use super::strength::FilterDataItem;
use crate::formats::dither::Dither;
use crate::kernel::Precision;
use crate::paint::uniform::{Colours, PaintedOn};
use crate::plan::batch::{BatchedBlur, together};
use crate::plan::pass::TextureSlot;
use crate::plan::{BlurPlan, Finish, Means, PlanRequest};
use crate::program::{Cores, Filtering, Tiling};
use crate::schedule::{
    Backdrop, Blurs, Canvas, Clip, Clips, Filter, FrozenGlass, GlassOrder, Item, Picture, Scene, Schedule, Shape, Slot,
    What, item_of,
};
use crate::settings::{
    BackdropBlur, BackdropSampling, BlurProfile, BlurSwitch, BlurUnit, ColorStep, DropShadow, EdgeMode, FreezeArea,
    GaussianBlur, GroupOutline, HasBlur, UiFilter,
};
use bevy::math::{Affine2, FloatOrd};
use bevy::prelude::*;
use bevy::ui::{ComputedNode, ComputedUiRenderTargetInfo, ComputedUiTargetCamera, UiGlobalTransform};
use core::ops::Range;
use proptest::prelude::*;
use proptest::sample::select;

/// The largest side of a texture.
const LIMIT: u32 = 4096;

/// A finite number of any magnitude.
fn number() -> impl Strategy<Value = f32> {
    let extreme = select(vec![0.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e30, -1e30]);
    let any = (-30..38_i32, 1.0..10.0_f32, select(vec![-1.0, 1.0]))
        .prop_map(|(power, digit, sign)| (sign * digit * 10_f32.powi(power)).clamp(f32::MIN, f32::MAX));
    prop_oneof![1 => extreme, 2 => -400.0..400.0_f32, 3 => any]
}

fn size() -> impl Strategy<Value = f32> {
    number().prop_map(f32::abs)
}

fn point() -> impl Strategy<Value = Vec2> {
    [number(), number()].prop_map(Vec2::from)
}

fn rect() -> impl Strategy<Value = Rect> {
    (point(), point()).prop_map(|(one, other)| Rect::from_corners(one, other))
}

fn blur() -> impl Strategy<Value = GaussianBlur> {
    let unit = select(vec![
        BlurUnit::LogicalPixels,
        BlurUnit::PhysicalPixels,
        BlurUnit::ViewportHeight,
    ]);
    (size(), [size(), size()], unit, select(EdgeMode::ALL.to_vec())).prop_map(|(radius, aspect, unit, edge)| {
        GaussianBlur::new(radius)
            .with_aspect(Vec2::from(aspect))
            .with_unit(unit)
            .with_edge(edge)
    })
}

fn profile() -> impl Strategy<Value = Option<BlurProfile>> {
    let linear = (point(), point(), number(), number()).prop_map(|(start, end, from, to)| BlurProfile::Linear {
        start,
        end,
        from,
        to,
    });
    let band = (point(), point(), number(), number()).prop_map(|(center, direction, sharp, soft)| BlurProfile::Band {
        center,
        direction,
        sharp,
        soft,
    });
    prop_oneof![Just(None), linear.prop_map(Some), band.prop_map(Some)]
}

/// A filter with the transform of its node, the bounds of its items and its clip.
#[derive(Clone, Debug)]
struct Node {
    filter: UiFilter,
    profile: Option<BlurProfile>,
    transform: Affine2,
    bounds: Option<Rect>,
    clip: Option<Rect>,
    size: Vec2,
}

fn transform() -> impl Strategy<Value = Affine2> {
    (point(), number(), point())
        .prop_map(|(scale, angle, place)| Affine2::from_scale_angle_translation(scale, angle, place))
}

fn node() -> impl Strategy<Value = Node> {
    let shadow = (point(), size()).prop_map(|(offset, radius)| DropShadow::new(offset, radius, Color::BLACK));
    let shadows = prop::collection::vec(shadow, 0..3);
    let fade = [number(), number()].prop_map(|[x, y]| UiRect::axes(Val::Px(x), Val::Percent(y)));
    let fade = prop_oneof![Just(UiRect::ZERO), fade];
    let filter =
        (blur(), shadows, number(), any::<bool>(), fade).prop_map(|(blur, shadows, opacity, is_rounded, fade)| {
            UiFilter {
                blur,
                shadows,
                opacity,
                is_rounded,
                fade,
                outline: GroupOutline {
                    width: opacity,
                    ..default()
                },
                ..default()
            }
        });
    let transform = prop_oneof![Just(Affine2::IDENTITY), transform()];
    let places = (prop::option::of(rect()), prop::option::of(rect()), [size(), size()]);
    (filter, profile(), transform, places).prop_map(|(filter, profile, transform, (bounds, clip, size))| Node {
        filter,
        profile,
        transform,
        bounds,
        clip,
        size: Vec2::from(size),
    })
}

/// Glass with its box, its clip, and whether it is frozen.
#[derive(Clone, Debug)]
struct Panel {
    glass: BackdropBlur,
    profile: Option<BlurProfile>,
    shape: Shape,
    clip: Option<Rect>,
    freeze: Option<FrozenGlass>,
    is_node: bool,
}

fn glass() -> impl Strategy<Value = Panel> {
    let sampling = select(vec![BackdropSampling::Inside, BackdropSampling::Surroundings]);
    let settings = (blur(), sampling, number(), number()).prop_map(|(blur, sampling, opacity, saturation)| {
        BackdropBlur::new(0.0)
            .with_blur(blur)
            .with_sampling(sampling)
            .with_opacity(opacity)
            .with_color(ColorStep::Saturate(saturation))
    });
    let shape = (rect(), transform(), any::<bool>()).prop_map(|(rect, transform, is_turned)| {
        let upright = Shape::of_rect(rect);
        match is_turned {
            true => Shape { transform, ..upright },
            false => upright,
        }
    });
    let freeze = prop::option::of(select(vec![FreezeArea::Region, FreezeArea::Viewport]));
    let flags = (freeze, any::<bool>());
    (settings, profile(), shape, prop::option::of(rect()), flags).prop_map(
        |(glass, profile, shape, clip, (keeps, is_node))| Panel {
            glass,
            profile,
            shape,
            clip,
            freeze: keeps.map(|keeps| FrozenGlass { keeps, taken: None }),
            is_node,
        },
    )
}

fn picture(size: UVec2, first: UVec2) -> Picture {
    Picture {
        camera: Entity::PLACEHOLDER,
        size: size + first,
        viewport: URect::from_corners(first, first + size),
        is_light: false,
        dithers: false,
    }
}

fn filter_of(node: &Node, nodes: Range<u32>) -> Filter {
    let (info, transform) = (
        ComputedUiRenderTargetInfo::default(),
        UiGlobalTransform::from(node.transform),
    );
    let computed = ComputedNode {
        size: node.size,
        ..default()
    };
    let on_node = FilterDataItem {
        filter: &node.filter,
        profile: node.profile.as_ref(),
        has_glass: false,
        node: &computed,
        info: &info,
        transform: &transform,
        target: &ComputedUiTargetCamera::default(),
    };
    let clip = node.clip.map(Clip::from);
    let (start, end) = (nodes.start, nodes.end);
    if node.filter.is_rounded {
        let content = on_node.content(Entity::PLACEHOLDER);
        return content.placed(start, start + 1..end, clip, Clips::Result);
    }
    let group = on_node.group(Entity::PLACEHOLDER, BlurSwitch::On);
    group.placed(start, nodes, clip, Clips::Result)
}

fn backdrop_of(panel: &Panel, picture: &Picture, order: GlassOrder) -> Option<Backdrop> {
    let (shape, profile) = ((panel.shape, 2.0), panel.profile.as_ref());
    let glass = Backdrop {
        order,
        clip: panel.clip.map(Clip::from),
        freeze: panel.freeze,
        ..Backdrop::new(Entity::PLACEHOLDER, (&panel.glass, None), profile, shape, picture)
    };
    glass.if_seen(false)
}

/// What a camera's front ends extract.
struct Extracted {
    picture: Picture,
    items: Vec<Item>,
    backdrops: Vec<Backdrop>,
    filters: Vec<Filter>,
}

impl Extracted {
    /// Groups inside each other or side by side, and glass among them.
    fn new(picture: Picture, nodes: &[Node], glass: &[Panel], are_nested: bool) -> Self {
        let count = nodes.len() as u32;
        let place = |index: u32| match are_nested {
            true => index..2 * count - index,
            false => 2 * index..2 * index + 2,
        };
        let filters: Vec<Filter> = (0..count)
            .zip(nodes)
            .map(|(index, node)| filter_of(node, place(index)))
            .collect();
        let order = |(index, glass): (usize, &Panel)| match (glass.is_node, index) {
            (true, index) => GlassOrder::Node(index as u32 % (2 * count)),
            (false, 0) => GlassOrder::BelowUi(0),
            (false, index) => GlassOrder::AboveUi(index as i32),
        };
        let glass = glass.iter().enumerate();
        let backdrops: Vec<Backdrop> = glass
            .filter_map(|glass| backdrop_of(glass.1, &picture, order(glass)))
            .collect();
        let mut items: Vec<Item> = filters
            .iter()
            .zip(nodes)
            .map(|(filter, node)| Item {
                key: FloatOrd((filter.nodes.end - 1) as f32),
                bounds: node.bounds,
                what: What::Other,
            })
            .collect();
        items.extend(filters.iter().enumerate().map(|(index, filter)| Item {
            key: filter.key(),
            bounds: None,
            what: What::Result(index),
        }));
        items.extend(backdrops.iter().enumerate().filter_map(|(index, backdrop)| {
            Some(Item {
                key: Slot::Glass.key(backdrop.node()?),
                bounds: None,
                what: What::Glass(index),
            })
        }));
        items.sort_by_key(|item| item.key);
        Self {
            picture,
            items,
            backdrops,
            filters,
        }
    }

    fn schedule(&self, is_flat: bool) -> Schedule {
        Schedule::new(&Scene {
            picture: self.picture,
            limit: LIMIT,
            is_flat,
            items: &self.items,
            backdrops: &self.backdrops,
            filters: &self.filters,
        })
    }

    /// Plans the blurs of a schedule, and makes the uniforms of what it paints.
    fn carry_out(&self, schedule: &Schedule) {
        let on = PaintedOn {
            canvas: Canvas::of_camera(self.picture.viewport),
            picture: self.picture,
            colours: Colours {
                space: None,
                are_bounded: true,
                are_mixed: true,
                dither: Dither::Off,
            },
        };
        for batch in &schedule.batches {
            let mut items = Vec::new();
            match &batch.blurs {
                Blurs::Glass(glass) => {
                    for index in glass {
                        let placed = schedule.placed[*index].expect("only placed glass is blurred");
                        let backdrop = &self.backdrops[*index];
                        let _ = on.glass(backdrop, &placed);
                        let item = item_of(backdrop, &placed);
                        match backdrop.field.is_some() {
                            _ if item.region.is_empty() => {}
                            true => vary(item.sigma, item.bounds, item.edge),
                            false => items.push(item),
                        }
                    }
                }
                Blurs::Layers(layers) => {
                    for (surface, index) in layers {
                        let surface = schedule.tree.surface(*surface);
                        let layer = &schedule.tree.layers[*index];
                        let _ = on.layer(&self.filters[surface.filter], surface, layer, None);
                        match layer.is_batched() {
                            true => items.push(surface.item_of(layer)),
                            false => {
                                let size = surface.rect.size().as_uvec2();
                                let region = URect::from_corners(surface.place, surface.place + size);
                                vary(layer.sigma, region, EdgeMode::Transparent);
                            }
                        }
                    }
                }
            }
            let _ = plan(&items);
        }
    }
}

fn request(sigma: Vec2, region: URect, edge: EdgeMode, tiling: Tiling) -> PlanRequest {
    PlanRequest {
        sigma,
        region,
        edge,
        means: Means {
            precision: Precision::Standard,
            tiling,
            filtering: Filtering {
                source: true,
                intermediates: true,
                spline: true,
            },
            opaque: false,
            in_place: false,
            converts: false,
        },
        finish: Finish::Defer,
    }
}

const TILINGS: [Tiling; 2] = [
    Tiling::None,
    Tiling::Tiled {
        stores: false,
        cores: Cores::Software,
    },
];

/// Plans a blur that varies.
fn vary(sigma: Vec2, region: URect, edge: EdgeMode) {
    for tiling in TILINGS {
        let plan = BlurPlan::varying(&request(sigma, region, edge, tiling));
        assert!(plan.passes.iter().all(|pass| pass.size.min_element() > 0));
    }
}

/// Plans the blurs of a batch.
fn plan(items: &[BatchedBlur]) -> [BlurPlan; 2] {
    TILINGS.map(|tiling| {
        let plans: Vec<BlurPlan> = items
            .iter()
            .map(|item| BlurPlan::shifted(&request(item.sigma, item.bounds, item.edge, tiling), item.shift))
            .collect();
        for item in items {
            assert!(!item.region.is_empty(), "{item:?}");
            assert!(item.patch.is_none_or(|patch| !patch.is_empty()), "{item:?}");
        }
        let whole = together(items, &plans, LIMIT);
        assert_eq!(whole.deferred.len(), items.len());
        assert!(whole.passes.iter().all(|pass| pass.size.min_element() > 0));
        whole
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_setting_is_too_large(
        nodes in prop::collection::vec(node(), 1..4),
        glass in prop::collection::vec(glass(), 0..3),
        (width, height) in prop_oneof![Just((257, 11)), (1..700_u32, 1..500_u32)],
        first in [0..300_u32, 0..300_u32],
        (are_nested, is_flat) in (any::<bool>(), prop::bool::weighted(0.1)),
    ) {
        let picture = picture(UVec2::new(width, height), UVec2::from(first));
        let extracted = Extracted::new(picture, &nodes, &glass, are_nested);
        extracted.carry_out(&extracted.schedule(is_flat));
    }
}

/// Whether a filter makes a group, on a node of 50 by 7 pixels.
fn changes(filter: &UiFilter) -> bool {
    let node = ComputedNode {
        size: Vec2::new(50.0, 7.0),
        ..default()
    };
    let on_node = FilterDataItem {
        filter,
        profile: None,
        has_glass: false,
        node: &node,
        info: &ComputedUiRenderTargetInfo::default(),
        transform: &UiGlobalTransform::default(),
        target: &ComputedUiTargetCamera::default(),
    };
    on_node.group(Entity::PLACEHOLDER, BlurSwitch::On).changes()
}

/// What changes nothing is no group, and so no pass.
#[test]
fn neutral_lines_and_fades_make_no_group() {
    let lengths = [
        Val::Px(0.0),
        Val::Px(-1.0),
        Val::Px(f32::NAN),
        Val::Percent(f32::INFINITY),
        Val::Auto,
    ];
    for length in lengths {
        assert!(!changes(&UiFilter::fade(UiRect::all(length))), "{length:?}");
    }
    assert!(changes(&UiFilter::fade(UiRect::left(Val::Px(0.01)))));
    for (width, color) in [
        (0.0, Color::BLACK),
        (f32::NAN, Color::BLACK),
        (-1.0, Color::BLACK),
        (2.0, Color::NONE),
    ] {
        assert!(!changes(&UiFilter::outline(width, color)), "{width} {color:?}");
    }
    assert!(changes(&UiFilter::outline(0.01, Color::BLACK)));
}

/// The blurs of a group of 50 by 7 pixels with this filter.
fn items_of(filter: UiFilter) -> Vec<BatchedBlur> {
    let node = Node {
        filter,
        profile: None,
        transform: Affine2::IDENTITY,
        bounds: Some(Rect::new(40.0, 2.0, 90.0, 9.0)),
        clip: None,
        size: Vec2::new(50.0, 7.0),
    };
    let extracted = Extracted::new(picture(UVec2::new(257, 11), UVec2::ZERO), &[node], &[], false);
    let schedule = extracted.schedule(false);
    extracted.carry_out(&schedule);
    let surface = &schedule.tree.surfaces[1];
    let layers = schedule.tree.layers[surface.layers.clone()].iter();
    let batched = layers.filter(|layer| !layer.shown.is_empty());
    batched.map(|layer| surface.item_of(layer)).collect()
}

/// The blur of a group is the same with a shadow that no texture could reach.
#[test]
fn a_shadow_far_away_changes_no_other_blur() {
    let far = |offset: Vec2, radius: f32| DropShadow::new(offset, radius, Color::BLACK);
    let alone = items_of(UiFilter::from_sigma(2.0));
    for offset in [Vec2::new(40.0, 1e30), Vec2::new(-1e30, 1e30), Vec2::splat(-1e30)] {
        let both = items_of(UiFilter::from_sigma(2.0).with_shadow(far(offset, 1e30)));
        assert_eq!(both.last(), alone.first());
        let sizes = plan(&both).map(|plan| plan.largest_intermediate().max_element());
        assert!(
            sizes.iter().all(|size| *size < 200),
            "nothing that is zero is stored: {sizes:?}"
        );
    }
    assert_eq!(
        items_of(UiFilter::from_sigma(2.0).with_shadow(far(Vec2::new(0.0, 1e30), 1.0))),
        alone
    );
}

/// A group is read once for its blur, its shadows and its glow.
#[test]
fn the_layers_of_a_group_share_their_levels() {
    let shadow = |x: f32, sigma: f32| DropShadow::from_sigma(Vec2::new(x, 3.0), sigma, Color::BLACK);
    let glow = DropShadow {
        is_glow: true,
        ..shadow(0.0, 9.0)
    };
    let blurred = UiFilter::from_sigma(8.0);
    let alone = plan(&items_of(blurred.clone()));
    let all = plan(&items_of(
        blurred
            .with_shadow(shadow(3.5, 4.0))
            .with_shadow(shadow(9.0, 6.0))
            .with_shadow(glow),
    ));
    for (all, alone) in all.iter().zip(&alone) {
        assert_eq!((all.deferred.len(), alone.deferred.len()), (4, 1));
        let reads = |plan: &BlurPlan| {
            plan.passes
                .iter()
                .filter(|pass| pass.source == TextureSlot::Source)
                .count()
        };
        assert_eq!((reads(all), reads(alone)), (1, 1), "{:?}", all.passes);
    }
}
