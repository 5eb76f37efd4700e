//! Connections: how many there are, and for how long one may keep the server waiting.

use std::{
    future::Future,
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{Sleep, sleep},
};

/// The largest number of bytes that are buffered for a connection, in each direction. It also limits the head of a
/// request.
const BUFFER: usize = 32 << 10;

/// The back-off after `accept` fails.
const REST: Duration = Duration::from_secs(1);

/// The limits of the connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The time for the head of a request, from the beginning of the connection or from the previous answer.
    pub(super) head: Duration,
    /// The time in which a client has to take some part of an answer that is ready for it.
    pub(super) stalled: Duration,
    /// The number of connections; others wait until one has ended.
    pub(super) most: usize,
}

impl Limits {
    /// The limits of a server.
    pub(super) const USUAL: Self =
        Self { head: Duration::from_secs(15), stalled: Duration::from_secs(120), most: 900 };
}

/// Answers requests until `closed` completes, and then until the begun answers have ended.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    closed: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(BUFFER);
    let room = Arc::new(Semaphore::new(limits.most));
    let (connections, mut closed) = (GracefulShutdown::new(), pin!(closed));
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut closed => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let stream = TokioIo::new(StallTimeout::new(stream, limits.stalled));
                let service = TowerToHyperService::new(routes.clone());
                let connection = connections.watch(http.serve_connection(stream, service));
                tokio::spawn(async move {
                    // A connection that fails has no reader for the reason.
                    let _ = connection.await;
                    drop(place);
                });
            }
            Err(error) if is_of_client(&error) => {}
            // There are no file descriptors left, for example.
            Err(_) => sleep(REST).await,
        }
    }
    drop(listener);
    connections.shutdown().await;
}

/// Whether only the accepted connection failed.
fn is_of_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// A connection that fails when its client takes nothing for too long: the server holds what such a client is to
/// receive.
struct StallTimeout {
    stream: TcpStream,
    longest: Duration,
    /// The end of the wait for the client; `None` while it takes what is sent.
    end: Option<Pin<Box<Sleep>>>,
}

impl StallTimeout {
    fn new(stream: TcpStream, longest: Duration) -> Self {
        Self { stream, longest, end: None }
    }

    /// The result of a write, or an error after a long wait.
    fn watched<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.end = None;
            return written;
        }
        let longest = self.longest;
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(longest)));
        end.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for StallTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for StallTimeout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watched(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.watched(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.watched(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::pending,
        io::{Read, Write},
        net::{SocketAddr, TcpStream},
        thread,
        time::Instant,
    };

    use axum::{
        body::{Body, Bytes},
        routing::get,
    };
    use futures_util::stream::repeat;
    use tokio::runtime::Builder;

    use super::*;

    /// How long a test waits for what has to come.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// A server with these limits, which lives as long as the test program.
    fn server(limits: Limits) -> SocketAddr {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let endless = || async {
            let chunk = Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 4096]));
            Body::from_stream(repeat(chunk))
        };
        let routes =
            Router::new().route("/", get(|| async { "there" })).route("/endless", get(endless));
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                serve(listener, routes, limits, pending()).await;
            });
        });
        address
    }

    fn connect(address: SocketAddr, text: &str) -> TcpStream {
        let mut connection = TcpStream::connect(address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.write_all(text.as_bytes()).unwrap();
        connection
    }

    /// What the server sends until it ends the connection.
    fn rest(mut connection: TcpStream) -> String {
        let mut rest = Vec::new();
        // The connection may be reset; a timeout is a failure.
        if let Err(error) = connection.read_to_end(&mut rest) {
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        }
        String::from_utf8(rest).unwrap()
    }

    const SHORT: Duration = Duration::from_millis(200);

    #[test]
    fn half_a_head_ends_the_connection_and_a_whole_one_is_answered() {
        let address = server(Limits { head: SHORT, ..Limits::USUAL });
        let begun = Instant::now();
        assert_eq!(rest(connect(address, "GET / HTTP/1.1\r\nHost: a\r\nX: ")), "");
        assert_eq!(rest(connect(address, "")), "");
        assert!(begun.elapsed() >= SHORT);
        // The connection is kept for a next request, for as long.
        let answer = rest(connect(address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("there"), "{answer}");
    }

    #[test]
    fn a_client_that_reads_nothing_makes_room_for_another() {
        let address = server(Limits { stalled: SHORT, most: 1, ..Limits::USUAL });
        let stalled = connect(address, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
        let answer = rest(connect(address, "GET / HTTP/1.0\r\nHost: a\r\n\r\n"));
        assert!(answer.ends_with("there"), "{answer}");
        drop(stalled);
    }
}
