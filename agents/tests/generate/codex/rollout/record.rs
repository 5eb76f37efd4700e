//! Parts of records of every kind.

use foldline_testkit::generate::{
    FieldsStrategy, field, fields, json, kind, list, literal, maybe, number, object, quote, time,
};
use proptest::prelude::*;

/// The ids of [`line`](super::line): few, so that some repeat and some outputs precede their calls.
pub(super) const IDS: &[&str] = &["call_1", "call_2", "ws_3", "call_4\nfc_4", ""];

pub(super) fn common() -> FieldsStrategy {
    fields(vec![maybe("timestamp", time()), maybe("ordinal", number())])
}

pub(super) fn record(name: &'static str, payload: BoxedStrategy<String>) -> BoxedStrategy<String> {
    object(vec![kind(name), field("payload", payload), common()])
}

pub(super) fn event_of(payload: BoxedStrategy<String>) -> BoxedStrategy<String> {
    record("event_msg", payload)
}

/// The content of a message, or of an output.
pub(super) fn texts(name: &'static str) -> BoxedStrategy<String> {
    let context = Just(quote("<environment_context>\n<cwd>/</cwd>\n</environment_context>"));
    let text = prop_oneof![6 => literal(), 1 => context];
    let text = object(vec![kind(name), maybe("text", text)]);
    let image = object(vec![kind("input_image"), maybe("image_url", literal())]);
    list(prop_oneof![5 => text, 1 => image, 1 => json()].boxed())
}
