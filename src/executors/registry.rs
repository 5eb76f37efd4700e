//! [`Executor`]: any of the executors, chosen when the program runs.
//!
//! Adding an agent is its folder and one line in the registry at the end of this file.

use serde::{Deserialize, Serialize};

use super::{Format, wire::Record};
use crate::{
    conversation::{DomainEvent, WarningKind},
    transduce::{Batch, Reducer},
};

macro_rules! registry {
    ($($format:ident => $module:ident :: { $reducer:ident, $state:ident };)*) => {
        /// Any of the executors. A [`Reducer`] over [`Record`]s, like each of them over its own lines.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum Executor {
            $(
                #[doc = concat!("[`", stringify!($reducer), "`](super::", stringify!($module), "::", stringify!($reducer), ").")]
                $format(super::$module::$reducer),
            )*
        }

        /// The state of any of the executors.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum ExecutorState {
            $(
                #[doc = concat!("[`", stringify!($state), "`](super::", stringify!($module), "::", stringify!($state), ").")]
                $format(Box<super::$module::$state>),
            )*
        }

        impl Executor {
            /// The formats that there is an executor for.
            pub const FORMATS: &'static [Format] = &[$(Format::$format),*];

            /// The executor for a format, if there is one yet.
            pub fn of(format: Format) -> Option<Self> {
                match format {
                    $(Format::$format => Some(Self::$format(super::$module::$reducer::default())),)*
                    _ => None,
                }
            }

            /// The format that this executor reads.
            pub fn format(&self) -> Format {
                match self {
                    $(Self::$format(_) => Format::$format,)*
                }
            }
        }

        impl<'a> Reducer<Record<'a>, ExecutorState, DomainEvent> for Executor {
            fn init(&self) -> ExecutorState {
                match self {
                    $(Self::$format(reducer) => ExecutorState::$format(reducer.init()),)*
                }
            }

            fn reduce(
                &self,
                state: ExecutorState,
                record: Record<'a>,
            ) -> (ExecutorState, Batch<DomainEvent>) {
                match (self, state) {
                    $((Self::$format(reducer), ExecutorState::$format(state)) => {
                        let (state, events) = reducer.reduce(state, record.into());
                        (ExecutorState::$format(state), events)
                    })*
                    #[allow(unreachable_patterns)]
                    (_, state) => (state, Batch::from(foreign_state())),
                }
            }

            fn finish(&self, state: ExecutorState) -> (ExecutorState, Batch<DomainEvent>) {
                match (self, state) {
                    $((Self::$format(reducer), ExecutorState::$format(state)) => {
                        let (state, events) = reducer.finish(state);
                        (ExecutorState::$format(state), events)
                    })*
                    #[allow(unreachable_patterns)]
                    (_, state) => (state, Batch::from(foreign_state())),
                }
            }
        }
    };
}

/// A reducer does not panic, and a state of another executor has no meaning to this one.
fn foreign_state() -> DomainEvent {
    let message = "the state belongs to another executor, so the record was not read";
    DomainEvent::warning(WarningKind::ForeignRecord, message)
}

registry! {
    ClaudeStream => claude::{ClaudeStreamReducer, ClaudeStreamState};
    ClaudeSession => claude::{ClaudeSessionReducer, ClaudeSessionState};
    Droid => droid::{DroidReducer, DroidState};
    DroidSession => droid::{DroidSessionReducer, DroidSessionState};
    CodexExec => codex::{CodexExecReducer, CodexExecState};
    CodexRollout => codex::{CodexRolloutReducer, CodexRolloutState};
}
