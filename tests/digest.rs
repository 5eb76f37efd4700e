//! The form of a digest.

use foldline::position::*;

#[test]
fn only_lowercase_digits_are_a_digest() {
    let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let digest: Digest = hex.parse().unwrap();
    assert_eq!(digest.to_string(), hex);
    assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{hex}\""));
    assert_eq!(serde_json::from_str::<Digest>(&format!("\"{hex}\"")).unwrap(), digest);
    for wrong in [&hex[1..], &hex.to_uppercase(), &hex.replace('e', "g"), ""] {
        assert_eq!(wrong.parse::<Digest>(), Err(NotADigest), "{wrong}");
    }
    // The digest of empty input, from the examples of FIPS 180-4.
    assert_eq!(Digest::of(b""), digest);
}
