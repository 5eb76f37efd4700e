//! What is stated about the limits of an account.

use foldline_domain::Limit;

use crate::{Store, StoreError};

impl dyn Store + '_ {
    /// The latest statement about each limit of an account, in any session or outside of all of them, by name; also those
    /// whose window [has ended](Limit::is_over). The name of the agent begins with `agent`, in upper or lower case, as in
    /// [`SessionFilter::agent`](super::SessionFilter::agent).
    pub fn limits(&self, agent: &str) -> Result<Vec<Limit>, StoreError> {
        let mut parameters = self.parameters();
        let agent = parameters.add(agent.to_owned());
        let sql = format!(
            "SELECT name, used_percent, window_minutes, resets_at, at
             FROM (SELECT name, used_percent, window_minutes, resets_at, at,
                          row_number() OVER (PARTITION BY agent, name ORDER BY at DESC NULLS LAST, id DESC) AS age
                   FROM limits WHERE instr(lower(agent), lower({agent})) = 1) AS stated
             WHERE age = 1 ORDER BY name"
        );
        self.answer(&sql, &parameters, |row| row.limit(0))
    }
}
