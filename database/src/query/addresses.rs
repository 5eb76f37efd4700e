//! Names of sessions that stay the same in a database that was built again from the logs, unlike the row numbers.

use std::collections::BTreeMap;

use super::SessionName;
use crate::{Row, Store, StoreError};

/// The order of the sessions of one id: the first of them has it as its name. It does not depend on row numbers.
pub(super) const ORDER: &str = "sessions.entries = 0,
    coalesce(sessions.first_at, sessions.started_at) NULLS LAST, sources.path, sessions.number";

/// The beginning of a name that is not the agent's id.
const LOG: &str = "log:";

impl SessionName {
    /// The name of the sessions in addresses: the agent's id, or else `log:NUMBER:PATH`, of a session without an id of its
    /// own, with the path of its log and its number in that.
    pub fn of_address(address: &str) -> Self {
        let of_log = address.strip_prefix(LOG).and_then(|rest| rest.split_once(':'));
        match of_log.and_then(|(key, path)| Some((key.parse().ok()?, path))) {
            Some((key, path)) => Self::InLog(path.to_owned(), key),
            None => Self::Id(address.to_owned()),
        }
    }
}

impl dyn Store + '_ {
    /// The names in addresses of the sessions with these numbers, as [`SessionName::of_address`] reads them.
    pub fn addresses(&self, numbers: &[i64]) -> Result<BTreeMap<i64, String>, StoreError> {
        if numbers.is_empty() {
            return Ok(BTreeMap::new());
        }
        let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
        let sql = format!(
            "SELECT own.id, own.session_id, log.path, own.number,
                    (SELECT sessions.id FROM sessions JOIN sources ON sources.id = sessions.source
                     WHERE sessions.session_id = own.session_id ORDER BY {ORDER} LIMIT 1)
             FROM sessions AS own JOIN sources AS log ON log.id = own.source WHERE own.id IN ({})",
            numbers.join(", ")
        );
        let named = |row: &dyn Row| {
            let (number, id): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
            let is_first = row.get::<Option<i64>>(4)? == Some(number);
            let id = id.filter(|id| is_first && can_be_name(id));
            let (path, key): (String, i64) = (row.get(2)?, row.get(3)?);
            Ok((number, id.unwrap_or_else(|| format!("{LOG}{key}:{path}"))))
        };
        Ok(self.answer(&sql, &self.parameters(), named)?.into_iter().collect())
    }
}

/// Whether an id can be a part of the path of an address: browsers remove dots, and an empty part.
fn can_be_name(id: &str) -> bool {
    !matches!(id, "" | "." | "..") && !id.starts_with(LOG)
}
