//! Bar charts, drawn by the server. The amounts of a bar appear when the pointer or the focus is on it, and all of them
//! are in a table.

use foldline_render::human;
use jiff::civil::Date;
use maud::{Markup, html};

use super::frame::line;
use crate::serve::chart::{Amount, Bar, Chart};

/// The width of a bar of a small chart including the gap after it, and the height of the highest bar.
const BAR: usize = 10;
const HIGHEST: f64 = 46.0;

/// The largest number of labels below a chart, of days and of months.
const MOST_LABELS: [usize; 2] = [5, 4];

/// The classes of the parts of a bar, the lowest first.
const PARTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// What a chart is about, and how its amounts are written.
pub(super) struct Quantity<'a> {
    /// Its name.
    pub(super) title: &'a str,
    /// The sum of all bars.
    pub(super) total: &'a str,
    /// An amount.
    pub(super) exact: fn(Amount) -> String,
    /// An amount at the axis.
    pub(super) short: fn(f64) -> String,
}

/// A chart with axes. `address` is where the sessions of a bar are listed.
pub(super) fn bars(of: &Quantity<'_>, chart: &Chart, address: &dyn Fn(&str) -> String) -> Markup {
    let most = chart.bars.iter().map(|bar| sum(bar).value).fold(0.0, f64::max);
    let (top, steps) = scale(most);
    let [days, months] = MOST_LABELS;
    let are_days = chart.bars.iter().all(|bar| name(bar).parse::<Date>().is_ok());
    let every = chart.bars.len().div_ceil(if are_days { days } else { months }).max(1);
    html! {
        figure class="chart wide" {
            figcaption { span { (of.title) } b { (of.total) } }
            @if chart.bars.is_empty() { p { "Nothing was used." } } @else {
                div.plot {
                    div.ticks aria-hidden="true" {
                        @for step in (0..=steps).rev() {
                            span { ((of.short)(top * step as f64 / steps as f64)) }
                        }
                    }
                    div.field-of-bars {
                        svg.lines viewBox={ "0 0 1 " (steps) } preserveAspectRatio="none" aria-hidden="true" {
                            @for step in 0..=steps { line x1="0" x2="1" y1=(step) y2=(step) {} }
                        }
                        ol.bars role="list" data-many[chart.bars.len() > 40] {
                            @for (place, bar) in chart.bars.iter().enumerate() {
                                li data-late[place * 2 >= chart.bars.len()] {
                                    (bar_of(of, chart, bar, top, address))
                                    @if place % every == 0 {
                                        span.x aria-hidden="true" { (label(bar)) }
                                    }
                                }
                            }
                        }
                    }
                }
                (key(chart))
                details.fold {
                    summary { (of.title) " as a table" }
                    (table(chart, of))
                }
            }
        }
    }
}

/// A bar, which leads to its sessions. A bar without amounts is only a place.
fn bar_of(
    of: &Quantity<'_>,
    chart: &Chart,
    bar: &Bar,
    top: f64,
    address: &dyn Fn(&str) -> String,
) -> Markup {
    let all = sum(bar);
    let parts = || {
        chart.series.iter().zip(&bar.amounts).zip(PARTS).filter(|((_, part), _)| part.value > 0.0)
    };
    let inner = html! {
        svg viewBox="0 0 1 100" preserveAspectRatio="none" aria-hidden="true" { (stack(bar, top)) }
        span.tip {
            b { (name(bar)) " " }
            span { (of.title) " " b { ((of.exact)(all)) } }
            @if chart.series.len() > 1 {
                @for ((series, part), class) in parts() {
                    span { i class=(class) {} (line(series)) " " b { ((of.exact)(*part)) } }
                }
            }
        }
    };
    html! {
        @match bar.key.as_deref() {
            _ if all.value <= 0.0 => span.bar {},
            Some(key) => a.bar href=(address(key)) { (inner) },
            None => span.bar tabindex="0" { (inner) },
        }
    }
}

fn stack(bar: &Bar, top: f64) -> Markup {
    let mut y = 100.0;
    let drawn = PARTS.iter().zip(&bar.amounts).filter(|(_, amount)| amount.value > 0.0);
    html! {
        @for (class, amount) in drawn {
            // What is little is still there.
            @let height = (amount.value / top * 100.0).max(0.5);
            @let start = { y -= height; y };
            rect class=(class) x="0" width="1" y=(format!("{start:.2}")) height=(format!("{height:.2}")) {}
        }
    }
}

/// The highest amount of an axis and the number of its steps, each of which is 1, 2 or 5 times a power of ten.
fn scale(most: f64) -> (f64, usize) {
    if !(most.is_finite() && most > 0.0) {
        return (1.0, 1);
    }
    let power = 10_f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = step.into_iter().find(|step| most / step <= 4.0).unwrap_or(most);
    let steps = (most / step).ceil().max(1.0);
    (steps * step, steps as usize)
}

