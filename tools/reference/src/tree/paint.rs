//! Paints lists of items.
//!
//! A group is painted on a surface of its own, which is transparent at first. Glass sees the camera's picture with the surfaces of
//! all groups around it over it, as they are painted so far and not filtered yet. A group whose picture ends at its box, because it
//! is rounded or has an edge, also ends all groups in it there, as far as their filters do not reach farther.

use super::resolve::{Group, Item, Painted, Pane, Stamped};
use super::surface::{Pixels, Surface, reach};
use super::{Filter, Outline, Shadow};
use crate::panel::Ramp;
use crate::shape::Clip;
use crate::storage::Storage;
use crate::{EdgeMode, Picture};
use std::collections::HashMap;

/// The surfaces that are painted now: the camera's, and those of the groups around the current items.
struct Painter {
    surfaces: Vec<Surface>,
    storage: Storage,
    viewport: Pixels,
    /// Where the groups around the current items may show anything.
    limits: Pixels,
    /// The pictures that several panes see, by the node with which they share it and the number of the surface.
    shared: HashMap<(usize, usize), Picture>,
    /// The number of every surface, counted from the first one that was painted.
    numbers: Vec<usize>,
    count: usize,
}

/// The picture with the items over it.
pub fn paint(below: &Picture, items: &[Item], storage: Storage) -> Picture {
    let mut painter = Painter {
        surfaces: vec![Surface::of(below)],
        storage,
        viewport: Pixels::of_size([below.width, below.height]),
        limits: Pixels::inside(Clip::EVERYTHING),
        shared: HashMap::new(),
        numbers: vec![0],
        count: 1,
    };
    painter.items(items);
    painter.surfaces.swap_remove(0).into_picture()
}

