//! [`Secrets`]: finds secrets in a text, and gives each a mark.

use std::{borrow::Cow, collections::BTreeMap};

use super::{find::Finder, rules::HOME};

/// The secrets found so far.
#[derive(Clone, Debug)]
pub(super) struct Secrets {
    finder: Finder,
    marks: Marks,
}

/// The marks that replace secrets.
#[derive(Clone, Debug, Default)]
struct Marks {
    /// The number of each secret within its kind.
    numbers: BTreeMap<(&'static str, String), usize>,
    counts: BTreeMap<&'static str, u64>,
}

impl Secrets {
    pub(super) fn new() -> Self {
        Self { finder: Finder::new(), marks: Marks::default() }
    }

    /// The number of replacements of each kind.
    pub(super) fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.marks.counts
    }

    /// The text with a mark in place of each secret; `None` if there is none. Identifiers are not tested for
    /// randomness, because most look random.
    pub(super) fn replace(&mut self, text: &str, is_id: bool) -> Option<String> {
        let Self { finder, marks } = self;
        let hints = finder.hints(text.as_bytes());
        let mut changed = Cow::Borrowed(text);
        finder.each(&mut changed, hints, is_id, |text, kind, ranges| {
            let mut replaced = String::new();
            let mut end = 0;
            for range in ranges {
                let secret = text.get(range.clone()).unwrap_or_default();
                replaced.push_str(text.get(end..range.start).unwrap_or_default());
                replaced.push_str(&marks.mark(kind, secret));
                end = range.end;
            }
            replaced.push_str(text.get(end..).unwrap_or_default());
            *text = Cow::Owned(replaced);
        });
        match changed {
            Cow::Borrowed(_) => None,
            Cow::Owned(changed) => Some(changed),
        }
    }
}

impl Marks {
    /// The mark of a secret: the same secret always has the same mark.
    fn mark(&mut self, kind: &'static str, secret: &str) -> String {
        *self.counts.entry(kind).or_default() += 1;
        if kind == HOME {
            return if secret.starts_with('-') { "-~" } else { "~" }.to_owned();
        }
        let key = (kind, secret.to_owned());
        let known = self.numbers.get(&key).copied();
        let number = known.unwrap_or_else(|| {
            let number = self.numbers.keys().filter(|(other, _)| *other == kind).count() + 1;
            self.numbers.insert(key, number);
            number
        });
        format!("[{kind} {number}]")
    }
}

#[cfg(test)]
mod tests {
    use super::{super::rules::RANDOM, *};

    /// Composed here, so that no scanner reports this file as a leak.
    fn token(start: &str, length: usize) -> String {
        let letters = "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jp";
        start.chars().chain(letters.chars().cycle().take(length)).collect()
    }

    #[test]
    fn well_known_shapes_are_found() {
        let cases = [
            (token("ghp_", 36), "github-token"),
            (token("github_pat_", 60), "github-token"),
            (token("glpat-", 20), "gitlab-token"),
            (token("xoxb-", 30), "slack-token"),
            (token("sk_live_", 24), "stripe-key"),
            (token("sk-ant-api03-", 80), "anthropic-key"),
            (token("sk-proj-", 60), "openai-key"),
            (token("AIza", 35), "google-key"),
            (token("npm_", 36), "npm-token"),
            (token("pypi-", 60), "pypi-token"),
            (token("hf_", 34), "huggingface-token"),
            ("AKIA".to_owned() + "IOSFODNN7EXAMPLE", "aws-key-id"),
            ("eyJ".to_owned() + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "jwt"),
            (token("", 40), RANDOM),
        ];
        for (secret, kind) in cases {
            let mut secrets = Secrets::new();
            let found = secrets.replace(&format!("a {secret} b"), false);
            assert_eq!(found.as_deref(), Some(&*format!("a [{kind} 1] b")), "{secret}");
        }
    }

    #[test]
    fn secrets_in_their_surroundings_are_found() {
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----";
        let cases = [
            (key, "[private-key 1]"),
            ("-----BEGIN PRIVATE KEY-----\ncut", "[private-key 1]"),
            ("Authorization: Bearer abcdefghijklmnop1", "Authorization: Bearer [authorization 1]"),
            ("PASSWORD=hunter22 x", "PASSWORD=[password 1] x"),
            ("{\"password\": \"hunter22\"}", "{\"password\": \"[password 1]\"}"),
            (r#"{\\"password\\":\\"hunter22\\"}"#, r#"{\\"password\\":\\"[password 1]\\"}"#),
            ("postgres://ada:hunter22@db/x", "postgres://[url-credentials 1]@db/x"),
            ("to ada@example.org.", "to [email 1]."),
            ("cd /home/ada/work; ls /Users/ada", "cd ~/work; ls ~"),
            (r"C:\Users\ada\x", r"~\x"),
            ("~/.claude/projects/-Users-ada-work", "~/.claude/projects/-~-work"),
        ];
        for (text, redacted) in cases {
            assert_eq!(Secrets::new().replace(text, false).as_deref(), Some(redacted), "{text}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "git@github.com:ada/shop.git",
            "password = os.environ[\"X\"]",
            "password: ${PASSWORD}",
            "index da39a3ee5e6b4b0d3255bfef95601890afd80709..e69de29",
            "\"integrity\": \"sha512-q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jpq8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jp==\"",
            "https://example.org/home/page",
        ] {
            assert_eq!(Secrets::new().replace(text, false), None, "{text}");
        }
    }

    #[test]
    fn the_same_secret_has_the_same_mark() {
        let mut secrets = Secrets::new();
        let text = secrets.replace("a@b.org c@d.org a@b.org", false);
        assert_eq!(text.as_deref(), Some("[email 1] [email 2] [email 1]"));
        assert_eq!(secrets.replace("c@d.org", true).as_deref(), Some("[email 2]"));
        assert_eq!(secrets.counts()["email"], 4);
    }
}
