//! [`SessionFilter`]: selects the sessions of an answer.

use foldline_domain::{Allowed, Timestamp};

use super::{
    companions::{COMPANIONS, fact, is_whole, repeated, whole},
    project::project,
    sql::{LATEST, WAITING, like},
    tree::Grouping,
    word_search::WordSearch,
};
use crate::parameters::Parameters;

/// A half-open time range, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first moment.
    pub start: i64,
    /// The first moment after the range.
    pub end: i64,
}

impl Period {
    /// All time.
    pub const ALL: Self = Self { start: i64::MIN, end: i64::MAX };

    /// Whether the range contains a moment. An unknown moment is only in the unlimited range.
    pub fn has(self, at: Option<Timestamp>) -> bool {
        self == Self::ALL || at.is_some_and(|at| (self.start..self.end).contains(&at.as_millis()))
    }
}

impl Default for Period {
    fn default() -> Self {
        Self::ALL
    }
}

/// Selects the sessions of an answer: those that match all given conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// The agent's name begins with this, in upper or lower case.
    pub agent: Option<String>,
    /// The agent's whole name.
    pub agent_name: Option<String>,
    /// The name of the project, or a folder or whole parts of its path, in upper or lower case.
    pub project: Option<String>,
    /// The project or the folder is one of these paths, or below one of them; empty for any folder.
    pub folders: Vec<String>,
    /// The name of a model that was used has this part, in upper or lower case.
    pub model: Option<String>,
    /// The branch of the version control.
    pub branch: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// The machine of its log.
    pub host: Option<String>,
    /// The user whose log it is there.
    pub user: Option<String>,
    /// What the agent was allowed to do without asking, at some time.
    pub allowed: Option<Allowed>,
    /// The session's name.
    pub name: Option<SessionName>,
    /// Text in the title or the folder, the agent's id of the session, or beginnings of words of an entry.
    pub text: Option<String>,
    /// How the session ended, or that it is running.
    pub state: Option<StateFilter>,
    /// The session was active in this time; only entries of this time are chosen.
    pub period: Period,
    /// Only sessions with entries.
    pub is_listed: bool,
    /// What a row of the answer stands for.
    pub grouping: Grouping,
    /// The number of rows to skip.
    pub offset: usize,
    /// The largest number of rows; `None` for all.
    pub limit: Option<usize>,
}

/// What selects one session or a few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionName {
    /// Their numbers in the database, or those of rows that belong to them.
    Numbers(Vec<i64>),
    /// The number of a session, for the one that a person began, of which it is a part, and all parts of that.
    TreeOf(i64),
    /// The agent's id of the session.
    Id(String),
    /// The beginning of the agent's id.
    IdBegins(String),
    /// The path of one of its logs.
    Log(String),
    /// The path of its log, and its number in that.
    InLog(String, i64),
    /// A part of its title, in upper or lower case.
    Title(String),
}

/// How a session ended, or that it is running, which the last growth of its log indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateFilter {
    /// It failed, as its log states.
    Failed,
    /// No end is stated, and the log grew after this moment.
    RunningSince(i64),
    /// The same, and a call waits for a person.
    WaitingSince(i64),
    /// It did not fail, and the log did not grow after this moment.
    DoneBefore(i64),
}

impl SessionFilter {
    /// The sessions of a task.
    pub fn of_task(task: &str) -> Self {
        Self { task: Some(task.to_owned()), ..Self::default() }
    }

    /// A condition on a row of `sessions` joined to the [`heads`](super::tree), which excludes
    /// [companions](super::companions) and what belongs to another row.
    pub(super) fn sessions(&self, parameters: &mut Parameters) -> String {
        let members = Self { state: None, is_listed: false, ..self.clone() }.matches(parameters);
        let mut all = vec![is_whole(), self.grouping.any(members)];
        all.extend(self.state.map(|state| state.sql("written", "waiting > 0", parameters)));
        if self.is_listed {
            all.push("sessions.entries > 0".to_owned());
        }
        all.join(" AND ")
    }