impl Painter {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Box(painted) => self.paint(painted),
                Item::Stamp(stamped) => self.stamp(stamped),
                Item::Hole(shape, opacity) => {
                    let (pixels, storage) = (Pixels::inside(shape.bounds()).and(self.top().rect), self.storage);
                    for pixel in pixels.iter() {
                        let share = opacity * shape.coverage(pixel.map(|place| place as f64), true);
                        let change = |below: [f64; 4]| below.map(|value| value * (1.0 - share));
                        self.top().change(pixel, storage, change);
                    }
                }
                Item::Glass(pane) => self.glass(pane),
                Item::Group(group) => self.group(group),
            }
        }
    }

    fn paint(&mut self, painted: &Painted) {
        let Painted { shape, clip, color, .. } = painted;
        let [red, green, blue, alpha] = *color;
        let (pixels, storage) = (
            Pixels::inside(shape.bounds().and(*clip)).and(self.top().rect),
            self.storage,
        );
        for pixel in pixels.iter() {
            let place = pixel.map(|place| place as f64);
            let alpha = alpha * shape.part(place, painted.border, painted.is_border);
            if alpha > 0.0 {
                let above = [red * alpha, green * alpha, blue * alpha, alpha];
                self.top().over(pixel, above, storage);
            }
        }
    }

    fn stamp(&mut self, stamped: &Stamped) {
        let (pixels, storage) = (stamped.pixels().and(self.top().rect), self.storage);
        for pixel in pixels.iter() {
            let [x, y] = [0, 1].map(|axis| (pixel[axis] - stamped.origin[axis]) as usize);
            let above = stamped.stamp.picture.at(x, y);
            if above != [0.0; 4] {
                self.top().over(pixel, above, storage);
            }
        }
    }

    fn top(&mut self) -> &mut Surface {
        self.surfaces.last_mut().expect("the camera's surface stays")
    }

    /// What glass sees now.
    fn behind(&self) -> Picture {
        let (camera, groups) = self.surfaces.split_first().expect("the camera's surface stays");
        let mut behind = camera.clone();
        for group in groups {
            for pixel in group.rect.and(self.viewport).iter() {
                behind.over(pixel, group.at(pixel), self.storage);
            }
        }
        behind.into_picture()
    }

    fn glass(&mut self, pane: &Pane) {
        let panel = &pane.panel;
        let number = *self.numbers.last().expect("the camera's surface stays");
        let behind = match pane.shares.map(|node| (node, number)) {
            None => self.behind(),
            Some(key) => {
                if !self.shared.contains_key(&key) {
                    let behind = self.behind();
                    self.shared.insert(key, behind);
                }
                self.shared[&key].clone()
            }
        };
        if let Some(shadow) = &pane.shadow {
            self.stamp(shadow);
        }
        let [columns, rows] = panel.region(self.viewport.size());
        if columns.is_empty() || rows.is_empty() || panel.opacity <= 0.0 {
            return;
        }
        let (glass, share_of) = match pane.plain {
            None => (panel.glass(&behind, self.storage.is_bounded()), panel.opacity),
            Some([red, green, blue, alpha]) => {
                let plain = Picture::from_fn(columns.len(), rows.len(), |_, _| [red, green, blue, 1.0]);
                (plain, panel.opacity * alpha)
            }
        };
        let storage = self.storage;
        for y in rows.clone() {
            for x in columns.clone() {
                let share = panel.coverage(x, y) * share_of;
                if share > 0.0 {
                    let seen = glass.at(x - columns.start, y - rows.start);
                    self.top().mix([x as i64, y as i64], seen, share, storage);
                }
            }
        }
    }

    fn group(&mut self, group: &Group) {
        if group.filter.opacity <= 0.0 {
            return;
        }
        let seen = Pixels::inside(group.clip).and(self.top().rect);
        // Glass inside sees all of the group that is in the viewport.
        let border = border_of(group);
        let mut rect = bounds(&group.items, self.viewport).and(needed(&group.filter, seen).with(self.viewport));
        let mut limits = needed(&group.filter, self.limits);
        if group.filter.is_rounded {
            limits = limits.and(Pixels::touching(group.padding.bounds()));
        }
        rect = rect.and(limits);
        if let Some(border) = border {
            // Also where nothing is painted, the picture ends at its border.
            let reads_far = group.filter.edge == EdgeMode::Wrap && reach(group.filter.sigma) != [0; 2];
            limits = if reads_far {
                border
            } else {
                limits.grown([1; 2]).and(border)
            };
            rect = limits;
        }
        if rect.is_empty() {
            return;
        }
        let around = std::mem::replace(&mut self.limits, limits);
        self.surfaces.push(Surface::transparent(rect));
        self.numbers.push(self.count);
        self.count += 1;
        self.items(&group.items);
        self.numbers.pop();
        self.limits = around;
        let mut picture = self.surfaces.pop().expect("it was pushed");
        if group.filter.is_rounded {
            picture = picture.map(|pixel, texel| {
                let coverage = group.padding.outlined(pixel.map(|place| place as f64));
                texel.map(|value| value * coverage)
            });
        }
        if group.filter.fade != [0.0; 4] {
            let is_stored = is_stored_faded(&group.filter);
            picture = picture.map(|pixel, texel| {
                let share = group.padding.faded(pixel.map(|place| place as f64), group.filter.fade);
                let faded = texel.map(|value| value * share);
                if is_stored { self.storage.stored(faded) } else { faded }
            });
        }
        let layers = self.layers(&picture, group, seen);
        self.show(layers, group.filter.opacity, seen);
    }

    /// What a filter paints for the picture of its group, from the bottom to the top.
    fn layers(&self, picture: &Surface, group: &Group, seen: Pixels) -> Vec<Surface> {
        let (filter, border) = (&group.filter, border_of(group));
        let soft = soft(picture, group, seen);
        let is_bounded = self.storage.is_bounded();
        let mut top = soft.map(|_, texel| filter.functions.colored(texel, is_bounded));
        if border.is_some() {
            top = top.in_box(group.shape.bounds());
        }
        let is_result = border.is_some() || filter.ramp.is_some();
        if is_result && !filter.shadows.is_empty() {
            top = top.map(|_, texel| self.storage.stored(texel));
        }
        // A blur of a blur is one blur. But the result of a blur that ends at a border or varies is stored before its shadows are blurred.
        let (caster, sigma) = match is_result {
            true => (&top.clone(), [0.0; 2]),
            false => (picture, filter.sigma),
        };
        let cast = |caster: &Surface, sigma: [f64; 2], shadow: &Shadow, seen: Pixels| {
            let sigma = [0, 1].map(|axis| sigma[axis].hypot(shadow.sigma[axis]));
            let (whole, part) = placed(shadow);
            let blurred = caster.blurred(sigma, part, seen.moved(whole.map(|length| -length)));
            (blurred, whole)
        };
        let (inset, outer): (Vec<&Shadow>, Vec<&Shadow>) =
            filter.shadows.iter().rev().partition(|shadow| shadow.is_inset);
        if !inset.is_empty() {
            top = top.map(|_, texel| self.storage.stored(texel));
        }
        for shadow in inset {
            let (blurred, whole) = cast(caster, sigma, shadow, top.rect);
            top = top.map(|[x, y], texel| {
                let above = shade(
                    shadow,
                    1.0 - blurred.at([x - whole[0], y - whole[1]])[3].clamp(0.0, 1.0),
                );
                self.storage.stored(atop(above, texel))
            });
        }
        let (mut shown, mut all) = (vec![top], None);
        if let Some(outline) = &filter.outline {
            let top = shown[0].map(|_, texel| self.storage.stored(texel));
            shown = vec![line(&top, outline), top];
            all = Some(self.flattened(&shown));
        }
        let (caster, sigma) = all.as_ref().map_or((caster, sigma), |all| (all, [0.0; 2]));
        let outer = outer.into_iter().map(|shadow| {
            let (blurred, whole) = cast(caster, sigma, shadow, seen);
            let moved = Surface::transparent(blurred.rect.moved(whole));
            moved.map(|[x, y], _| shade(shadow, blurred.at([x - whole[0], y - whole[1]])[3]))
        });
        let mut layers: Vec<Surface> = outer.collect();
        match all {
            Some(all) if !layers.is_empty() => layers.push(all),
            _ => layers.extend(shown),
        }
        layers
    }

    /// Layers as one picture.
    fn flattened(&self, layers: &[Surface]) -> Surface {
        let rect = layers.iter().fold(Pixels::NONE, |rect, layer| rect.with(layer.rect));
        let mut all = Surface::transparent(rect);
        for layer in layers {
            let pixels = layer.rect.iter();
            pixels.for_each(|pixel| all.over(pixel, layer.at(pixel), self.storage));
        }
        all
    }

    /// Paints layers, which fade as one picture.
    fn show(&mut self, layers: Vec<Surface>, opacity: f64, seen: Pixels) {
        let storage = self.storage;
        let layers = if opacity < 1.0 && layers.len() > 1 {
            vec![self.flattened(&layers)]
        } else {
            layers
        };
        for layer in &layers {
            for pixel in layer.rect.and(seen).iter() {
                let above = layer.at(pixel).map(|value| value * opacity);
                if above != [0.0; 4] {
                    self.top().over(pixel, above, storage);
                }
            }
        }
    }
}

