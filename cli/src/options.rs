//! Options that several verbs share, and their values.

use std::time::Duration;

/// The output width: that of the option, else the terminal's, else that in `COLUMNS`, else 100 columns.
pub fn width(option: Option<u16>) -> usize {
    usize::from(option.or_else(known_width).unwrap_or(100))
}

/// The width of sentences, which programs read by line: unlimited without a terminal and `COLUMNS`.
pub(super) fn sentence_width() -> usize {
    known_width().map_or(usize::MAX, usize::from)
}

fn known_width() -> Option<u16> {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns >= 20);
    terminal_size::terminal_size().map(|size| size.0.0).or_else(columns)
}

/// Reads a number of bytes such as `4096`, `64K` or `16MiB`.
///
/// # Errors
/// The text is not such a number, or the number is below 256.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err("give a number of bytes, or of K, M or G (1024 each)".to_owned()),
    };
    let size = digits.parse::<usize>().map_err(|error| error.to_string())?;
    let size = size.checked_mul(1 << shift).filter(|size| *size >= 256);
    size.ok_or_else(|| "give at least 256 bytes, and not more than fit into memory".to_owned())
}

/// Reads a time in seconds, such as `10` or `0.5`.
///
/// # Errors
/// The text is not such a number.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("300"), Ok(300));
        assert_eq!(parse_size("64k"), Ok(64 << 10));
        assert_eq!(parse_size("16MiB"), Ok(16 << 20));
        for wrong in ["", "M", "-1", "1T", "10", "99999999999G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
