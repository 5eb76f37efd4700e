//! Sizes of entries, which bound the memory that a hostile log can use.

use foldline::processor::HeapSize;
use foldline_json::{Json, Text};

use super::{
    action::{ActionType, FileChange, TodoItem},
    content::Image,
    entry::{Metadata, NormalizedEntry, NormalizedEntryType},
    event::{DomainEvent, Warning},
    limit::Limit,
    session::{RecordTitle, Session},
};

/// A part of an entry whose length depends on the log.
pub(crate) enum Part<'e> {
    Text(&'e Text),
    Json(&'e Json),
}

impl Part<'_> {
    /// Its length in bytes. It does not depend on escapes, so it is the same after storing and reading.
    fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.length(),
            Self::Json(json) => json.get().len(),
        }
    }

    /// Its size in memory in bytes; cheaper to compute than its length.
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.size(),
            Self::Json(json) => json.get().len(),
        }
    }
}

/// The length of pictures in bytes, with the overhead of storing them.
pub(super) fn length_of_images(images: &[Image]) -> usize {
    let length = |image: &Image| size_of::<Image>() + image.data.as_ref().map_or(0, Text::length);
    images.iter().map(length).sum()
}

/// The length of the values of extra fields in bytes.
pub fn length_of_extra(extra: &[(String, Json)]) -> usize {
    extra.iter().map(|(_, json)| json.get().len()).sum()
}

impl NormalizedEntry {
    /// Its length in bytes, with the overhead of storing it.
    pub fn length(&self) -> usize {
        // The overhead of the structures, which exceeds the texts of a short call.
        let mut length = 1024;
        self.each_part(|part| length += part.length());
        if let NormalizedEntryType::ToolUse(tool) = &self.entry_type {
            length += tool.action_type.parts() * size_of::<TodoItem>();
        }
        let images = self.metadata.as_ref().map_or(0, |metadata| metadata.images.len());
        length + images * size_of::<Image>()
    }

    /// The length of its texts in bytes.
    pub fn size(&self) -> usize {
        let mut size = 0;
        self.each_part(|part| size += part.size());
        size
    }

    /// Its approximate size in memory in bytes, where it is shared.
    fn shared_size(&self) -> usize {
        let metadata = self.metadata.as_ref().map_or(0, |metadata| {
            let extra = metadata.extra.iter();
            let extra: usize =
                extra.map(|(name, _)| size_of::<(Box<str>, Json)>() + name.len()).sum();
            size_of::<Metadata>() + extra + metadata.images.len() * size_of::<Image>()
        });
        let parts = self.tool().map_or(0, |tool| tool.action_type.parts() * size_of::<TodoItem>());
        2 * size_of::<usize>() + size_of::<Self>() + metadata + parts + self.size()
    }

