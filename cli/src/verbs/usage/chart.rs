//! Bars by day, for the terminal.

use std::io::{self, Write};

use foldline_database::usage::all_tokens;
use foldline_domain::pricing::CostBasis;
use foldline_render::human;

use super::group::Group;

/// The columns that stand before a bar: the day and the number.
const BEFORE: usize = 24;

/// Draws a bar a day, the earliest first: of the cost, or of the tokens if no cost is known.
pub(super) fn write(out: &mut dyn Write, days: &[Group<'_>], width: usize) -> io::Result<()> {
    let has_costs = days.iter().any(|day| day.sum.cost.is_some());
    let value = |day: &Group<'_>| match has_costs {
        true => day.sum.cost.map_or(0.0, |cost| cost.usd),
        false => all_tokens(&day.sum.tokens) as f64,
    };
    let most = days.iter().map(value).fold(0.0, f64::max);
    let room = width.saturating_sub(BEFORE).max(1);
    for day in days.iter().rev() {
        let name = day.key.first().cloned().flatten().unwrap_or_else(|| "no date".to_owned());
        let number = match has_costs {
            true => day.sum.cost.map_or(String::new(), |cost| {
                let about = if cost.basis == CostBasis::Logged { "" } else { "≈" };
                format!("{about}${:.2}", cost.usd)
            }),
            false => human::count(all_tokens(&day.sum.tokens)),
        };
        writeln!(
            out,
            "{}",
            format!("{name:<10}  {number:>9}  {}", bar(value(day), most, room)).trim_end()
        )?;
    }
    Ok(())
}

/// A bar in eighths of a column.
fn bar(value: f64, most: f64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if most <= 0.0 {
        return String::new();
    }
    let eighths = (value / most * room as f64 * 8.0).round() as usize;
    let rest = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{rest}", "█".repeat((eighths / 8).min(room)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(2.0, 2.0, 4), "████");
        assert_eq!(bar(1.0, 2.0, 4), "██");
        assert_eq!(bar(0.125, 2.0, 4), "▎");
        assert_eq!(bar(0.0, 2.0, 4), "");
        assert_eq!(bar(0.0, 0.0, 4), "");
    }
}
