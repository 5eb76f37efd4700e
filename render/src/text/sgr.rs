//! Colour sequences in program output (SGR, "select graphic rendition").

/// A part of program output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// Text, which still contains all other control sequences.
    Text(&'t str),
    /// The parameters of a colour sequence: `1;31`.
    Style(&'t str),
}

/// Splits program output at the colour sequences.
pub(crate) fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    let mut style = None;
    std::iter::from_fn(move || {
        if let Some(style) = style.take() {
            return Some(Part::Style(style));
        }
        if rest.is_empty() {
            return None;
        }
        let (before, after) = match find(rest) {
            Some((before, parameters, after)) => {
                style = Some(parameters);
                (before, after)
            }
            None => (rest, ""),
        };
        rest = after;
        match (before, style) {
            ("", Some(_)) => style.take().map(Part::Style),
            (text, _) => Some(Part::Text(text)),
        }
    })
}

/// The first sequence: the text before it, its parameters, the text after it.
fn find(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("\x1b[").find_map(|(at, start)| {
        let (before, sequence) = text.split_at_checked(at)?;
        let sequence = sequence.strip_prefix(start)?;
        let after = sequence.trim_start_matches(|c: char| c.is_ascii_digit() || ";:".contains(c));
        let parameters = sequence.strip_suffix(after)?;
        Some((before, parameters, after.strip_prefix('m')?))
    })
}

#[cfg(test)]
mod tests {
    use super::{Part::*, *};

    fn all(text: &str) -> Vec<Part<'_>> {
        parts(text).collect()
    }

    #[test]
    fn only_colours_are_found() {
        let text = "\x1b[1;31merror\x1b[0m: x\x1b[m";
        let expected = [Style("1;31"), Text("error"), Style("0"), Text(": x"), Style("")];
        assert_eq!(all(text), expected);
        assert_eq!(all("\x1b[2Jcleared \x1b[3"), [Text("\x1b[2Jcleared \x1b[3")]);
        assert_eq!(all("\x1b\x1b[0m[31mx"), [Text("\x1b"), Style("0"), Text("[31mx")]);
        assert_eq!(all(""), []);
    }
}
