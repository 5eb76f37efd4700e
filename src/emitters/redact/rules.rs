//! The rules for secrets.

use regex::{Regex, bytes::RegexSet};

/// A kind of secret: its name in marks, and its pattern. The group `s`, or else the whole match, is replaced.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) pattern: Regex,
}

/// The kind, a hint that a text must match for the pattern to be worth trying, and the pattern. Rules apply in this
/// order: a later rule does not see text that an earlier one has replaced.
const RULES: [(&str, &str, &str); 35] = [
    (
        "private-key",
        r"-----BEGIN ",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    (
        "url-credentials",
        r"://",
        r"\b[a-zA-Z][a-zA-Z0-9+.-]*://(?P<s>[^\s/@:'\x22<>\[\]]*:[^\s/@'\x22<>\[\]]+)@",
    ),
    ("aws-key-id", r"A[KSBC][IC]A[A-Z2-7]", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    (
        "aws-secret",
        r"(?i)aws",
        r"(?i)aws.{0,20}?(?:secret|key).{0,20}?['\x22=: ](?P<s>[A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|\z)",
    ),
    (
        "github-token",
        r"gh[pousr]_|github_pat_",
        r"\bgh[pousr]_[A-Za-z0-9]{30,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    ),
    (
        "gitlab-token",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-",
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_.-]{20,}",
    ),
    (
        "slack-token",
        r"xox[abeoprs]-|xapp-",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,}",
    ),
    (
        "slack-webhook",
        r"hooks\.slack\.com",
        r"https://hooks\.slack\.com/(?:services|workflows)/(?P<s>[A-Za-z0-9+/]{20,})",
    ),
    (
        "discord-webhook",
        r"discord(?:app)?\.com",
        r"https://discord(?:app)?\.com/api/webhooks/(?P<s>[0-9]+/[A-Za-z0-9_-]{30,})",
    ),
    (
        "stripe-key",
        r"[srp]k_(?:live|test)_|whsec_",
        r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{20,}",
    ),
    ("anthropic-key", r"sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    ("openrouter-key", r"sk-or-", r"\bsk-or-[A-Za-z0-9_-]{16,}"),
    ("openai-key", r"sk-", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    ("google-key", r"AIza", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("google-oauth", r"ya29\.|GOCSPX-", r"\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("npm-token", r"npm_", r"\bnpm_[A-Za-z0-9]{30,}\b"),
    ("pypi-token", r"pypi-", r"\bpypi-[A-Za-z0-9_-]{32,}"),
    ("crates-token", r"cio[A-Za-z0-9]{8}", r"\bcio[A-Za-z0-9]{32}\b"),
    ("huggingface-token", r"hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("sendgrid-key", r"SG\.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("twilio-key", r"(?:SK|AC)[0-9a-f]{8}", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    ("telegram-token", r":AA", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    ("digitalocean-token", r"do[opr]_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    ("vault-token", r"hv[sbr]\.", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    ("databricks-token", r"dapi[0-9a-f]{8}", r"\bdapi[0-9a-f]{32}\b"),
    ("age-key", r"AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("jwt", r"eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    (
        "authorization",
        r"(?i)(?:bearer|basic|token)[ \t]",
        r"(?i)\b(?:bearer|basic|token)[ \t]+(?P<s>[A-Za-z0-9_.~+/=-]{16,})",
    ),
    (
        "cookie",
        r"(?i)cookie",
        r"(?i)\bcookie[\x22'\\]*[ \t]*[:=][ \t]*[\x22'\\]*(?P<s>[^\s=;:\x22'\\]+=[^\r\n\x22'\\]{4,})",
    ),
    (
        "user-password",
        r"curl",
        r"\bcurl\b[^\n]{0,400}?\s(?:-[a-zA-Z]*u|--(?:proxy-)?user)[ =]*[\x22'\\]*(?P<s>[^\s:\x22'\\]+:[^\s\x22'\\]+)",
    ),
    (
        "password",
        r"(?i)(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|(?:access|auth|refresh)[_-]?token)[\x22'\\]*[ \t]*[:=]",
        r"(?i)(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|(?:access|auth|refresh)[_-]?token)[\x22'\\]*[ \t]*[:=][ \t]*[\x22'\\]*(?P<s>[^\s\x22'\\$,;&<>(){}\[\]]{6,})",
    ),
    (
        "email",
        r"[A-Za-z0-9._%+-]@[A-Za-z0-9]",
        r"[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}",
    ),
    (
        HOME,
        r"/(?:home|Users)/|:[\\/]+Users[\\/]",
        r"(?:^|[^A-Za-z0-9_.~])(?P<s>/(?:home|Users)/[A-Za-z0-9._-]+|[A-Za-z]:[\\/]+Users[\\/]+[^\\/\s\x22'<>|:*?]+)",
    ),
    // The notation of agents for the folder of a project.
    (
        HOME,
        r"-(?:home|Users)-",
        r"(?:^|[^A-Za-z0-9_.~-])(?P<s>(?:-home|(?:[A-Za-z]-)?-Users)-[A-Za-z0-9._]+)",
    ),
];

/// A home directory, which is replaced by `~`.
pub(super) const HOME: &str = "home-folder";

/// A string without a known shape that looks random.
pub(super) const RANDOM: &str = "random-string";

pub(super) fn rules() -> Vec<Rule> {
    let rule = |(kind, _, pattern)| Some(Rule { kind, pattern: Regex::new(pattern).ok()? });
    RULES.into_iter().filter_map(rule).collect()
}

/// Determines in one pass over a text which rules are worth trying. The hints match bytes instead of characters,
/// which is several times faster.
pub(super) fn hints() -> Option<RegexSet> {
    let hints = RULES.iter().map(|(_, hint, _)| format!("(?-u){hint}"));
    RegexSet::new(hints).ok()
}

/// Whether the secret is recognised by its name, which may be in another string.
pub(super) fn is_named(kind: &str) -> bool {
    matches!(kind, "aws-secret" | "password")
}

/// Whether a string is probably random, and not an identifier, a path or a plain hash.
pub(super) fn is_random(text: &str) -> bool {
    const LEAST: usize = 32;
    /// Bits per character. Words joined in camel case have about 4, random letters and digits about 5.
    const ENTROPY: f64 = 4.25;
    let has = |is: fn(&u8) -> bool| text.bytes().filter(is).count();
    let is_mixed = has(u8::is_ascii_lowercase) > 2
        && has(u8::is_ascii_uppercase) > 2
        && has(u8::is_ascii_digit) > 2;
    text.len() >= LEAST
        && is_mixed
        && has(|byte| *byte == b'/') <= text.len() / 16
        && entropy(text) > ENTROPY
}

/// Shannon's entropy, in bits per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let shares = counts.into_iter().filter(|count| *count > 0).map(|n| f64::from(n) / total);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_there() {
        assert_eq!(rules().len(), RULES.len());
        assert_eq!(hints().map(|hints| hints.len()), Some(RULES.len()));
    }

    #[test]
    fn random_strings_are_told_from_names_and_hashes() {
        assert!(is_random("wJalrXUtnFEMI7K7MDENGbPxRfiCYzEXAMPLEKEY9q"));
        for text in [
            "da39a3ee5e6b4b0d3255bfef95601890afd80709da39a3ee5e6b4b0d3255bfef",
            "123e4567-e89b-12d3-a456-426614174000",
            "a_very_long_name_of_a_function_with_words",
            "src/emitters/transcript/result/of/Some/Kind2",
            "aLongNameInCamelCaseOfSomethingLikeAnInterface2",
            "================================================",
        ] {
            assert!(!is_random(text), "{text} {}", entropy(text));
        }
    }
}
