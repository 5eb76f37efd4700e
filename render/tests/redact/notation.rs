//! The notation of the corpus, from which texts are composed.

use base64::{Engine, engine::general_purpose::STANDARD};

/// A text of the corpus, and the parts of it that must vanish.
#[derive(Debug, Default)]
pub(super) struct Composed {
    pub(super) text: String,
    pub(super) secrets: Vec<String>,
}

/// The minimum length of a composed part that must vanish, if no part is marked.
const LEAST: usize = 10;

/// The texts of a file.
pub(super) fn texts(file: &str) -> impl Iterator<Item = Composed> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(composed)
}

/// The text of a line.
fn composed(line: &str) -> Composed {
    let (mut text, mut parts, mut marked) = (String::new(), Vec::new(), Vec::new());
    let mut begins = Vec::new();
    let mut encoded = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some((part, length)) = notation(rest) {
            match part {
                Part::Nothing => {
                    // The end of what is encoded, if anything is.
                    let is_end = encoded.is_some() && rest.starts_with("{}»")
                        || encoded.is_some() && rest == "{}";
                    if let Some(begin) = encoded.filter(|_| is_end) {
                        let plain = text.split_off(begin);
                        text.push_str(&STANDARD.encode(plain));
                        encoded = None;
                    }
                }
                Part::Encoded => encoded = Some(text.len()),
                Part::Text(part) => {
                    text.push_str(&part);
                    parts.extend((part.len() >= LEAST).then_some(part));
                }
            }
            rest = &rest[length..];
            continue;
        }
        match c {
            '«' => begins.push(text.len()),
            '»' => marked.push(text[begins.pop().unwrap()..].to_owned()),
            c => text.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    let secrets = match (marked.is_empty(), parts.is_empty()) {
        (false, _) => marked,
        (true, false) => parts,
        (true, true) => vec![text.clone()],
    };
    Composed { text, secrets }
}

enum Part {
    Nothing,
    Encoded,
    Text(String),
}

/// The part that a notation at the beginning of a text stands for, and the length of the notation.
fn notation(text: &str) -> Option<(Part, usize)> {
    let inner = text.strip_prefix('{')?;
    if inner.starts_with("64:") {
        return Some((Part::Encoded, 4));
    }
    let (inner, _) = inner.split_once('}')?;
    let part = match inner {
        "" => Part::Nothing,
        "n" => Part::Text("\n".to_owned()),
        "e" => Part::Text("\x1b".to_owned()),
        "u" => Part::Text(["8c6f2d1e", "4b7a", "4c3d", "9e5f", "0a1b2c3d4e5f"].join("-")),
        _ => {
            let digits = inner.find(|c: char| c.is_ascii_digit())?;
            let length = inner[digits..].parse().ok()?;
            let letters = match &inner[..digits] {
                "a" => "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jp",
                "l" => "q8zr2xk7lm4tn9vb3wc6yd1ge5hf0jp",
                "h" => "3f9a0c7e5b1d8264",
                "H" => "3F9A0C7E5B1D8264",
                "A" => "QZ4RXK7LMTNVB3WCY6DGEHF2JPUSAI5O",
                "AA" => "A",
                "B" => "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jp+",
                "w" => "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0Jp_-",
                "x" => "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5HfMJp",
                "m" => "wJ4rX7Ut9FEMi2K8MDeNGbPxRf5CYzQv3L0hSk6Ty1Ba",
                "d" => "7294618350",
                _ => return None,
            };
            Part::Text(letters.chars().cycle().take(length).collect())
        }
    };
    Some((part, inner.len() + 2))
}
