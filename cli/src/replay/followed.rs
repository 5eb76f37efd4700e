//! A replay that follows its log, or can be gone on with later.

use std::{
    fmt,
    io::{self, Write},
    path::Path,
};

use super::{OutputFormat, Replay, ReplayArgs, Run, shape, writer};
use crate::{
    checkpoint::{Journal, OutputFile, ReplayCheckpoint},
    error::Error,
    input::{Recognition, executor_of},
    signal::stop_flag,
    sink::{Shape, ShapeState, SinkState},
};
use foldline::{
    conversation::locating,
    emitters::{patch::PatchStream, terminal::neutralise_line},
    executors::{DynExecutor, Registry},
    processor::{Checkpoint, Processor, Snapshot},
    source::{Follow, Notice, SourceError, Step, Until},
};

pub(super) fn run(args: &ReplayArgs) -> Result<u8, Error> {
    if args.file == Path::new("-") {
        return Err(Error::WrongUse(
            "--follow and --checkpoint need the name of a file".to_owned(),
        ));
    }
    let until = match args.follow {
        true => args.idle_exit.map_or(Until::Stopped, Until::Idle),
        false => Until::EndOfFile,
    };
    let mut follow = Follow::open(&args.file, until)?;
    if args.follow {
        follow = follow.with_stop(stop_flag()?);
    }
    let (Some(checkpoint), Some(out)) = (&args.checkpoint, &args.out) else {
        let executor = recognise(args, &mut follow)?;
        let mut run = Run::new(executor, Replay::new(args, writer(args)?), args.max_line);
        read(args, &mut follow, &mut run, |_, _| Ok(()))?;
        return Ok(run.finish()?.exit_code(args));
    };
    if !matches!(args.format, OutputFormat::Patches | OutputFormat::Events) {
        return Err(Error::WrongUse(
            "--checkpoint needs --format patches or --format events".to_owned(),
        ));
    }
    let mut journal = Journal::new(checkpoint, args.checkpoint_every);
    let stored = if args.restart { None } else { journal.load()? };
    let mut output = OutputFile::open(out)?;
    let (executor, run) = match stored {
        Some(stored) => resume(args, stored, &journal, &mut follow, output)?,
        None => {
            let executor = recognise(args, &mut follow)?;
            output.begin_at(0)?;
            let run = Run::new(executor.clone(), Replay::new(args, output), args.max_line);
            (executor, run)
        }
    };
    let replay = journalled(args, &executor, &mut follow, run, &mut journal);
    Ok(replay.map_err(Error::resumable)?.exit_code(args))
}

/// Reads to the end, with a checkpoint whenever one is due; all that was written is then on the disk.
fn journalled(
    args: &ReplayArgs,
    executor: &DynExecutor,
    follow: &mut Follow,
    mut run: Run<OutputFile>,
    journal: &mut Journal,
) -> Result<Replay<OutputFile>, Error> {
    read(args, follow, &mut run, |follow, run| {
        let is_due = journal.is_due(run.processor.counts().lines);
        if is_due { save(executor, follow, run, journal) } else { Ok(()) }
    })?;
    // What the end of the log adds is cut off again when it has grown.
    save(executor, follow, &mut run, journal)?;
    let mut replay = run.finish()?;
    replay.sink.writer_mut().settle()?;
    Ok(replay)
}

/// Reads all there is; after each piece comes `between`.
fn read<W: Write>(
    args: &ReplayArgs,
    follow: &mut Follow,
    run: &mut Run<W>,
    mut between: impl FnMut(&mut Follow, &mut Run<W>) -> Result<(), Error>,
) -> Result<(), Error> {
    loop {
        between(follow, run)?;
        match follow.step()? {
            Step::Bytes(bytes) => run.push(bytes)?,
            Step::Notice(notice) => report(args, &notice),
            Step::NextFile(notice) => {
                let mut failure = None;
                run.processor.next_file(|error| failure = Some(error));
                failure.map_or(Ok(()), Err).map_err(Error::Output)?;
                report(args, &notice);
            }
            Step::End => return Ok(()),
            Step::Idle => {}
        }
    }
}

