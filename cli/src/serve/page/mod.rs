//! The pages, and parts of them.

mod changes;
mod chart;
mod chosen;
mod dock;
mod explain;
mod frame;
mod list;
mod map;
mod now;
mod part;
mod session;
mod usage;
mod window;

use foldline_render::html::SHARED_SCRIPT;

pub(super) use self::{
    changes::changes,
    dock::{end, words},
    explain::explanation,
    frame::{failure, locked},
    list::{list, rows},
    map::map,
    now::{now, others},
    part::{part, whole},
    session::SessionPage,
    usage::{charts, usage},
    window::{Wanted, Window},
};

/// The script of the pages: that of files, and its own files, one after the other.
pub(super) fn script() -> String {
    [SCRIPT, SHARED_SCRIPT].concat()
}

const SCRIPT: &str = concat!(
    include_str!("script/frame.js"),
    include_str!("script/connection.js"),
    include_str!("script/keys.js"),
    include_str!("script/now.js"),
    include_str!("script/list.js"),
    include_str!("script/usage.js"),
    include_str!("script/gaps.js"),
    include_str!("script/changes.js"),
    include_str!("script/parts.js"),
    include_str!("script/stream.js"),
    include_str!("script/follow.js"),
    include_str!("script/place.js"),
    include_str!("script/time.js"),
    include_str!("script/explain.js"),
    include_str!("script/find.js"),
    include_str!("script/actions.js"),
    include_str!("script/views.js"),
    include_str!("script/session.js"),
    include_str!("script/start.js"),
);
