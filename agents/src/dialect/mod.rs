//! Elements that the logs of several agents share: functions and small types for executors, also in other crates. An
//! executor uses the matching ones and reads the rest itself.

pub mod anthropic;
pub mod gemini;
pub mod growing;
pub mod jsonrpc;
pub mod messages;
pub mod notice;
pub mod permission;
pub mod recent_map;
pub mod streamed;
pub mod textual_result;
pub mod usage;
