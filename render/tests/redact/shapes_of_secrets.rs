//! What is taken for a secret in a text, and what is not.

use foldline::transduce::*;
use foldline_domain::{DomainEvent, NormalizedEntry, NormalizedEntryType::UserMessage};
use foldline_render::redact::Redact;

/// What is left of texts that are said one after another, and how many secrets of each kind there were.
fn redacted<'t>(texts: impl IntoIterator<Item = &'t str>) -> (Vec<String>, Vec<(String, u64)>) {
    let said = emit_fn(|event: &DomainEvent| match event {
        DomainEvent::NewEntry { entry } => Batch::one(entry.content.decode().into_owned()),
        _ => Batch::EMPTY,
    });
    let mut redact = Redact::new(said);
    let entry = |text| DomainEvent::entry(NormalizedEntry::new(UserMessage, text));
    let left = texts.into_iter().flat_map(|text| redact.emit(&entry(text))).collect();
    (left, redact.replaced().map(|(kind, count)| (kind.to_owned(), count)).collect())
}

/// Put together here, so that no scanner takes this file for a leak.
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
        (token("", 40), "random-string"),
    ];
    for (secret, kind) in cases {
        assert_eq!(
            redacted([&*format!("a {secret} b")]).0,
            [format!("a [{kind} 1] b")],
            "{secret}"
        );
    }
}

#[test]
fn secrets_in_their_surroundings_are_found() {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----";
    let cases = [
        (key, "[private-key 1]"),
        ("-----BEGIN PRIVATE KEY-----\ncut", "[private-key 1]"),
        ("curl -H 'Cookie: sid=abc123; b=c' x", "curl -H 'Cookie: [cookie 1]' x"),
        ("Set-Cookie: sid=abc123; Path=/", "Set-Cookie: [cookie 1]"),
        ("curl -sSu ada:pw https://x", "curl -sSu [user-password 1] https://x"),
        ("curl x --user 'ada:pw'", "curl x --user '[user-password 1]'"),
        ("ls -- -home-ada-shop", "ls -- -~-shop"),
        ("C--Users-ada-shop", "~-shop"),
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
    for (text, expected) in cases {
        assert_eq!(redacted([text]).0, [expected], "{text}");
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
        "docker run -u 1000:1000 x; curl -o u:x y",
        "the cookie: a small file",
        "https://example.org/home/page",
    ] {
        assert_eq!(redacted([text]), (vec![text.to_owned()], Vec::new()));
    }
}

#[test]
fn the_same_secret_has_the_same_mark() {
    let (left, counts) = redacted(["a@b.org c@d.org a@b.org", "c@d.org"]);
    assert_eq!(left, ["[email 1] [email 2] [email 1]", "[email 2]"]);
    assert_eq!(counts, [("email".to_owned(), 4)]);
}
