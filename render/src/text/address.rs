//! Link addresses of a log that are allowed in human-readable documents.

use super::terminal::neutralise;

/// Whether following a link to this address can only fetch a page: `http` and `https` only, without invisible
/// characters.
pub(crate) fn is_web(address: &str) -> bool {
    (has_scheme(address, "https://") || has_scheme(address, "http://")) && is_plain(address)
}

/// Whether the address is a mail address.
pub(crate) fn is_mail(address: &str) -> bool {
    has_scheme(address, "mailto:") && is_plain(address)
}

/// Whether a reader sees the whole address, and it ends where it seems to.
pub(crate) fn is_plain(address: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || "\"<>\\^`{|}".contains(c);
    !address.contains(is_odd) && neutralise(address) == address
}

fn has_scheme(address: &str, scheme: &str) -> bool {
    address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_web_only() {
        for address in ["https://example.org/a?b#c", "HTTP://example.org"] {
            assert!(is_web(address), "{address}");
        }
        for address in [
            "javascript:alert(1)",
            "data:text/html,x",
            " https://example.org",
            "https://exa\u{202e}mple.org",
            "java\nscript:alert(1)",
            "//example.org",
            "src/main.rs",
            "#e1",
            "file:///etc/passwd",
            "https:javascript",
        ] {
            assert!(!is_web(address), "{address}");
        }
    }
}
