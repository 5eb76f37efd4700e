//! The values of a conversation, and their JSON forms.

mod actions_in_json;
mod equal_json;
mod ids;
mod length_of_text;
mod shape_of_entries;
mod spelling_of_text;
mod token_totals;
