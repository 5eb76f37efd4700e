//! The asynchronous example, with tiny reads and a slow receiver.

#[path = "../examples/async_stream.rs"]
#[allow(dead_code, unreachable_pub, reason = "its main function is not run here")]
mod example;

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use foldline::{processor::Processor, transduce::Transducer};
use foldline_agents::{ExecutorReducer, Records, droid::Droid};
use foldline_domain::{
    locating,
    patch::{PatchRecord, PatchStream},
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    runtime, spawn,
    sync::mpsc::channel,
    task::yield_now,
};

const LOG: &[u8] = include_bytes!("../../examples/session.jsonl");

/// Returns a few bytes at a time, and is pending every other time.
struct Trickle {
    read: Arc<AtomicUsize>,
    ready: bool,
}

impl AsyncRead for Trickle {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.ready = !self.ready;
        if !self.ready {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let rest = &LOG[self.read.load(Ordering::Relaxed)..];
        let bytes = &rest[..rest.len().min(7)];
        buffer.put_slice(bytes);
        self.read.fetch_add(bytes.len(), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

fn trickle() -> (Trickle, Arc<AtomicUsize>) {
    let read = Arc::default();
    (Trickle { read: Arc::clone(&read), ready: false }, read)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Lets the other tasks run until they are blocked: with one thread and no external events, this takes a bounded number
/// of turns.
async fn let_others_run() {
    for _ in 0..LOG.len() {
        yield_now().await;
    }
}

#[test]
fn a_slow_receiver_gets_everything_and_holds_up_the_reading() {
    let mut expected = Vec::new();
    let reducer = locating(ExecutorReducer::new(Droid));
    let mut processor = Processor::new(Records, Transducer::new(reducer, PatchStream::default()));
    processor.push(LOG, |patch| expected.push(patch));
    let counts = processor.finish(|patch| expected.push(patch)).counts;
    assert!(expected.len() > 10);

    let (log, read) = trickle();
    let (sender, mut receiver) = channel(1);
    let read = || read.load(Ordering::Relaxed);
    let patches: Vec<PatchRecord> = run(async {
        let reading = spawn(example::send_patches(log, sender));
        let mut patches = Vec::new();
        let_others_run().await;
        let stopped_at = read();
        // One patch is in the channel and one waits for space: nothing is read after its line.
        let begin = usize::try_from(expected[1].position.offset).unwrap();
        let line = LOG[begin..].iter().position(|byte| *byte == b'\n').unwrap();
        assert!(stopped_at > begin && stopped_at <= begin + line + 7, "{stopped_at}");
        let_others_run().await;
        assert_eq!(read(), stopped_at);
        while let Some(patch) = receiver.recv().await {
            patches.push(patch);
            yield_now().await;
        }
        assert_eq!(reading.await.unwrap().unwrap(), counts);
        patches
    });
    assert_eq!(read(), LOG.len());
    assert_eq!(patches, expected);
}

#[test]
fn a_receiver_that_leaves_ends_the_reading() {
    let (log, read) = trickle();
    let (sender, receiver) = channel(1);
    drop(receiver);
    let error = run(example::send_patches(log, sender)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    assert!(read.load(Ordering::Relaxed) < LOG.len());
}