    /// A condition on a row of `sessions`.
    pub(super) fn matches(&self, parameters: &mut Parameters) -> String {
        let mut all = Vec::new();
        let mut when = |value: Option<String>, condition: &dyn Fn(&str) -> String| {
            all.extend(value.map(|value| condition(&parameters.add(value))));
        };
        when(self.agent_name.clone(), &|name| format!("agent = {name}"));
        when(self.branch.clone(), &|branch| format!("{} = {branch}", fact("branch")));
        when(self.task.clone(), &|task| format!("task = {task}"));
        let of_source = |column: &str, value: &str| {
            format!("sessions.source IN (SELECT id FROM sources WHERE {column} = {value})")
        };
        when(self.host.clone(), &|host| of_source("host", host));
        when(self.user.clone(), &|user| of_source("user_name", user));
        when(self.agent.clone(), &|agent| format!("instr(lower(agent), lower({agent})) = 1"));
        // A folder that the agent worked in is that of the project, or in it.
        when(self.project.as_deref().map(named), &|name| {
            let of = |path: &str| {
                let parts = format!("lower('/' || trim(replace({path}, '\\', '/'), '/') || '/')");
                format!("{parts} LIKE {name} ESCAPE '\\'")
            };
            format!("({} OR {})", of(&project()), of(&fact("cwd")))
        });
        when(self.model.clone(), &|model| {
            let has = |used: &str| format!("instr(lower({used}), lower({model})) > 0");
            format!(
                "({latest} OR EXISTS (
                     SELECT 1 FROM message_usage AS used WHERE used.session = sessions.id AND {used}
                 ) OR EXISTS (
                     SELECT 1 FROM {COMPANIONS} AS pairs JOIN message_usage AS used ON used.session = pairs.companion
                     WHERE pairs.session = sessions.id AND {used}))",
                latest = has(&fact("model")),
                used = has("used.model"),
            )
        });
        all.extend(self.allowed.map(|allowed| {
            let allowed = parameters.add(allowed.as_str().to_owned());
            let stated = whole("authority.session");
            format!("sessions.id IN (SELECT {stated} FROM authority WHERE allowed = {allowed})")
        }));
        all.extend(self.name.as_ref().map(|name| {
            let named = name.sql(parameters);
            match self.grouping {
                Grouping::Sessions => named,
                Grouping::Trees => format!(
                    "({named} OR sessions.id IN (SELECT session FROM trees WHERE root IN (
                         SELECT sessions.id FROM sessions WHERE {named})))"
                ),
            }
        }));
        if !self.folders.is_empty() {
            all.push(is_below(&self.folders, parameters));
        }
        if let Some(text) = &self.text {
            all.push(has_text(text, parameters));
        }
        if let Some(state) = self.state {
            let written = "(SELECT modified_at FROM sources WHERE sources.id = sessions.source)";
            let waiting = format!(
                "EXISTS (SELECT 1 FROM tool_calls WHERE session = sessions.id AND {WAITING})"
            );
            all.push(state.sql(written, &waiting, parameters));
        }
        if self.period != Period::ALL {
            let (start, end) = (parameters.add(self.period.start), parameters.add(self.period.end));
            all.push(format!(
                "{LATEST} >= {start} AND coalesce(first_at, started_at, {LATEST}) < {end}"
            ));
        }
        if self.is_listed {
            all.push("sessions.entries > 0".to_owned());
        }
        if all.is_empty() { "true".to_owned() } else { all.join(" AND ") }
    }

    /// A condition on rows of `sessions` and on the moment of an entry.
    pub(super) fn entries(&self, parameters: &mut Parameters) -> String {
        let sessions =
            format!("{} AND sessions.id NOT IN ({})", self.matches(parameters), repeated());
        match self.period {
            Period::ALL => sessions,
            Period { start, end } => {
                let (start, end) = (parameters.add(start), parameters.add(end));
                format!("{sessions} AND timestamp >= {start} AND timestamp < {end}")
            }
        }
    }

    /// The end of a query whose rows it limits.
    pub(super) fn rows(&self, parameters: &mut Parameters) -> String {
        let number = |number| i64::try_from(number).unwrap_or(i64::MAX);
        let limit = parameters.add(self.limit.map_or(i64::MAX, number));
        format!("LIMIT {limit} OFFSET {}", parameters.add(number(self.offset)))
    }

    /// Whether the filter matches the usage of a model.
    pub fn admits_model(&self, model: Option<&str>) -> bool {
        self.model.as_ref().is_none_or(|asked| {
            model.is_some_and(|model| model.to_lowercase().contains(&asked.to_lowercase()))
        })
    }
}

