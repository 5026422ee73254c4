//! Where glass is painted, as far as trees do not show it: in scrolled lists, and with the rims of Bevy's backgrounds.

use super::stage::SIZE;
use super::*;
use crate::support::compositor::{Layer, Panel, tolerance};

/// Glass has exactly the shape of Bevy's background, including its rim, antialiased or not: black glass over white is a
/// black node.
#[test]
fn the_shape_is_that_of_a_background() {
    let black = BackdropBlur::new(0.0).with_color(ColorStep::Brightness(0.0));
    let shapes = [
        Pane::new([6.0, 5.0, 60.0, 40.0], black.clone()).with_radii([3.0, 9.0, 15.0, 20.0]),
        Pane::new([80.0, 10.0, 50.0, 30.0], black.clone()).turned(0.4),
        Pane::new([145.0, 8.0, 44.0, 35.0], black.clone())
            .turned(1.9)
            .with_radii([4.0, 17.0, 0.0, 9.0]),
        Pane::new([10.0, 60.0, 50.0, 40.0], black.clone())
            .moved(0.3, 0.45)
            .with_radii([7.0; 4]),
        Pane::new([82.0, 62.0, 40.0, 36.0], black.clone())
            .scaled(1.3, 0.7)
            .with_radii([2.0, 6.0, 10.0, 14.0]),
        Pane::new([145.0, 65.0, 40.0, 36.0], black)
            .scaled(-1.2, 1.1)
            .with_radii([0.0, 18.0, 5.0, 11.0]),
    ];
    on_one(Kind::Core2d, LDR, |stage| {
        let white = Square::new([0.0, 0.0, SIZE.x as f32, SIZE.y as f32], [1.0; 4]);
        stage.show(|ui| {
            ui.spawn(white.bundle());
            ui.panes(&shapes);
            if ui.is_glass {
                return;
            }
            for shape in &shapes {
                ui.spawn((shape.node(), shape.transform(), BackgroundColor(Color::BLACK)));
            }
        });
        for anti_alias in [UiAntiAlias::On, UiAntiAlias::Off] {
            stage.insert(anti_alias);
            stage.headless.warm_up();
            let [background, glass] = stage.pictures();
            let is_shade = |texel: &&[f64; 4]| texel[0] > 0.01 && texel[0] < 0.99;
            let shades = background.texels.iter().filter(is_shade).count();
            assert_eq!(shades > 100, anti_alias == UiAntiAlias::On, "{shades} pixels of a rim");
            let name = stage.name(&format!("shape-{anti_alias:?}"));
            let expected = within_rounding(&glass, &background, LDR);
            let worst = assert_close(&name, &glass, &expected, &RGBA, tolerance(LDR, 1.0));
            println!("{name}: {:.3}/255", worst * 255.0);
        }
    });
}

#[test]
fn hard_edges() {
    on_one(Kind::Core2d, LDR, |stage| {
        stage.insert(UiAntiAlias::Off);
        let panes = [
            Pane::new([20.0, 15.0, 80.0, 36.0], glass(3.0)).turned(0.4),
            Pane::new([110.0, 30.0, 70.0, 60.0], glass(6.0)).with_radii([4.0, 12.0, 20.0, 30.0]),
            Pane::new([30.0, 70.0, 60.0, 30.0], glass(3.0).with_opacity(0.6))
                .moved(0.3, 0.2)
                .with_radii([9.0; 4]),
        ];
        stage.show(|ui| ui.panes(&panes));
        let hard = |pane: &Pane| {
            let panel = pane.panel(1.0);
            Layer::glass(Panel {
                is_soft: false,
                ..panel
            })
        };
        let layers: Vec<Layer> = panes.iter().map(hard).collect();
        stage.check("hard", &layers);
    });
}
