//! [`Guard`]: access control for requests, and the browser permissions of responses.
//!
//! - A request must name this server as its `Host`: an address, `localhost` or an allowed name, with the right
//!   port. This blocks pages of other sites whose name resolves to this machine (DNS rebinding).
//! - A request from another site (`Origin`, `Sec-Fetch-Site`) is rejected, unless the user follows a link, or allowed the
//!   site to read the API.
//! - If other machines can connect, a token is required. The printed link contains it, unless a file states it, and then a
//!   cookie that is not readable by scripts and not sent by other sites.
//! - Only `GET` and `HEAD` are allowed, and `POST` of questions to [`QUESTIONS`]: nothing can be changed. A machine with a
//!   token of its own can send its logs below [`PUSH`], and read nothing.
//! - A page may load only the style sheet and the script of this server ([`POLICY`]).

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    address::reachable, args::Access, failed::Failed, receive::PUSH,
    schema::VERSION as SCHEMA_VERSION, token::Token,
};
use crate::error::Error;

/// The content security policy of the pages.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Where questions of the Model Context Protocol are posted.
pub(super) const QUESTIONS: &str = "/mcp";

/// The access rules.
#[derive(Clone)]
pub(super) struct Guard(Arc<Rules>);

struct Rules {
    address: SocketAddr,
    hosts: Vec<String>,
    /// Other sites whose pages may read the API.
    origins: Vec<HeaderValue>,
    token: Option<Token>,
    /// The link contains the token.
    is_printed: bool,
    cookie: String,
}

impl Guard {
    /// The rules for a server with this address.
    pub(super) fn new(address: SocketAddr, access: &Access) -> Result<Self, Error> {
        let needs_token = access.token || !address.ip().is_loopback();
        let token = match &access.token_file {
            Some(file) => Some(Token::read(file)?),
            None => needs_token.then(Token::random).transpose()?,
        };
        let is_printed = access.token_file.is_none();
        let hosts = access.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        let origins = access.origins.iter().filter_map(|origin| origin.parse().ok()).collect();
        // Cookies are shared between ports, and several servers may run on this machine.
        let cookie = format!("foldline_{}", address.port());
        Ok(Self(Arc::new(Rules { address, hosts, origins, token, is_printed, cookie })))
    }

    /// The link to open.
    pub(super) fn link(&self) -> String {
        let Rules { address, token, is_printed, .. } = &*self.0;
        let address = reachable(*address);
        let token = token.as_ref().filter(|_| *is_printed);
        let token = token.map(|token| format!("?token={token}")).unwrap_or_default();
        format!("http://{address}/{token}")
    }
}