/// Whether something else is done to a faded group than colouring it.
fn is_stored_faded(filter: &Filter) -> bool {
    let is_blurred = filter.edge != EdgeMode::Transparent || reach(filter.sigma) != [0; 2];
    is_blurred || filter.outline.is_some() || !filter.shadows.is_empty()
}

/// The colour of a shadow where its share of the group is this much.
fn shade(shadow: &Shadow, share: f64) -> [f64; 4] {
    let [red, green, blue, alpha] = shadow.color;
    let covers = if shadow.is_glow { 0.0 } else { alpha };
    [red * alpha, green * alpha, blue * alpha, covers].map(|value| value * share)
}

/// The line around a picture: what its widened alpha covers more than the picture over it.
fn line(picture: &Surface, outline: &Outline) -> Surface {
    let [red, green, blue, alpha] = outline.color;
    let widened = picture.widened(outline.width);
    let around = Surface::transparent(picture.rect.grown([outline.width.ceil() as i64; 2]));
    around.map(|pixel, _| {
        let covered = picture.at(pixel)[3].clamp(0.0, 1.0);
        let share = if covered < 1.0 {
            (widened(pixel) - covered) / (1.0 - covered)
        } else {
            0.0
        };
        [red * alpha, green * alpha, blue * alpha, alpha].map(|value| value * share)
    })
}

/// A colour inside of what has been painted, whose alpha stays.
fn atop(above: [f64; 4], below: [f64; 4]) -> [f64; 4] {
    core::array::from_fn(|channel| above[channel] * below[3] + below[channel] * (1.0 - above[3]))
}

