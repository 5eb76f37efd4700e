//! The length of a text in bytes.

use foldline_json::Text;

#[test]
fn the_length_does_not_depend_on_the_spelling() {
    let plain = "a \"quote\" / \\ \n\t\r\u{8}\u{c}\u{0}\u{1f}\u{7f}caf\u{e9} \u{2028}\u{1f600}";
    let stored = serde_json::to_string(plain).unwrap();
    let codes: String = plain.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    for text in [
        Text::from(plain),
        serde_json::from_str(&stored).unwrap(),
        serde_json::from_str(&stored.replace('/', "\\/")).unwrap(),
        serde_json::from_str(&format!("\"{codes}\"")).unwrap(),
    ] {
        assert_eq!(text.length(), plain.len());
    }
}
