//! Curves as SVG: a panel for each verb, with a curve for each kind of unit.

use std::{fmt::Write as _, fs, thread};

/// The costs of a unit at each count, in any measure.
pub(crate) struct Curve {
    /// The index of the kind of unit.
    pub(crate) unit: usize,
    pub(crate) costs: Vec<f64>,
}

/// A verb.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) curves: Vec<Curve>,
    /// The most memory of any run.
    pub(crate) mebibytes: f64,
}

impl Curve {
    /// The index of the lowest cost, and the cost.
    fn best(&self) -> (usize, f64) {
        let costs = self.costs.iter().copied().enumerate();
        costs.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
    }

    /// The highest cost from the lowest on, divided by the lowest.
    pub(crate) fn growth(&self) -> f64 {
        let (at, best) = self.best();
        self.costs.iter().skip(at).fold(0.0, |most: f64, cost| most.max(*cost)) / best
    }
}

const COLUMNS: usize = 5;
const WIDTH: f64 = 230.0;
const HEIGHT: f64 = 120.0;
/// The space round a panel's curves.
const MARGIN: f64 = 22.0;
const HEAD: f64 = 64.0;
/// The top of each panel, in multiples of the best.
const TOP: f64 = 3.0;
/// Colours that most people can distinguish (Okabe and Ito).
const COLOURS: [&str; 7] =
    ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000"];

/// All panels below a legend and a description of this machine.
pub(crate) fn svg(panels: &[Panel], counts: &[usize], units: &[&str], tolerance: f64) -> String {
    let (width, rows) = (WIDTH * COLUMNS as f64, panels.len().div_ceil(COLUMNS));
    let height = HEAD + HEIGHT * rows as f64 + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"10\" fill=\"#333\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let most = counts.last().copied().unwrap_or_default();
    let line = format!(
        "Time a unit, in multiples of its least, from 1 to {most} units; dashed: {tolerance} times. \
         Below each verb: the most memory of any run."
    );
    text(&mut svg, (MARGIN, 20.0), "font-size=\"13\"", &line);
    for (at, unit) in units.iter().enumerate() {
        let x = MARGIN + 150.0 * at as f64;
        let colour = COLOURS[at % COLOURS.len()];
        writeln!(svg, "<path d=\"M{x} 37h14\" stroke=\"{colour}\" stroke-width=\"3\"/>").unwrap();
        text(&mut svg, (x + 19.0, 40.0), "", unit);
    }
    for (number, panel) in panels.iter().enumerate() {
        let x = WIDTH * (number % COLUMNS) as f64;
        let y = HEAD + HEIGHT * (number / COLUMNS) as f64;
        writeln!(svg, "<g transform=\"translate({x} {y})\">").unwrap();
        draw(&mut svg, panel, tolerance);
        svg.push_str("</g>\n");
    }
    text(&mut svg, (MARGIN, height - 8.0), "fill=\"#777\"", &machine());
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, panel: &Panel, tolerance: f64) {
    let (left, right, top, bottom) = (MARGIN, WIDTH - 8.0, MARGIN, HEIGHT - MARGIN);
    let up = |multiple: f64| bottom - (bottom - top) * (multiple.min(TOP) - 1.0) / (TOP - 1.0);
    // What is asked without a log is asked of the database.
    let evident = if panel.title.contains("LOG") { " --out NEW" } else { " --db DB" };
    let title = panel.title.replace(evident, "");
    text(svg, (left, top - 7.0), "font-weight=\"600\"", &title);
    let frame = format!("M{left} {top}V{bottom}H{right}");
    writeln!(svg, "<path d=\"{frame}\" fill=\"none\" stroke=\"#bbb\"/>").unwrap();
    for multiple in [1.0, TOP] {
        let place = (left - 4.0, up(multiple) + 3.0);
        text(svg, place, "text-anchor=\"end\" fill=\"#777\"", &multiple.to_string());
    }
    let y = up(tolerance);
    writeln!(svg, "<path d=\"M{left} {y}H{right}\" stroke=\"#999\" stroke-dasharray=\"3 3\"/>")
        .unwrap();
    for curve in &panel.curves {
        let (_, best) = curve.best();
        let step = (right - left) / (curve.costs.len().max(2) - 1) as f64;
        let points: Vec<_> = (curve.costs.iter().enumerate())
            .map(|(at, cost)| format!("{:.1},{:.1}", left + step * at as f64, up(cost / best)))
            .collect();
        let colour = COLOURS[curve.unit % COLOURS.len()];
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>",
            points.join(" ")
        )
        .unwrap();
    }
    let memory = format!("{:.0} MiB", panel.mebibytes);
    text(svg, (right, bottom + 13.0), "text-anchor=\"end\" fill=\"#777\"", &memory);
}

fn text(svg: &mut String, (x, y): (f64, f64), attributes: &str, text: &str) {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>").unwrap();
}

/// The processor, its cores, the memory and the system.
fn machine() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let value = |of: &str, name: &str| {
        let line = of.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_once(':').map_or("", |line| line.1).trim().to_owned()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let memory = value(&read("/proc/meminfo"), "MemTotal");
    let gibibytes =
        memory.trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / f64::from(1 << 20);
    format!(
        "{}, {cores} cores, {gibibytes:.0} GiB, Linux {}",
        value(&read("/proc/cpuinfo"), "model name"),
        read("/proc/sys/kernel/osrelease").trim()
    )
}
