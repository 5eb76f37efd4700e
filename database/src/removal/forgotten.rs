//! Sessions that were forgotten, of which nothing is written.

use foldline::ledger::SourceName;
use foldline_domain::{Session, SessionId, SessionKey};

use super::Removal;
use crate::Parameter;

/// Whether any session was ever forgotten.
pub(crate) fn any_forgotten<R: Removal>(transaction: &mut R) -> Result<bool, R::Error> {
    let found = transaction.select("SELECT 1 FROM forgotten LIMIT 1", &[], |_| Ok(()))?;
    Ok(!found.is_empty())
}

/// Whether the session with this number was forgotten. One that is stored, and only now states the id of a forgotten
/// session, is removed.
pub(crate) fn is_forgotten<R: Removal>(
    transaction: &mut R,
    source: &SourceName,
    key: SessionKey,
    stored: Option<i64>,
    facts: &Session,
) -> Result<bool, R::Error> {
    let dialect = transaction.dialect();
    let [one, two, three] = [1, 2, 3].map(|number| dialect.parameter(number));
    let name = || Parameter::Text(source.as_str().to_owned());
    let number = || Parameter::from(i64::from(key.0));
    let sql = format!("SELECT 1 FROM forgotten WHERE source = {one} AND number = {two}");
    if !transaction.select(&sql, &[name(), number()], |_| Ok(()))?.is_empty() {
        return Ok(true);
    }
    let Some(id) = facts.session_id.as_ref().map(SessionId::as_str) else { return Ok(false) };
    // The id of a stored session does not change, so that one with an id is another session.
    if let Some(session) = stored {
        let sql = format!("SELECT 1 FROM sessions WHERE id = {one} AND session_id IS NULL");
        if transaction.select(&sql, &[session.into()], |_| Ok(()))?.is_empty() {
            return Ok(false);
        }
    }
    let mut parameters = vec![name(), id.to_owned().into()];
    let mut of_agent = String::new();
    if let Some(agent) = &facts.agent {
        of_agent = format!("AND (agent IS NULL OR agent = {three})");
        parameters.push(agent.decode().into_owned().into());
    }
    let sql = format!(
        "SELECT id, source = {one} AND number IS NULL FROM forgotten
         WHERE session_id = {two} AND (anywhere OR source = {one}) {of_agent}
         ORDER BY 2 DESC LIMIT 1"
    );
    let mark =
        transaction.select(&sql, &parameters, |row| Ok((row.get::<i64>(0)?, row.get(1)?)))?;
    let Some(&(mark, is_of_this)) = mark.first() else { return Ok(false) };
    if let Some(session) = stored {
        transaction.remove_session(session)?;
    }
    let number_of_this = format!("CAST({three} AS BIGINT)");
    let sql = match is_of_this {
        true => {
            let sum = format!("source, {number_of_this}, agent, session_id, anywhere");
            let sum = dialect.sets_sum(&sum);
            format!(
                "UPDATE forgotten SET number = {number_of_this}{sum} WHERE id = {one} AND source = {two}"
            )
        }
        false => {
            let row = format!("CAST({two} AS TEXT), {number_of_this}, agent, session_id, anywhere");
            let (column, sum) = dialect.summed(&row);
            format!(
                "INSERT INTO forgotten (source, number, agent, session_id, anywhere{column})
                 SELECT {row}{sum} FROM forgotten WHERE id = {one}"
            )
        }
    };
    transaction.change(&sql, &[mark.into(), name(), number()])?;
    Ok(true)
}
