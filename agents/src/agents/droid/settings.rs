//! The settings file next to each of Droid's session files, `<session>.settings.json`. It states the model and the
//! tokens of the whole session, which the session file does not.

use std::{path::Path, sync::Arc};

use foldline::source::Opener;

use super::{result::DroidResult, types::take_usage};
use crate::{Documents, prelude::*};

/// The suffix of the file name, after the session's id.
pub(super) const ENDING: &str = ".settings.json";

/// The settings file of a session.
///
/// It is a separate log of one record, since Droid rewrites it repeatedly while the session file only grows. Its name
/// states the session. If several versions were read, a database counts the tokens of the version that states the most.
///
/// It does not state when tokens were used. They are a total, so their time is the latest possible one: that of the last
/// message in the session file.
#[derive(Clone, Debug, Default)]
pub struct DroidSettings {
    session: Option<SessionId>,
    /// The time of the last message in the session file.
    last_at: Option<Timestamp>,
}

/// The content of a settings file.
#[derive(Clone, Debug)]
pub struct Settings {
    facts: Session,
    used: Option<TokenUsage>,
}

impl Executor for DroidSettings {
    const FORMAT: Format =
        Format::new("droid-settings", "Factory Droid, settings of a session", "droid")
            .with_homes(&["~/.factory/sessions"]);
    type Line<'a> = Settings;
    type Result = DroidResult;
    type Memory = ();

    fn openers(&self) -> Vec<Arc<dyn Opener>> {
        vec![Arc::new(Documents {
            is_one: |path, _| path.to_str().is_some_and(|path| path.ends_with(ENDING)),
            recognised_by: &[],
            list: "",
            volatile: &[],
            line: 0,
        })]
    }

    fn of_file(&self, path: &Path, beside: Beside<'_>) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let session = name.strip_suffix(ENDING).filter(|session| !session.is_empty())?;
        let log = beside(&path.with_file_name(format!("{session}.jsonl"))).unwrap_or_default();
        let time = |line| Object::parse(line).ok()?.timestamp("timestamp");
        Some(Self { session: Some(session.into()), last_at: log.lines().rev().find_map(time) })
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
        // The time of the first request, the only stated time.
        let first_at = object.timestamp("providerLockTimestamp");
        header.at = self.last_at.max(first_at);
        object.ignore(&["archivedAt"]);
        let facts = Session {
            session_id: self.session.clone(),
            model: object.text("model"),
            provider: object.text("providerLock"),
            reasoning_effort: object.text("reasoningEffort"),
            duration_ms: object.u64("assistantActiveTimeMs"),
            authority: object.text("autonomyMode").map(Authority::of_mode).map(Box::new),
            ..Session::default()
        };
        Parsed::Line(Settings { facts, used: take_usage(object, "tokenUsage") })
    }

    fn line(&self, line: Settings, _: Extra, _: &mut (), cx: &mut Context<'_, DroidResult>) {
        let (model, used) = (line.facts.model.clone(), line.used.unwrap_or_default());
        // A rewritten file repeats and increases the tokens: they count once, as those of a message.
        let id = self.session.as_ref().map(|session| format!("{session}{ENDING}").into());
        // There is no conversation here, so a change of the model is not an entry.
        cx.facts.merge(cx.agent, line.facts, cx.events);
        cx.usage_of_message(id, model, used);
    }
}