impl StateFilter {
    /// A condition on a row of `sessions`, from the moment when a log of it was written and whether a call waits.
    pub(super) fn sql(self, written: &str, waiting: &str, parameters: &mut Parameters) -> String {
        let (outcome, failed) = (fact("outcome"), "('failed', 'limit_reached', 'cancelled')");
        match self {
            Self::Failed => format!("{outcome} IN {failed}"),
            Self::RunningSince(since) => {
                format!("{outcome} IS NULL AND {written} > {}", parameters.add(since))
            }
            Self::WaitingSince(since) => {
                let since = parameters.add(since);
                format!("{outcome} IS NULL AND {written} > {since} AND {waiting}")
            }
            Self::DoneBefore(since) => format!(
                "{written} <= {} AND coalesce({outcome}, '') NOT IN {failed}",
                parameters.add(since)
            ),
        }
    }
}

impl From<i64> for SessionName {
    fn from(number: i64) -> Self {
        Self::Numbers(vec![number])
    }
}

impl SessionName {
    /// A condition on a row of `sessions`.
    fn sql(&self, parameters: &mut Parameters) -> String {
        match self {
            Self::Numbers(numbers) => {
                let ids = numbers.iter().map(|number| whole(&parameters.add(*number)));
                format!("sessions.id IN ({})", ids.collect::<Vec<_>>().join(", "))
            }
            Self::TreeOf(session) => format!(
                "sessions.id IN (SELECT session FROM trees WHERE root IN (
                     SELECT root FROM trees WHERE session = {}))",
                whole(&parameters.add(*session))
            ),
            Self::Id(id) => format!("session_id = {}", parameters.add(id.clone())),
            Self::IdBegins(id) => {
                let id = parameters.add(id.clone());
                format!("substr(session_id, 1, length({id})) = {id}")
            }
            Self::Log(path) => {
                format!(
                    "sessions.id IN (SELECT {} FROM sessions AS named JOIN sources ON sources.id = named.source
                                     WHERE path = {})",
                    whole("named.id"),
                    parameters.add(path.clone())
                )
            }
            Self::InLog(path, key) => {
                format!(
                    "sessions.id = (SELECT {} FROM sessions AS named JOIN sources ON sources.id = named.source
                                    WHERE path = {} AND named.number = {})",
                    whole("named.id"),
                    parameters.add(path.clone()),
                    parameters.add(*key)
                )
            }
            Self::Title(part) => {
                format!(
                    "has_text({}, {})",
                    parameters.dialect.title("sessions"),
                    parameters.add(part.clone())
                )
            }
        }
    }
}

/// A condition on a row of `sessions`: its project or its folder is one of these, or below one of them.
fn is_below(folders: &[String], parameters: &mut Parameters) -> String {
    let paths = [project(), fact("cwd")].map(|path| format!("replace({path}, '\\', '/') || '/'"));
    let conditions = folders.iter().flat_map(|folder| {
        let folder = parameters.add(below(folder));
        paths.each_ref().map(|path| format!("substr({path}, 1, length({folder})) = {folder}"))
    });
    format!("({})", conditions.collect::<Vec<_>>().join(" OR "))
}

/// A path with a slash at its end, so that a path below it begins with it.
fn below(path: &str) -> String {
    format!("{}/", path.replace('\\', "/").trim_end_matches('/'))
}

/// A pattern for paths between slashes, so that only whole parts match: a name is the last part, an absolute path is the
/// first parts, and another path any parts.
fn named(project: &str) -> String {
    let path = project.replace('\\', "/").to_lowercase();
    let parts = like(path.trim_matches('/'));
    let before = if path.starts_with('/') { "" } else { "%" };
    let after = if path.contains('/') { "%" } else { "" };
    format!("{before}/{parts}/{after}")
}

fn has_text(text: &str, parameters: &mut Parameters) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(str::to_owned).collect();
    let (text, title) = (parameters.add(text.to_owned()), parameters.dialect.title("sessions"));
    let of_words = match words.is_empty() {
        true => String::new(),
        false => {
            let WordSearch { from, condition, .. } = WordSearch::beginnings(&words, parameters);
            format!("OR sessions.id IN (SELECT entries.session FROM {from} WHERE {condition})")
        }
    };
    format!(
        "(has_text({title}, {text}) OR has_text({cwd}, {text}) OR session_id = {text} {of_words})",
        cwd = fact("cwd")
    )
}
