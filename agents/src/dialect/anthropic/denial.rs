//! Denied calls in the list at the end of a run.

use crate::{action::ActionMapper, prelude::*};

/// A denied call.
#[derive(Clone, Debug)]
pub struct Denial<'a> {
    call: Option<CorrId>,
    tool_name: Cow<'a, str>,
    input: Option<Raw<'a>>,
}

impl<'a> Denial<'a> {
    /// Takes the field `permission_denials`.
    pub fn take_all(object: &mut Object<'a>) -> Vec<Self> {
        let denials = object.array("permission_denials").unwrap_or_default();
        denials.into_iter().filter_map(Self::read).collect()
    }

    fn read(raw: Raw<'a>) -> Option<Self> {
        let mut object: Object<'a> = value::object(raw)?;
        Some(Self {
            call: object.corr_id("tool_use_id"),
            tool_name: object.str("tool_name").unwrap_or_default(),
            input: object.raw("tool_input"),
        })
    }

    /// Ends a denied call, unless it already has a result.
    pub fn end_call<R: CallResult>(self, map: ActionMapper, denied: R, cx: &mut Context<'_, R>) {
        let Self { call: Some(call), tool_name, input } = self else { return };
        let is_open = cx.calls().get(&call).is_some();
        if cx.calls().knows(&call) && !is_open {
            return;
        }
        if !is_open {
            let mapped = map(&tool_name, input, cx.cwd().as_deref());
            cx.call(Some(call.clone()), &tool_name, mapped, ());
        }
        cx.result(call, denied);
    }
}
