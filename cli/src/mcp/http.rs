//! The server over HTTP, next to the pages of `foldline serve`.

use std::sync::Arc;

use foldline_domain::pricing::Prices;
use jiff::tz::TimeZone;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio::sync::Semaphore;

use super::{
    answers::{Answers, Open},
    project::Project,
    server::McpServer,
};
use crate::program::Program;

/// A service that answers each request by itself, without sessions. The caller guards it: it has to check the host,
/// the origin and the token of each request.
pub(crate) fn service(
    program: &Program,
    open: Open,
    (prices, zone): (Arc<Prices>, TimeZone),
    turns: Arc<Semaphore>,
) -> StreamableHttpService<McpServer, NeverSessionManager> {
    let program = program.clone();
    let answers = Arc::new(Answers { program, open, prices, zone, redacts: false, turns });
    let server = McpServer::new(answers, Project::Far);
    let mut config = StreamableHttpServerConfig::default().disable_allowed_hosts();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.max_request_body_bytes = MOST_REQUEST;
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

/// The largest request in bytes.
const MOST_REQUEST: usize = 64 << 10;
