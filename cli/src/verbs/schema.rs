//! `foldline schema`: the types of what is printed, sent and stored, for other programs.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use clap::{Args, ValueEnum};
use foldline_database::sqlite::schema::SCHEMA as DATABASE;
use serde_json::{Value, json};

use crate::{
    error::Error,
    exit,
    serve::{SCHEMA, TYPES},
};

/// The options of `foldline schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// What is described
    #[arg(value_enum, default_value_t = Subject::Api)]
    name: Subject,

    /// Form of the types
    #[arg(short, long, value_enum, default_value_t = Form::Json)]
    format: Form,
}

/// What is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// All types, and what the addresses of "foldline serve" answer with them
    Api,
    /// A line of "replay --format events"
    Event,
    /// An entry of a conversation
    Entry,
    /// "replay --format conversation", and the snapshot of a stream
    Conversation,
    /// A line of "replay --format patches"; a stream sends its "patch"
    Patch,
    /// The columns of "export --format jsonl" and "parquet"
    Tables,
    /// The tables, columns and views of a database, in SQL
    Database,
}

impl Subject {
    /// The name of its type among the definitions of the schema.
    fn type_name(self) -> Option<&'static str> {
        match self {
            Self::Event => Some("LocatedEvent"),
            Self::Entry => Some("NormalizedEntry"),
            Self::Conversation => Some("Conversation"),
            Self::Patch => Some("NumberedPatch"),
            Self::Api | Self::Tables | Self::Database => None,
        }
    }
}

/// The form of the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A JSON Schema (2020-12)
    Json,
    /// Declarations for TypeScript, of all types at once
    Typescript,
}

pub(crate) fn run(args: &SchemaArgs) -> Result<u8, Error> {
    let text = match (args.format, args.name) {
        (Form::Typescript, Subject::Api) => TYPES.to_owned(),
        (Form::Typescript, _) => {
            let why = "declarations for TypeScript are printed for all types at once: \
                       foldline schema --format typescript";
            return Err(Error::WrongUse(why.to_owned()));
        }
        (Form::Json, Subject::Database) => DATABASE.to_owned(),
        (Form::Json, Subject::Tables) => {
            let header = foldline_tables::json::header().map_err(io::Error::other);
            pretty(&header.and_then(|it| Ok(serde_json::from_str(&it)?)).map_err(Error::Output)?)
        }
        (Form::Json, subject) => match subject.type_name() {
            None => SCHEMA.to_owned(),
            Some(name) => pretty(&of(name)),
        },
    };
    io::stdout().write_all(text.as_bytes()).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}

fn pretty(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// The schema of one type, with the definitions that it needs.
fn of(name: &str) -> Value {
    // A test compares the text with the types.
    let all: Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let (mut needed, mut open) = (BTreeMap::new(), vec![name.to_owned()]);
    while let Some(name) = open.pop() {
        let definition = &all["$defs"][&name];
        if needed.insert(name, definition).is_none() {
            open.extend(references(definition));
        }
    }
    json!({
        "$schema": all["$schema"],
        "title": format!("{}, {name}", all["title"].as_str().unwrap_or_default()),
        "$id": format!("{}:{name}", all["$id"].as_str().unwrap_or_default()),
        "$ref": format!("#/$defs/{name}"),
        "$defs": needed,
    })
}

/// The names of the definitions that a schema refers to.
fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str);
            let own = own.and_then(|it| it.strip_prefix("#/$defs/")).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(references)).collect()
        }
        _ => Vec::new(),
    }
}
