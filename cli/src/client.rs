//! The client of HTTP servers.

use std::sync::Arc;

use ureq::{
    Agent,
    tls::{Certificate, RootCerts, TlsConfig, TlsProvider},
};

/// A client that names this program, follows no redirection, and passes on every status.
pub(crate) fn new() -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("foldline/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls());
    config.build().new_agent()
}

/// TLS with the certificates of the system.
fn tls() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    let certificates: Vec<_> =
        found.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}
