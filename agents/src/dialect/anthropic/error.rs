//! Messages of errors.

use crate::prelude::*;

/// The innermost message of an error, which providers wrap in `error` objects; a string is itself a message.
pub fn error_message(raw: Raw<'_>) -> Text {
    let mut innermost = raw;
    // Errors are wrapped two or three times; deeper ones are ignored.
    for _ in 0..8 {
        let Some(mut object) = value::object(innermost) else { break };
        match object.raw("error").or_else(|| object.raw("message")) {
            Some(inner) => innermost = inner,
            None => break,
        }
    }
    value::into_text(innermost)
}
