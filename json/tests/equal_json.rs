//! JSON is compared by meaning.

use foldline_json::Json;

#[test]
fn equal_by_meaning() {
    let a: Json = serde_json::from_str(r#"{"a":1,"b":"\u0041"}"#).unwrap();
    let b: Json = serde_json::from_str(r#"{ "b": "A", "a": 1 }"#).unwrap();
    assert_eq!(a, b);
}
