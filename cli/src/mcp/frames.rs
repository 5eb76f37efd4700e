//! [`Frames`]: the messages of the protocol over standard input and output, each on a line.
//!
//! The transport of `rmcp` ignores a line that is not JSON, and leaves a client waiting for an answer.

use std::{io, sync::Arc};

use rmcp::{
    ErrorData, RoleServer,
    model::{ClientRequest, ErrorCode, GetMeta, JsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::Mutex,
};

use super::server::unfit;

/// The longest message in bytes.
const LONGEST: usize = 16 << 20;

/// The messages of a client, and the answers to it.
pub(super) struct Frames<R, W> {
    input: BufReader<R>,
    /// The beginning of the next line: reading it may be interrupted.
    line: Vec<u8>,
    /// The line is too long, and the rest of it is skipped.
    is_too_long: bool,
    output: Arc<Mutex<W>>,
    /// Whether the client has begun as the protocol states.
    has_begun: bool,
    /// The answer to a line that is not a message, until it is written.
    refusal: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin, W> Frames<R, W> {
    pub(super) fn new((input, output): (R, W)) -> Self {
        let (input, output) = (BufReader::new(input), Arc::new(Mutex::new(output)));
        Self {
            input,
            line: Vec::new(),
            is_too_long: false,
            output,
            has_begun: false,
            refusal: None,
        }
    }

    /// Reads the rest of the next line; `false` at the end of the input.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let bytes = self.input.fill_buf().await?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(bytes.len(), |end| end + 1);
            if length == 0 {
                return Ok(!self.line.is_empty() || self.is_too_long);
            }
            self.is_too_long |= self.line.len() + length > LONGEST;
            match self.is_too_long {
                true => self.line.clear(),
                false => self.line.extend(bytes.iter().take(length)),
            }
            self.input.consume(length);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Frames<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut message = serde_json::to_vec(&item)?;
            message.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&message).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = &self.refusal {
                let mut output = self.output.lock().await;
                output.write_all(refusal).await.ok()?;
                self.refusal = None;
                output.flush().await.ok()?;
            }
            if !self.read_line().await.ok()? {
                return None;
            }
            let line = std::mem::take(&mut self.line);
            let read = match std::mem::take(&mut self.is_too_long) {
                true => Err(refusal(
                    ErrorCode::INVALID_REQUEST,
                    &format!("a message has at most {LONGEST} bytes"),
                    &Value::Null,
                )),
                false => message(&line),
            };
            match read {
                Ok(Some(message)) => match too_early(&message).filter(|_| !self.has_begun) {
                    Some(refusal) => self.refusal = Some(refusal),
                    None => {
                        self.has_begun |= !is_ping(&message);
                        return Some(message);
                    }
                },
                Ok(None) => {}
                Err(refusal) => self.refusal = Some(refusal),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.shutdown().await
    }
}

/// The message on a line, or the answer to a line that is not a message. Blank lines, and notifications of an unknown
/// form, have no answer.
fn message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Vec<u8>> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Ok(Some(message));
    }
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| refusal(ErrorCode::PARSE_ERROR, &error.to_string(), &Value::Null))?;
    let is_ours = value.get("jsonrpc").is_some_and(|version| version == "2.0");
    let method = value.get("method").and_then(Value::as_str).filter(|_| is_ours);
    let stated = value.get("id");
    let id = stated.filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    match (method, stated, id) {
        (Some(_), None, _) => Ok(None),
        // JSON-RPC allows positions instead of names; the protocol does not.
        (Some(method), _, Some(id)) if value.get("params").is_some_and(Value::is_array) => {
            let ErrorData { code, message, .. } = unfit(method);
            Err(refusal(code, &message, id))
        }
        (_, _, id) => {
            let why = "it is not a request, a notification or a response of JSON-RPC 2.0";
            Err(refusal(ErrorCode::INVALID_REQUEST, why, id.unwrap_or(&Value::Null)))
        }
    }
}

/// Why a request cannot be the first one of a client, which has to begin with `initialize`. A client without that states
/// its version in each request.
fn too_early(message: &RxJsonRpcMessage<RoleServer>) -> Option<Vec<u8>> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let error = match &request.request {
        ClientRequest::InitializeRequest(_) | ClientRequest::PingRequest(_) => return None,
        ClientRequest::CustomRequest(custom) => unfit(&custom.method),
        other if other.get_meta().protocol_version().is_some() => return None,
        _ => ErrorData::invalid_request("the first request has to be initialize", None),
    };
    let id = serde_json::to_value(&request.id).unwrap_or_default();
    Some(refusal(error.code, &error.message, &id))
}

/// Whether it is a ping, which does not begin a session.
fn is_ping(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::PingRequest(_))
}

/// The line of an error. JSON-RPC requires an `id`, if only null.
fn refusal(code: ErrorCode, message: &str, id: &Value) -> Vec<u8> {
    let error = json!({ "code": code, "message": message });
    let mut line = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes();
    line.push(b'\n');
    line
}
