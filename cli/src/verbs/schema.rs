//! `foldline schema`: the types of documents and patches, for other languages.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::{
    error::Error,
    exit,
    serve::{SCHEMA, TYPES},
};

/// The options of `foldline schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Form of the types
    #[arg(short, long, value_enum, default_value_t = Form::Json)]
    format: Form,
}

/// The form of the types.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// A JSON Schema (2020-12)
    Json,
    /// Declarations for TypeScript
    Typescript,
}

pub(crate) fn run(args: &SchemaArgs) -> Result<u8, Error> {
    let types = match args.format {
        Form::Json => SCHEMA,
        Form::Typescript => TYPES,
    };
    io::stdout().write_all(types.as_bytes()).map_err(Error::Output)?;
    Ok(exit::SUCCESS)
}
