//! Curves as SVG, with a panel for each growing quantity.

use std::fmt::Write;

/// The measurements at one size.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    pub x: f64,
    pub nanoseconds: f64,
    pub mebibytes: f64,
}

/// A growing quantity, and its measurements.
pub(crate) struct Panel {
    pub title: String,
    pub points: Vec<Point>,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const MARGIN: f64 = 60.0;

/// Two panels in each row. The left axis is time, the right axis memory; both begin at 0.
pub(crate) fn svg(panels: &[Panel]) -> String {
    let height = HEIGHT * panels.len().div_ceil(2) as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        2.0 * WIDTH
    );
    for (number, panel) in panels.iter().enumerate() {
        let (x, y) = (WIDTH * (number % 2) as f64, HEIGHT * (number / 2) as f64);
        writeln!(svg, "<g transform=\"translate({x} {y})\">").expect("a string takes all");
        draw(&mut svg, panel);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, panel: &Panel) {
    let Panel { title, points } = panel;
    let (left, right, top, bottom) = (MARGIN, WIDTH - MARGIN, MARGIN, HEIGHT - MARGIN);
    let text = |svg: &mut String, x: f64, y: f64, rest: &str, text: &str| {
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {rest}>{text}</text>")
            .expect("it takes all");
    };
    let middle = "text-anchor=\"middle\"";
    text(svg, WIDTH / 2.0, 18.0, &format!("{middle} font-size=\"13\""), title);
    writeln!(
        svg,
        "<path d=\"M{left} {top}V{bottom}H{right}V{top}\" fill=\"none\" stroke=\"#999\"/>"
    )
    .expect("it takes all");
    let first = points.first().map_or(1.0, |point| point.x).log10();
    let last = points.last().map_or(1.0, |point| point.x).log10();
    let span = (last - first).max(f64::EPSILON);
    let across = |x: f64| left + (right - left) * (x.log10() - first) / span;
    for point in points {
        text(svg, across(point.x), bottom + 15.0, middle, &point.x.to_string());
    }
    let mut curve = |of: fn(&Point) -> f64, unit: &str, color: &str, axis: f64, anchor: &str| {
        let most = points.iter().map(of).fold(0.0, f64::max) * 1.15;
        let up = |value: f64| bottom - (bottom - top) * value / most.max(f64::EPSILON);
        let places: Vec<_> =
            points.iter().map(|it| format!("{:.1},{:.1}", across(it.x), up(of(it)))).collect();
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            places.join(" ")
        )
        .expect("it takes all");
        for (point, place) in points.iter().zip(&places) {
            let (x, y) = place.split_once(',').unwrap_or_default();
            let value = of(point);
            writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{color}\"><title>{value:.2} {unit}</title></circle>")
                .expect("it takes all");
        }
        let anchor = format!("text-anchor=\"{anchor}\" fill=\"{color}\"");
        text(svg, axis, top - 8.0, &anchor, unit);
        for part in 0..=4 {
            let value = most * f64::from(part) / 4.0;
            text(svg, axis, up(value) + 4.0, &anchor, &format!("{value:.1}"));
        }
    };
    curve(|point| point.nanoseconds, "ns a byte", "#2458b3", left - 5.0, "end");
    curve(|point| point.mebibytes, "MiB", "#b35c24", right + 5.0, "start");
}
