//! Sessions that are open in a browser or a program.
//!
//! A [`LiveSession`] is a thread that reads the log, the [`MsgStore`](foldline_domain::store::MsgStore) of which programs get
//! patches, and the [`Document`](document::Document) of which browsers get the page. It begins with the first
//! request for the session, and ends some time after the last one. Each has an epoch, a random name: numbers of
//! changes are only valid within an epoch.
//!
//! A session is read from the beginning of its log, even after a restart: the page needs each event, and the
//! growth of a message is not stored. A session whose log was deleted, or is on another machine, is read from
//! the database. The store continues it while another program adds to it, and resolves calls that were opened
//! before.
//!
//! A session that this program itself folds is not read again: [`RunningLog`] applies its events immediately.

mod document;
mod reading;
mod running_log;
mod session;
mod sessions;
mod timeline;

pub(crate) use self::running_log::RunningLog;
pub(super) use self::{
    document::{Begun, Shown},
    session::LiveSession,
    sessions::LiveSessions,
    timeline::{Mark, Moment, Step, Timeline},
};
