//! Names under which a model may have its price.

/// Looks up the name itself, then increasingly simplified forms, until one is found.
pub(super) fn find<T>(name: &str, mut look_up: impl FnMut(&str) -> Option<T>) -> Option<T> {
    if let Some(found) = look_up(name) {
        return Some(found);
    }
    let plain = plain(name);
    let without_date = undated(&plain);
    if let Some(found) = look_up(&plain).or_else(|| look_up(without_date)) {
        return Some(found);
    }
    let hyphened = hyphened(without_date);
    look_up(&hyphened).or_else(|| look_up(&family_first(&hyphened)?))
}

/// In lower case, without the marks of providers.
fn plain(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_prefix("custom:").unwrap_or(&name);
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.split('[').next().unwrap_or_default().trim_end();
    let name = name.rsplit("anthropic.").next().unwrap_or_default();
    // `claude-opus-4-1@20250805`, `claude-sonnet-4-20250514-v1:0`, `glm-4.6:free`
    let name = name.split(['@', ':']).next().unwrap_or_default();
    let version = name.rsplit_once("-v").filter(|(_, number)| *number == "1" || *number == "2");
    version.map_or(name, |(name, _)| name).to_owned()
}

/// Without a date or `-latest` at the end.
fn undated(name: &str) -> &str {
    let is_number = |text: &str, length| text.len() == length && is_digits(text);
    let Some((rest, last)) = name.rsplit_once('-') else { return name };
    if last == "latest" || is_number(last, 8) {
        return rest;
    }
    // 2026-01-31
    let mut parts = name.rsplitn(4, '-');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(day), Some(month), Some(year), Some(rest))
            if is_number(day, 2) && is_number(month, 2) && is_number(year, 4) =>
        {
            rest
        }
        _ => name,
    }
}

/// With hyphens instead of dots between digits.
fn hyphened(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(char::is_ascii_digit);
    let change = |(at, c): (usize, &char)| match c {
        '.' if is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1)) => '-',
        c => *c,
    };
    characters.iter().enumerate().map(change).collect()
}

/// Whether a name is this one with a date behind it: `kimi-k2-0905-preview`, `claude-sonnet-4-20250514`.
pub(super) fn is_release(dated: &str, name: &str) -> bool {
    let rest = dated.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    let is_date = |rest: &str| {
        let rest = rest.strip_suffix("-preview").unwrap_or(rest);
        let length = rest.bytes().filter(u8::is_ascii_digit).count();
        (length == 4 || length == 8) && rest.split('-').all(is_digits)
    };
    rest.is_some_and(is_date)
}

/// Cursor's order of the parts, and without the effort: `claude-4-5-sonnet-thinking` is `claude-sonnet-4-5`.
fn family_first(name: &str) -> Option<String> {
    let parts = name.strip_prefix("claude-")?.split('-');
    let parts: Vec<&str> = parts.filter(|part| !EFFORTS.contains(part)).collect();
    let at = parts.iter().position(|part| !is_digits(part)).filter(|at| *at > 0)?;
    let (version, rest) = parts.split_at(at);
    let (family, more) = rest.split_first()?;
    more.is_empty().then(|| format!("claude-{family}-{}", version.join("-")))
}

/// Words for the effort of a model, which do not change its price.
const EFFORTS: [&str; 6] = ["high", "low", "max", "medium", "thinking", "xhigh"];

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All names that are looked up if none is found.
    fn candidates(name: &str) -> Vec<String> {
        let mut all = Vec::new();
        find::<()>(name, |candidate| {
            all.push(candidate.to_owned());
            None
        });
        all
    }

    #[test]
    fn a_model_is_known_by_the_names_that_agents_log() {
        for (logged, name) in [
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("claude-opus-4-6[1m]", "claude-opus-4-6"),
            ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("openrouter/anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("claude-opus-4-1@20250805", "claude-opus-4-1"),
            ("Claude-Haiku-4.5", "claude-haiku-4-5"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("devstral-latest", "devstral"),
            ("custom:kimi-k2", "kimi-k2"),
            ("claude-4.5-sonnet", "claude-sonnet-4-5"),
            ("claude-4.5-opus-high-thinking", "claude-opus-4-5"),
        ] {
            assert!(candidates(logged).contains(&name.to_owned()), "{logged}");
        }
        // A model never falls back to another model.
        assert!(candidates("gpt-5.4-mini").iter().all(|candidate| candidate.ends_with("mini")));
    }

    #[test]
    fn the_name_itself_comes_first() {
        assert_eq!(candidates("a/B-20260131")[0], "a/B-20260131");
        for name in ["", "-", "/", "[", "-v1", "é-.1.", "....", "1.2.3", "-00-00-0000"] {
            assert!((4..=5).contains(&candidates(name).len()), "{name}");
        }
    }
}
