//! The project of a session: the root of the repository that it worked in.

use super::companions::fact;
use crate::{Store, StoreError};

/// The project of a row of `sessions`: that of its folder, or else the folder; `NULL` if no folder is known.
pub(super) fn project() -> String {
    let folder = fact("cwd");
    format!("coalesce((SELECT project FROM folders WHERE folder = {folder}), {folder})")
}

/// A folder that agents worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderRow {
    /// Its path, as logs state it.
    pub folder: String,
    /// The root of its repository.
    pub project: String,
    /// The root of the work tree of the repository that it is in, which may be the project itself.
    pub tree: String,
}

impl dyn Store + '_ {
    /// The projects with sessions.
    pub fn projects(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT coalesce(project, cwd) AS project
                   FROM sessions LEFT JOIN folders ON folder = cwd WHERE cwd IS NOT NULL ORDER BY 1";
        self.answer(sql, &self.parameters(), |row| row.get(0))
    }

    /// The folders that agents worked in, each with its project, if that is known.
    pub fn folders(&self) -> Result<Vec<(String, Option<String>)>, StoreError> {
        let sql = "SELECT DISTINCT cwd, project FROM sessions LEFT JOIN folders ON folder = cwd
                   WHERE cwd IS NOT NULL ORDER BY 1";
        self.answer(sql, &self.parameters(), |row| Ok((row.get(0)?, row.get(1)?)))
    }
}