    fn each_part(&self, mut each: impl FnMut(Part<'_>)) {
        each(Part::Text(&self.content));
        match &self.entry_type {
            NormalizedEntryType::ToolUse(tool) => tool.action_type.each_part(&mut each),
            NormalizedEntryType::ModelChange { model } => each(Part::Text(model)),
            _ => {}
        }
        for (_, json) in self.metadata.iter().flat_map(|metadata| metadata.extra.iter()) {
            each(Part::Json(json));
        }
        for image in self.metadata.iter().flat_map(|metadata| &metadata.images) {
            [Some(&image.media_type), image.data.as_ref()]
                .into_iter()
                .flatten()
                .for_each(|text| each(Part::Text(text)));
        }
    }
}

impl HeapSize for DomainEvent {
    /// It includes an entry that the event shares with others.
    fn heap_size(&self) -> usize {
        let texts = match self {
            Self::NewEntry { entry }
            | Self::OpenEntry { entry, .. }
            | Self::NewToolCall { entry, .. }
            | Self::UpdateToolCall { entry, .. }
            | Self::CloseEntry { entry: Some(entry), .. } => entry.shared_size(),
            Self::GrowEntry { text, .. } => text.size(),
            Self::Warning(warning) => {
                let sample = warning.sample.as_ref().map_or(0, |sample| sample.get().len());
                let subject = warning.subject.as_ref().map_or(0, String::len);
                size_of::<Warning>() + warning.message.len() + subject + sample
            }
            Self::Session(session) => session.size(),
            Self::CloseEntry { entry: None, .. } | Self::Usage { .. } | Self::SessionEnded => 0,
        };
        size_of::<Self>() + texts
    }
}

impl Session {
    /// Its approximate size in memory in bytes.
    pub fn size(&self) -> usize {
        let Self { agent, version, model, provider, reasoning_effort, cwd, title, .. } = self;
        let texts = [agent, version, model, provider, reasoning_effort, cwd, title];
        let authority = self.authority.iter().flat_map(|authority| authority.texts()).flatten();
        let texts = texts.into_iter().chain([&self.outcome_reason]).flatten().chain(authority);
        let tools = self.tools.iter().flatten();
        let limits = self.limits.iter().flatten();
        let titles = self.record_titles.iter().flatten();
        size_of::<Self>()
            + texts.map(Text::size).sum::<usize>()
            + tools.map(|tool| size_of::<Text>() + tool.size()).sum::<usize>()
            + limits.map(|limit| size_of::<Limit>() + limit.name.size()).sum::<usize>()
            + titles.map(|it| size_of::<RecordTitle>() + it.title.size()).sum::<usize>()
    }
}

impl ActionType {
    /// The length of its parts in bytes.
    pub fn length(&self) -> usize {
        let mut length = 0;
        self.each_part(|part| length += part.length());
        length
    }

    /// The number of its parts in lists.
    fn parts(&self) -> usize {
        match self {
            Self::FileEdit { changes, .. } => changes.len(),
            Self::TodoManagement { todos, .. } => todos.len(),
            Self::Question { questions, .. } => questions.len(),
            _ => 0,
        }
    }

    fn each_part(&self, mut each: impl FnMut(Part<'_>)) {
        self.each_argument(&mut each);
        if let Self::TodoManagement { operation, .. } = self {
            each(Part::Text(operation));
        }
        self.result().map(|it| it.map_or_else(Part::Json, Part::Text)).into_iter().for_each(each);
    }

    /// The parts of what the tool was called with.
    pub(super) fn each_argument(&self, mut each: impl FnMut(Part<'_>)) {
        let mut text = |text: &Text| each(Part::Text(text));
        match self {
            Self::FileRead { path: input, .. }
            | Self::CommandRun { command: input, .. }
            | Self::Search { query: input, .. }
            | Self::WebFetch { url: input, .. }
            | Self::PlanPresentation { plan: input, .. } => text(input),
            Self::FileEdit { path, changes, .. } => {
                text(path);
                changes.iter().flat_map(texts_of_change).for_each(text);
            }
            Self::TodoManagement { todos, .. } => {
                todos.iter().flat_map(texts_of_todo).for_each(text);
            }
            Self::TaskCreate { description, prompt, subagent_type, .. } => {
                text(description);
                prompt.iter().chain(subagent_type).for_each(text);
            }
            Self::Question { questions, .. } => questions.iter().for_each(text),
            Self::Tool { tool_name, arguments, .. } => {
                text(tool_name);
                arguments.iter().for_each(|arguments| each(Part::Json(arguments)));
            }
        }
    }
}

fn texts_of_change(change: &FileChange) -> impl Iterator<Item = &Text> {
    let second = match change {
        FileChange::Write { content: second, .. }
        | FileChange::Edit { unified_diff: second, .. }
        | FileChange::Rename { new_path: second, .. } => Some(second),
        FileChange::Delete { .. } => None,
    };
    std::iter::once(change.path()).chain(second)
}

fn texts_of_todo(todo: &TodoItem) -> impl Iterator<Item = &Text> {
    [&todo.content, &todo.status].into_iter().chain(&todo.priority)
}
