//! Bar charts, drawn by the server: each with a label for screen readers, and a table of the same numbers.

use maud::{Markup, html};

use super::frame::line;
use crate::serve::chart::{Amount, Bar, Chart};

/// The width of a bar including the gap after it, and the height of the highest bar.
const BAR: usize = 10;
const HIGHEST: f64 = 46.0;

/// The classes of the parts of a bar, the lowest first.
const PARTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A bar chart. `title` names the quantity, `total` is its sum, `shown` formats an amount.
pub(super) fn bars(title: &str, total: &str, chart: &Chart, shown: fn(Amount) -> String) -> Markup {
    html! {
        figure class="chart wide" {
            (drawn(title, total, chart, shown))
            details.fold {
                summary { (title) " as a table" }
                (table(chart, shown))
            }
        }
    }
}

/// The same without a table.
pub(super) fn small(
    title: &str,
    total: &str,
    chart: &Chart,
    shown: fn(Amount) -> String,
) -> Markup {
    html! { figure.chart { (drawn(title, total, chart, shown)) } }
}

fn drawn(title: &str, total: &str, chart: &Chart, shown: fn(Amount) -> String) -> Markup {
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
        figcaption { span { (title) } b { (total) } }
        svg viewBox={ "0 0 " (width) " 49" } preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (place, bar) in chart.bars.iter().enumerate() {
                g { title { (name(bar)) ": " (shown(sum(bar))) } (parts(place, bar, most)) }
            }
            rect.base x="0" y="48" width=(width) height="1" {}
        }
        @if let (Some(first), Some(last), Some(highest)) = (chart.bars.first(), chart.bars.last(), highest) {
            p.axis {
                span { (name(first)) }
                span { "highest " (shown(sum(highest))) ", " (name(highest)) }
                span { (name(last)) }
            }
        }
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

fn table(chart: &Chart, shown: fn(Amount) -> String) -> Markup {
    let used = chart.bars.iter().rev().filter(|bar| sum(bar).value > 0.0);
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table.numbers {
                thead { tr {
                    th scope="col" { "Day" }
                    @for series in &chart.series { th scope="col" { (line(series)) } }
                    th scope="col" { "Total" }
                } }
                tbody {
                    @for bar in used {
                        tr {
                            th scope="row" { (name(bar)) }
                            @for amount in &bar.amounts {
                                td { @if amount.value > 0.0 { (shown(*amount)) } }
                            }
                            td { (shown(sum(bar))) }
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
