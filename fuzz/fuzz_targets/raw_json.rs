//! The scanner accepts a text as one JSON value exactly if `serde_json` does.
#![no_main]

use foldline_agents::wire::Object;
use foldline_json::Raw;
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

fuzz_target!(|text: &str| {
    let theirs = serde_json::from_str::<&RawValue>(text).ok();
    let ours = Raw::parse(text).ok();
    assert_eq!(ours.map(Raw::get), theirs.map(RawValue::get));
    // The fields of an object are values too, and none is lost.
    let Some(object) = ours.and_then(Object::of) else { return };
    let fields = object.clone().rest();
    for (_, value) in &fields {
        assert!(serde_json::from_str::<&RawValue>(value.get()).is_ok());
    }
    let count =
        |values: &mut dyn Iterator<Item = &str>| values.filter(|text| *text != "null").count();
    let all: Fields = serde_json::from_str(text).expect("it was taken");
    assert_eq!(fields.len(), count(&mut all.0.iter().map(|(_, value)| value.as_str())));
});

/// The fields of an object as read by `serde_json`, in order and with repetitions.
struct Fields(Vec<(String, String)>);

impl<'de> serde::Deserialize<'de> for Fields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push((name, value.get().to_owned()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