impl Rules {
    /// Whether a request names this server.
    fn is_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        let name = authority.host().to_ascii_lowercase();
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let is_known = name == "localhost"
            || self.hosts.contains(&name)
            || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || self.token.is_some());
        is_known && !host.contains('@') && authority.port_u16().unwrap_or(80) == self.address.port()
    }

    /// Whether a page of this server sent the request, or no page.
    fn is_own(headers: &HeaderMap, host: &str) -> bool {
        // A value that is not text is not allowed below.
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let is_same = text("origin").is_none_or(|origin| {
            origin.strip_prefix("http://").is_some_and(|own| own.eq_ignore_ascii_case(host))
        });
        let is_near = match text("sec-fetch-site") {
            None | Some("same-origin" | "none") => true,
            // The user follows a link to this server.
            Some(_) => {
                text("sec-fetch-mode") == Some("navigate")
                    && text("sec-fetch-dest") == Some("document")
            }
        };
        is_same && is_near
    }

    /// The allowed site whose page asks the API.
    fn site(&self, request: &Request) -> Option<&HeaderValue> {
        let mut stated = request.headers().get_all(header::ORIGIN).iter();
        let origin = stated.next().filter(|_| request.uri().path().starts_with("/api/"))?;
        self.origins.iter().find(|site| *site == origin).filter(|_| stated.next().is_none())
    }

    /// The response to the question of a browser whether a page of an allowed site may ask.
    fn permission(&self, request: &Request) -> Option<Response> {
        let asks = *request.method() == Method::OPTIONS && self.site(request).is_some();
        let headers = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, last-event-id"),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
            // Of a public site, for this machine.
            (header::HeaderName::from_static("access-control-allow-private-network"), "true"),
        ];
        asks.then(|| (StatusCode::NO_CONTENT, headers).into_response())
    }

    /// Whether the request contains the token.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if bearer.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|it| token.is(it)) {
            return true;
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(name, value)| name == self.cookie && token.is(value))
    }

    /// The response to the printed link: the token becomes a cookie. The page then reloads itself, since the
    /// browser does not send the cookie with a link that another program opened.
    fn welcome(&self, request: &Request) -> Option<Response> {
        let query = request.uri().query()?;
        let token = self.token.as_ref()?;
        let given = query.split('&').find_map(|part| part.strip_prefix("token="))?;
        if !token.is(given) || request.uri().path() != "/" {
            return None;
        }
        let cookie = format!("{}={token}; HttpOnly; SameSite=Strict; Path=/", self.cookie);
        let page = "<!DOCTYPE html><title>Foldline</title><a href=\"/\">Foldline</a>";
        let headers = [
            (header::SET_COOKIE, cookie),
            (header::REFRESH, "0; url=/".to_owned()),
            (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        ];
        Some((headers, page).into_response())
    }

    /// The response to a rejected request.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let refuse = |status, why: &str| Some(Failed(status, why.to_owned()).into_response());
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.is_host(host) || hosts.next().is_some() {
            let why = "This server is not asked by that name; see foldline serve --help, --host.";
            return refuse(StatusCode::MISDIRECTED_REQUEST, why);
        }
        if let Some(permission) = self.permission(request) {
            return Some(permission);
        }
        // It asks for the token of a machine, which no browser has.
        if request.uri().path().starts_with(PUSH) {
            return None;
        }
        // A question is no change, although it is posted.
        let is_question = request.uri().path() == QUESTIONS && *request.method() == Method::POST;
        if !is_question && !matches!(*request.method(), Method::GET | Method::HEAD) {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "Nothing can be changed here.");
        }
        if self.site(request).is_none() && !Self::is_own(request.headers(), host) {
            return refuse(StatusCode::FORBIDDEN, "Other pages may not ask this server.");
        }
        let welcome = self.welcome(request);
        // The page that asks for the token has a style, too, in which there is nothing of a log.
        let is_style = request.uri().path() == "/foldline.css";
        if welcome.is_none() && !is_style && !self.is_known(request.headers()) {
            let why =
                "The link that foldline serve has printed, or its --token-file, has the token.";
            return refuse(StatusCode::UNAUTHORIZED, why);
        }
        welcome
    }
}

/// Checks every request, and adds the security headers to every response.
pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let site = guard.0.site(&request).cloned();
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = match guard.0.refusal(&request) {
        None => next.run(request).await,
        Some(refusal) => refusal,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_api {
        headers.insert("foldline-schema-version", HeaderValue::from(SCHEMA_VERSION));
    }
    if let Some(site) = site {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, site);
        for (name, value) in [
            (header::ACCESS_CONTROL_EXPOSE_HEADERS, "foldline-schema-version, link, x-total-count"),
            (header::VARY, "origin"),
            (header::HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(token: bool) -> Rules {
        Rules {
            address: "127.0.0.1:7433".parse().unwrap(),
            hosts: vec!["box.example".to_owned()],
            origins: Vec::new(),
            token: token.then(|| Token::random().unwrap()),
            is_printed: true,
            cookie: "foldline_7433".to_owned(),
        }
    }

    #[test]
    fn only_names_of_this_server_are_answered() {
        let rules = rules(false);
        for host in ["127.0.0.1:7433", "localhost:7433", "LOCALHOST:7433", "[::1]:7433"] {
            assert!(rules.is_host(host), "{host}");
        }
        assert!(rules.is_host("Box.example:7433"));
        for host in [
            "",
            "localhost",
            "localhost:80",
            "evil.example:7433",
            "localhost.evil.example:7433",
            "127.0.0.1.evil.example:7433",
            "127.0.0.1:7433@evil.example:7433",
            "evil@127.0.0.1:7433",
            "192.168.1.2:7433",
        ] {
            assert!(!rules.is_host(host), "{host}");
        }
    }

    #[test]
    fn a_token_is_compared_as_a_whole() {
        let rules = rules(true);
        assert!(rules.is_host("192.168.1.2:7433"));
        let token = rules.token.as_ref().unwrap().to_string();
        let with = |name: header::HeaderName, value: String| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            rules.is_known(&headers)
        };
        assert!(with(header::COOKIE, format!("a=b; foldline_7433={token}")));
        assert!(with(header::AUTHORIZATION, format!("Bearer {token}")));
        assert!(!with(header::COOKIE, format!("foldline_1={token}")));
        assert!(!with(header::COOKIE, format!("foldline_7433={}", &token[1..])));
        assert!(!with(header::COOKIE, "foldline_7433=".to_owned()));
        assert!(!with(header::AUTHORIZATION, token));
    }
}
