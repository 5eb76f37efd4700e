//! The settings file that lies beside each of Droid's session files, `<session>.settings.json`: the model, and the
//! tokens of the whole session, which the session file does not state.

use super::{result::DroidResult, usage};
use crate::{
    conversation::{Session, SessionId, TokenUsage},
    executors::{Context, Evidence, Executor, Extra, Format, Header, Parsed, wire::Object},
};

/// What the name of a settings file ends with. Before it stands the session's id.
const ENDING: &str = ".settings.json";

/// The settings file of a session.
///
/// It is a log of its own, of one record, since Droid writes it anew again and again while the session file only
/// grows. Which session it is of is in its name. Of several versions of it that were read, a database counts the
/// tokens of the one that states the most.
#[derive(Clone, Debug, Default)]
pub struct DroidSettings {
    session: Option<SessionId>,
}

/// What a settings file says.
#[derive(Clone, Debug)]
pub struct Settings {
    facts: Session,
    used: Option<TokenUsage>,
}

impl Executor for DroidSettings {
    const FORMAT: Format = Format {
        name: "droid-settings",
        title: "Factory Droid, settings of a session",
        agent: "droid",
        homes: &["~/.factory/sessions"],
    };
    type Line<'a> = Settings;
    type Result = DroidResult;
    type Memory = ();

    fn of_file(&self, name: &str) -> Option<Self> {
        let session = name.strip_suffix(ENDING).filter(|session| !session.is_empty())?;
        Some(Self { session: Some(session.into()) })
    }

    fn recognise(&self, object: &Object<'_>) -> Evidence {
        let is_settings = object.has_all(&["model", "autonomyMode"])
            || object.has_all(&["tokenUsage", "assistantActiveTimeMs"]);
        Evidence::certain_if(is_settings && !object.has("type"))
    }

    fn parse<'a>(&self, object: &mut Object<'a>, header: &mut Header<'a>) -> Parsed<Settings> {
        if self.recognise(object) != Evidence::Certain {
            return Parsed::Unknown;
        }
        header.name = "settings".into();
        // The only time that is stated: when the first request was made.
        header.at = object.timestamp("providerLockTimestamp");
        // How much the agent may do unasked, and whether the session is still listed.
        object.ignore(&["archivedAt", "autonomyMode"]);
        let facts = Session {
            session_id: self.session.clone(),
            model: object.text("model"),
            provider: object.text("providerLock"),
            reasoning_effort: object.text("reasoningEffort"),
            duration_ms: object.u64("assistantActiveTimeMs"),
            ..Session::default()
        };
        Parsed::Line(Settings { facts, used: usage::take_field(object, "tokenUsage") })
    }

    fn line(
        &self,
        line: Settings,
        _extra: Extra,
        _memory: &mut (),
        cx: &mut Context<'_, DroidResult>,
    ) {
        let (model, used) = (line.facts.model.clone(), line.used.unwrap_or_default());
        // A file that was written anew states the tokens again, and more: they count once, as a message's do.
        let id = self.session.as_ref().map(|session| format!("{session}{ENDING}").into());
        // Nobody says anything here, not even which model it is.
        cx.facts.merge(cx.agent, line.facts, cx.events);
        cx.usage_of_message(id, model, used);
    }
}
