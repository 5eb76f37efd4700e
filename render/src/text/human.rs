//! Human-readable numbers, and beginnings of texts.

/// `340 ms`, `2.1 s`, `1 m 05 s`, `2 h 03 m`; tenths are rounded.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match millis {
        0..1_000 => [itoa::Buffer::new().format(millis), " ms"].concat(),
        1_000..59_950 => tenths(millis, 1_000) + " s",
        59_950..60_000 => "1 m 00 s".to_owned(),
        60_000..3_600_000 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60),
    }
}

/// The active time, and the time with pauses if they make more than a tenth of it.
pub fn active(active: Option<u64>, all: Option<u64>) -> (Option<String>, Option<String>) {
    let active = active.or(all);
    let of = all.filter(|all| active.is_some_and(|active| *all / 10 * 9 > active));
    (active.map(duration), of.map(duration))
}

/// `512`, `12.3k`, `1.2M`, `3.0G`; tenths are rounded.
pub fn count(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..999_950 => tenths(n, 1_000) + "k",
        999_950..999_950_000 => tenths(n, 1_000_000) + "M",
        _ => tenths(n, 1_000_000_000) + "G",
    }
}

/// `68 B`, `12.3 kB`, `1.2 MB`, `3.0 GB`; tenths are rounded.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..999_950 => tenths(n, 1_000) + " kB",
        999_950..999_950_000 => tenths(n, 1_000_000) + " MB",
        _ => tenths(n, 1_000_000_000) + " GB",
    }
}

fn tenths(n: u64, unit: u64) -> String {
    let tenths = n.saturating_add(unit / 20) / (unit / 10);
    let (mut whole, mut part) = (itoa::Buffer::new(), itoa::Buffer::new());
    [whole.format(tenths / 10), ".", part.format(tenths % 10)].concat()
}

/// `512`, `12,345`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `$12,345.67`, `$1.23`, `$0.0042`.
pub fn dollars(amount: f64) -> String {
    if amount.abs() < 1.0 { format!("${amount:.4}") } else { cents(amount) }
}

/// `$12,345.67`, `$0.01`.
pub fn cents(amount: f64) -> String {
    let rounded = format!("{:.2}", amount.abs());
    let sign = if amount < 0.0 { "-" } else { "" };
    let (whole, cents) = rounded.split_once('.').unwrap_or((&rounded, "00"));
    match whole.parse() {
        Ok(whole) => format!("${sign}{}.{cents}", grouped(whole)),
        Err(_) => format!("${amount:.2}"),
    }
}

/// `1 line`, `2 lines`, `12,345 entries`.
pub fn number_of(n: impl TryInto<u64> + ToString, thing: &str) -> String {
    let number = n.to_string();
    let n = n.try_into();
    let count = n.as_ref().map_or(number, |n| grouped(*n));
    let (stem, end) = match (n, thing.strip_suffix("ry")) {
        (Ok(1), _) => (thing, ""),
        (_, Some(stem)) => (stem, "ries"),
        (_, None) => (thing, "s"),
    };
    [&*count, " ", stem, end].concat()
}

/// The beginning of a text of more than `most` characters, up to the end of a word.
pub fn beginning(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.into() };
    let start = text.get(..end).unwrap_or(text);
    let words = start.rsplit_once(' ').map_or(start, |(words, _)| words);
    format!("{words} …").into()
}