/// The label of a bar at the axis.
fn label(bar: &Bar) -> String {
    let name = name(bar);
    let month =
        || format!("{name}-01").parse::<Date>().ok().map(|day| day.strftime("%b %Y").to_string());
    match name.parse::<Date>() {
        Ok(day) => day.strftime("%-d %b").to_string(),
        Err(_) => month().unwrap_or_else(|| name.to_owned()),
    }
}

/// A small chart without axes.
pub(super) fn small(of: &Quantity<'_>, chart: &Chart) -> Markup {
    let Quantity { title, total, .. } = of;
    let most = chart.bars.iter().map(|bar| sum(bar).value).fold(0.0, f64::max);
    let width = (chart.bars.len() * BAR).max(1);
    let label = match (chart.bars.first(), chart.bars.last()) {
        (Some(first), Some(last)) => {
            format!("{title} from {} to {}, {total} in total", name(first), name(last))
        }
        _ => format!("{title}: no data"),
    };
    let highest = chart.bars.iter().max_by(|a, b| sum(a).value.total_cmp(&sum(b).value));
    html! {
        figure.chart {
            figcaption { span { (title) } b { (total) } }
            svg viewBox={ "0 0 " (width) " 49" } preserveAspectRatio="none" role="img" aria-label=(label) {
                @for (place, bar) in chart.bars.iter().enumerate() {
                    g { title { (name(bar)) ": " ((of.exact)(sum(bar))) } (parts(place, bar, most)) }
                }
                rect.base x="0" y="48" width=(width) height="1" {}
            }
            @if let (Some(first), Some(last), Some(highest)) = (chart.bars.first(), chart.bars.last(), highest) {
                p.axis {
                    span { (name(first)) }
                    span { "highest " ((of.short)(sum(highest).value)) ", " (name(highest)) }
                    span { (name(last)) }
                }
            }
            (key(chart))
        }
    }
}

fn key(chart: &Chart) -> Markup {
    html! {
        p.key {
            @for (class, series) in PARTS.iter().zip(&chart.series) {
                span { i class=(class) {} (line(series)) }
            }
        }
    }
}

fn parts(place: usize, bar: &Bar, most: f64) -> Markup {
    let mut y = 48.0;
    let drawn = PARTS.iter().zip(&bar.amounts).filter(|(_, amount)| amount.value > 0.0);
    html! {
        @for (class, amount) in drawn {
            @let height = amount.value / most * HIGHEST;
            @let top = { y -= height; y };
            rect class=(class) x=(place * BAR + 1) y=(format!("{top:.1}")) width=(BAR - 2)
                height=(format!("{height:.1}")) {}
        }
    }
}

fn table(chart: &Chart, of: &Quantity<'_>) -> Markup {
    let used = chart.bars.iter().rev().filter(|bar| sum(bar).value > 0.0);
    html! {
        div.scroll tabindex="0" role="group" aria-label={ (of.title) " as a table" } {
            table.numbers {
                thead { tr {
                    th scope="col" { "Time" }
                    @for series in &chart.series { th scope="col" { (line(series)) } }
                    th scope="col" { "Total" }
                } }
                tbody {
                    @for bar in used {
                        tr {
                            th scope="row" { (name(bar)) }
                            @for amount in &bar.amounts {
                                td { @if amount.value > 0.0 { ((of.exact)(*amount)) } }
                            }
                            td { ((of.exact)(sum(bar))) }
                        }
                    }
                }
            }
        }
    }
}

fn name(bar: &Bar) -> &str {
    bar.key.as_deref().unwrap_or("no date")
}

fn sum(bar: &Bar) -> Amount {
    bar.amounts.iter().copied().sum()
}

/// A horizontal bar in a row of a table, in proportion to the longest bar.
pub(super) fn lying(value: f64, most: f64, class: &str) -> Markup {
    let width = if most > 0.0 { value / most * 100.0 } else { 0.0 };
    html! {
        svg.lying viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect class=(class) x="0" y="0" width=(format!("{width:.1}")) height="8" {}
        }
    }
}

/// Tokens, each digit of them.
pub(super) fn count(amount: Amount) -> String {
    human::grouped(whole(amount.value))
}

/// No log has as many tokens as a number has digits.
pub(super) fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::scale;

    #[test]
    fn an_axis_has_round_steps_and_ends_at_or_above_the_highest_bar() {
        for (most, top, steps) in [
            (0.0, 1.0, 1),
            (1.0, 1.0, 2),
            (3.1, 4.0, 4),
            (9.0, 10.0, 2),
            (1234.0, 1500.0, 3),
            (0.0031, 0.004, 4),
        ] {
            let (found, count) = scale(most);
            assert!((found - top).abs() < 1e-9 && count == steps, "{most}: {found} in {count}");
        }
    }
}
