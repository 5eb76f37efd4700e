//! [`Chart`]: amounts by day, each in several parts.

use std::collections::BTreeMap;

use foldline_domain::pricing::{Cost, CostBasis};
use jiff::civil::Date;

/// Bars of several parts, the earliest first.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chart {
    /// The names of the parts, the lowest first.
    pub(super) series: Vec<String>,
    pub(super) bars: Vec<Bar>,
}

/// One day or month.
#[derive(Debug, PartialEq)]
pub(super) struct Bar {
    /// The day or the month; `None` for usage at an unknown time.
    pub(super) key: Option<String>,
    /// The amount of each of the series.
    pub(super) amounts: Vec<Amount>,
}

/// Dollars or tokens, and whether they are estimated, at least in part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) is_estimated: bool,
}

/// A part of a bar: its series and its amount.
pub(super) type Part = (String, Amount);

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        self.is_estimated |= other.is_estimated;
    }
}

impl std::iter::Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), |mut sum, amount| {
            sum += amount;
            sum
        })
    }
}

impl From<Cost> for Amount {
    fn from(cost: Cost) -> Self {
        Self { value: cost.usd, is_estimated: cost.basis != CostBasis::Logged }
    }
}

impl From<u64> for Amount {
    fn from(tokens: u64) -> Self {
        Self { value: tokens as f64, is_estimated: false }
    }
}

impl Chart {
    /// Adds up the parts of rows; includes empty days between the first and the last.
    pub(super) fn new(
        rows: impl Iterator<Item = (Option<String>, Vec<Part>)>,
        days: Option<(Date, Date)>,
    ) -> Self {
        let mut sums = BTreeMap::<Option<String>, BTreeMap<String, Amount>>::new();
        if let Some((first, last)) = days {
            let days = first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last);
            sums.extend(days.map(|day| (Some(day.to_string()), BTreeMap::new())));
        }
        let mut totals = BTreeMap::<String, f64>::new();
        for (key, parts) in rows {
            let sum = sums.entry(key).or_default();
            for (series, amount) in parts.into_iter().filter(|(_, amount)| amount.value > 0.0) {
                *totals.entry(series.clone()).or_default() += amount.value;
                *sum.entry(series).or_default() += amount;
            }
        }
        let mut series: Vec<_> = totals.into_iter().collect();
        series.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let series: Vec<_> = series.into_iter().map(|(series, _)| series).collect();
        let amounts = |sum: &BTreeMap<String, Amount>| {
            series.iter().map(|series| sum.get(series).copied().unwrap_or_default()).collect()
        };
        let bars = sums.into_iter().map(|(key, sum)| Bar { key, amounts: amounts(&sum) });
        Self { bars: bars.collect(), series }
    }

    /// Sorts known series in this order, and puts the others behind them.
    pub(super) fn order_as(&mut self, known: &[String]) {
        let place = |series: &String| known.iter().position(|it| it == series);
        let mut order: Vec<_> = (0..self.series.len()).collect();
        order.sort_by_key(|&at| self.series.get(at).and_then(place).unwrap_or(usize::MAX));
        self.series = order.iter().filter_map(|at| self.series.get(*at).cloned()).collect();
        for bar in &mut self.bars {
            bar.amounts = order.iter().filter_map(|at| bar.amounts.get(*at).copied()).collect();
        }
    }

    /// Gives series other names, where there are any.
    pub(super) fn rename(&mut self, name: impl Fn(&str) -> Option<String>) {
        for series in &mut self.series {
            if let Some(name) = name(series) {
                *series = name;
            }
        }
    }

    /// Combines all series after the first few.
    pub(super) fn sum_up(&mut self, most: usize) {
        if self.series.len() <= most.saturating_add(1) {
            return;
        }
        let others = self.series.split_off(most).len();
        self.series.push(format!("{others} others"));
        for bar in &mut self.bars {
            let rest = bar.amounts.split_off(most).into_iter().sum();
            bar.amounts.push(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, series: &str, value: f64) -> (Option<String>, Vec<Part>) {
        (Some(key.to_owned()), vec![(series.to_owned(), Amount { value, is_estimated: false })])
    }

    fn values(bar: &Bar) -> Vec<f64> {
        bar.amounts.iter().map(|amount| amount.value).collect()
    }

    #[test]
    fn days_without_use_are_there_and_the_largest_part_is_the_lowest() {
        let days = Some((jiff::civil::date(2026, 2, 27), jiff::civil::date(2026, 3, 1)));
        let rows =
            [row("2026-02-27", "b", 1.0), row("2026-03-01", "a", 4.0), row("2026-03-01", "b", 1.0)];
        let chart = Chart::new(rows.into_iter(), days);
        assert_eq!(chart.series, ["a", "b"]);
        let amounts: Vec<_> = chart.bars.iter().map(values).collect();
        assert_eq!(amounts, [[0.0, 1.0], [0.0, 0.0], [4.0, 1.0]]);
    }

    #[test]
    fn charts_can_have_the_same_order() {
        let rows =
            [row("2026-03-01", "a", 3.0), row("2026-03-01", "b", 2.0), row("2026-03-01", "c", 1.0)];
        let mut chart = Chart::new(rows.into_iter(), None);
        chart.order_as(&["c".to_owned(), "x".to_owned(), "a".to_owned()]);
        assert_eq!(chart.series, ["c", "a", "b"]);
        assert_eq!(values(&chart.bars[0]), [1.0, 3.0, 2.0]);
    }

    #[test]
    fn what_is_little_is_put_together() {
        let rows = (0..5_u8).map(|n| row("2026-03-01", &n.to_string(), f64::from(10 - n)));
        let mut chart = Chart::new(rows, None);
        chart.sum_up(4);
        assert_eq!(chart.series, ["0", "1", "2", "3", "4"], "one is shown as itself");
        chart.sum_up(2);
        assert_eq!(chart.series, ["0", "1", "3 others"]);
        assert_eq!(values(&chart.bars[0]), [10.0, 9.0, 21.0]);
    }
}