/// The whole pixels and the part of a pixel by which a shadow is moved.
fn placed(shadow: &Shadow) -> ([i64; 2], [f64; 2]) {
    let offset = [0, 1].map(|axis| {
        if shadow.sigma[axis] >= 0.999 {
            (64.0 * shadow.offset[axis]).round() / 64.0
        } else {
            shadow.offset[axis].round()
        }
    });
    (
        offset.map(|length| length.floor() as i64),
        offset.map(|length| length - length.floor()),
    )
}

/// The picture of a group, blurred.
fn soft(picture: &Surface, group: &Group, seen: Pixels) -> Surface {
    let (filter, border) = (&group.filter, border_of(group));
    match (border, filter.ramp) {
        (None, Some(ramp)) => {
            let sigma = |pixel| sigma_at(group, ramp, pixel);
            let needed = needed_by_shadows(filter, seen);
            picture.varied(
                needed.and(picture.rect.grown(reach(filter.sigma))),
                EdgeMode::Transparent,
                sigma,
            )
        }
        (Some(border), Some(ramp)) => picture.varied(border, filter.edge, |pixel| sigma_at(group, ramp, pixel)),
        (Some(border), None) => picture.blurred_inside(border, filter.sigma, filter.edge),
        (None, None) => picture.blurred(filter.sigma, [0.0; 2], needed_by_shadows(filter, seen)),
    }
}

/// The standard deviations of a blur that varies over the box of a group.
fn sigma_at(group: &Group, ramp: Ramp, pixel: [i64; 2]) -> [f64; 2] {
    let [across, down] = group.shape.local(pixel.map(|place| place as f64));
    let [width, height] = group.shape.size;
    let share = ramp.share([width, height], [across + 0.5 * width, down + 0.5 * height]);
    group.filter.sigma.map(|sigma| sigma * share)
}

/// The pixels that lie in the bounds of a group's box as a whole, if its blur does not spread beyond them. Others are covered in part by
/// what the group paints, so what it paints is not known there.
fn border_of(group: &Group) -> Option<Pixels> {
    (group.filter.edge != EdgeMode::Transparent).then(|| Pixels::whole(group.shape.bounds()))
}

/// The pixels of the blurred picture that affect what is seen of the result. Glass sees as far on the other side of a shadow.
fn needed_by_shadows(filter: &Filter, seen: Pixels) -> Pixels {
    let line = filter.outline.map_or(0, |outline| outline.width.ceil() as i64);
    let all = filter.shadows.iter().fold(seen, |needed, shadow| {
        let (whole, part) = placed(shadow);
        let reach = [0, 1].map(|axis| reach(shadow.sigma)[axis] + part[axis].ceil() as i64);
        [whole, whole.map(|length| -length)]
            .into_iter()
            .fold(needed, |needed, by| needed.with(seen.moved(by).grown(reach)))
    });
    all.grown([line; 2])
}

/// The pixels of the group that affect what is seen of the result.
fn needed(filter: &Filter, seen: Pixels) -> Pixels {
    needed_by_shadows(filter, seen).grown(reach(filter.sigma))
}

/// The pixels in which items paint.
fn bounds(items: &[Item], viewport: Pixels) -> Pixels {
    items.iter().fold(Pixels::NONE, |all, item| {
        let painted = match item {
            Item::Box(painted) => Pixels::inside(painted.shape.bounds().and(painted.clip)),
            Item::Stamp(stamped) => stamped.pixels(),
            Item::Hole(..) => Pixels::NONE,
            Item::Glass(pane) => {
                let shadow = pane.shadow.as_ref().map_or(Pixels::NONE, Stamped::pixels);
                let glass = Pixels::inside(pane.panel.shape.bounds().and(pane.panel.clip));
                glass.and(viewport).with(shadow)
            }
            Item::Group(group) => {
                let line = group.filter.outline.map_or(0, |outline| outline.width.ceil() as i64);
                let inside = bounds(&group.items, viewport)
                    .grown(reach(group.filter.sigma))
                    .grown([line; 2]);
                let shadows = group.filter.shadows.iter().fold(inside, |all, shadow| {
                    let offset = shadow.offset.map(|length| length.floor() as i64);
                    all.with(inside.moved(offset).grown(reach(shadow.sigma).map(|length| length + 1)))
                });
                let shadows = match border_of(group) {
                    Some(_) => shadows.with(Pixels::touching(group.shape.bounds()).grown([line; 2])),
                    None => shadows,
                };
                shadows.and(Pixels::inside(group.clip))
            }
        };
        all.with(painted)
    })
}