/// Says on standard error what became of the log.
fn report(args: &ReplayArgs, what: &dyn fmt::Display) {
    let line = format!("{} {what}", args.file.display());
    let _ = writeln!(io::stderr(), "foldline: {}", neutralise_line(&line));
}

/// The executor that is named, else the one for what the log begins with, as soon as that is there.
fn recognise(args: &ReplayArgs, follow: &mut Follow) -> Result<DynExecutor, Error> {
    if let Some(executor) = Registry::builtin().named(&args.executor) {
        return Ok(executor.clone());
    }
    let mut recognition = Recognition::new(args.max_line);
    loop {
        let format = match follow.step()? {
            Step::Bytes(bytes) => recognition.push(bytes),
            Step::NextFile(notice) => {
                report(args, &notice);
                let what =
                    "is read from there on: what stood before did not tell which agent wrote it";
                report(args, &what);
                recognition = Recognition::new(args.max_line);
                None
            }
            Step::Notice(notice) => {
                report(args, &notice);
                None
            }
            Step::End => match recognition.push(&[]) {
                Some(format) => Some(format),
                None => return Err(recognition.failure(&args.file)),
            },
            Step::Idle => None,
        };
        if let Some(format) = format {
            follow.seek(0)?;
            return executor_of(format, &args.file);
        }
        if recognition.is_hopeless() {
            return Err(recognition.failure(&args.file));
        }
    }
}

/// Goes on from a checkpoint, or says why that would be wrong.
fn resume(
    args: &ReplayArgs,
    stored: ReplayCheckpoint,
    journal: &Journal,
    follow: &mut Follow,
    mut output: OutputFile,
) -> Result<(DynExecutor, Run<OutputFile>), Error> {
    let Checkpoint { source, format, processor, emitter, output: written } = stored;
    let Some(executor) = Registry::builtin().named(&format).cloned() else {
        return Err(journal.refused(format!("there is no executor {format}")));
    };
    if args.executor != "auto" && args.executor != format {
        return Err(journal.refused(format!("it was made with --executor {format}")));
    }
    let shape = match (emitter.shape, args.format) {
        (ShapeState::Patches(state), OutputFormat::Patches) => {
            Shape::Patches(Box::new(PatchStream::restore(*state)))
        }
        (ShapeState::Events, OutputFormat::Events) => shape(args),
        _ => return Err(journal.refused("it was made with another --format")),
    };
    if source.read.length != processor.framer.position.offset {
        return Err(journal.refused("it contradicts itself"));
    }
    match follow.resume(&source) {
        Ok(notice) => notice.iter().for_each(|notice: &Notice| report(args, notice)),
        Err(error @ SourceError::Unrecognised { .. }) => {
            return Err(journal.refused(error.to_string()));
        }
        Err(error) => return Err(error.into()),
    }
    output.cut_back(written)?.map_err(|reason| journal.refused(reason))?;
    let mut replay = Replay::with_shape(args, output, shape);
    replay.malformed = emitter.malformed;
    let snapshot = processor
        .try_map_state(|state| state.try_map(|state| executor.restore(state.get())))
        .map_err(|error| journal.refused(format!("it is damaged: {error}")))?;
    let reducer = locating(executor.clone());
    let processor = Processor::restore(reducer, snapshot, replay, args.max_line);
    Ok((executor, Run { processor }))
}

/// Stores how far the log was read, once everything that was made of it is on the disk.
fn save(
    executor: &DynExecutor,
    follow: &mut Follow,
    run: &mut Run<OutputFile>,
    journal: &mut Journal,
) -> Result<(), Error> {
    let Run { processor } = run;
    let offset = processor.position().offset;
    let Some(source) = follow.identity(offset)? else {
        // The file was cut meanwhile, which the next look finds.
        return Ok(());
    };
    let replay = processor.emitter_mut();
    replay.sink.flush().map_err(Error::Output)?;
    let output = replay.sink.writer_mut().settle()?;
    let malformed = replay.malformed;
    let Some(shape) = replay.sink.state() else { return Ok(()) };
    let Snapshot { framer, counts, state, emitter: () } = processor.snapshot();
    journal.write(&Checkpoint {
        source,
        format: executor.format().name.to_owned(),
        processor: Snapshot { framer, counts, state, emitter: () },
        emitter: SinkState { malformed, shape },
        output,
    })
}
