//! Ids in JSON.

use foldline_domain::{CorrId, EntryIdx};

#[test]
fn ids_are_plain_strings_in_json() {
    let id = CorrId::from("call_1\nfc_2");
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(json, r#""call_1\nfc_2""#);
    assert_eq!(serde_json::from_str::<CorrId>(&json).unwrap(), id);
    assert_eq!(serde_json::to_string(&EntryIdx::new(3)).unwrap(), "3");
}
