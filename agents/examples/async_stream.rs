//! A log that arrives asynchronously: tokio's `AsyncRead` in, a bounded channel out.
//!
//! The library does no I/O, so that it runs under any runtime: `Processor::push` takes bytes from any source, and
//! returns the outputs of the consumers. The caller awaits, before and after a push. Back-pressure needs nothing
//! more: while the channel is full, nothing is read.

use std::io;

use foldline::{
    processor::{Counts, Processor},
    transduce::Transducer,
};
use foldline_agents::{ExecutorReducer, Records, droid::Droid};
use foldline_domain::{
    locating,
    patch::{PatchRecord, PatchStream},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    runtime,
    sync::mpsc::{self, Sender},
};

/// Reads a log of Droid to its end, and sends its patches. Waits while the channel is full.
///
/// # Errors
/// The log cannot be read, or the receiver of the patches is closed.
pub async fn send_patches(
    mut log: impl AsyncRead + Unpin,
    patches: Sender<PatchRecord>,
) -> io::Result<Counts> {
    let reducer = locating(ExecutorReducer::new(Droid));
    let mut processor = Processor::new(Records, Transducer::new(reducer, PatchStream::default()));
    let mut buffer = vec![0; 8 << 10];
    // The outputs of one read: bounded by the buffer, and empty before the next one.
    let mut ready = Vec::new();
    loop {
        let length = log.read(&mut buffer).await?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
        processor.push(bytes, |patch| ready.push(patch));
        send(&mut ready, &patches).await?;
    }
    let counts = processor.finish(|patch| ready.push(patch)).counts;
    send(&mut ready, &patches).await?;
    Ok(counts)
}

async fn send(ready: &mut Vec<PatchRecord>, patches: &Sender<PatchRecord>) -> io::Result<()> {
    for patch in ready.drain(..) {
        patches.send(patch).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Any `AsyncRead` works: a socket, a child's output, a file.
    let log: &[u8] = include_bytes!("../../examples/session.jsonl");
    let (sender, mut receiver) = mpsc::channel(4);
    runtime::Builder::new_current_thread().build()?.block_on(async {
        let reading = tokio::spawn(send_patches(log, sender));
        while let Some(patch) = receiver.recv().await {
            println!("{}", serde_json::to_string(&patch)?);
        }
        let counts = reading.await??;
        eprintln!("{} lines, {} records", counts.lines, counts.records);
        Ok(())
    })
}
