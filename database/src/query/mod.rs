//! Queries for the contents of a database, with typed rows as answers.
//!
//! Each query is a method of `dyn` [`Store`](super::Store), and fails only if the database cannot be read;
//! [`SessionFilter`] selects the sessions, the time and the rows. All SQL of the queries is in this module, for all
//! engines. Moments are milliseconds since 1970. A cost is `logged`, `estimated`
//! ([`estimate_with`](super::Store::estimate_with)) or `mixed`; a total is `None` where no log states a part of it.
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! use foldline_database::{query::{SessionFilter, SessionOrder}, sqlite::{DEFAULT_WAIT, Database}};
//!
//! let folder = tempfile::tempdir()?;
//! let database = Database::open(&folder.path().join("foldline.db"), DEFAULT_WAIT)?;
//! let filter = SessionFilter { agent: Some("claude".to_owned()), ..SessionFilter::default() };
//! let longest = database.sessions(&filter, SessionOrder::Duration)?;
//! assert!(longest.is_empty(), "nothing was ingested");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(clippy::missing_errors_doc, reason = "every query fails for the same reason")]

mod addresses;
mod authority;
mod companions;
mod entries;
mod files;
mod filter;
mod glance;
mod inputs;
mod limits;
mod project;
mod question;
mod relaxed;
mod search;
mod sessions;
mod sources;
mod sql;
mod tree;
mod usage;
mod word_search;

#[cfg(feature = "postgres")]
pub(super) use self::question::tolerance;
pub use self::{
    authority::AuthorityRow,
    entries::{FoundEntry, WarningRow},
    files::{FileRow, SessionFileRow, ToolTotals},
    filter::{Period, SessionFilter, SessionName, StateFilter},
    glance::OpenCall,
    inputs::{CommandRow, PromptRow},
    project::FolderRow,
    relaxed::{NearWord, RelaxedSearch},
    search::{MATCH, SearchTerms},
    sessions::{OutcomeRow, SessionLog, SessionOrder, SessionRow, TaskRow},
    sources::Totals,
    tree::Grouping,
};
pub(super) use self::{
    companions::with_companions,
    sql::{LATEST, sum},
    usage::counts,
};
