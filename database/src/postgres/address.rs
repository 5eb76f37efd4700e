//! Connects to the address of a database.

use std::{env, fs, sync::Arc, time::Duration};

use postgres::{
    Client, Config, NoTls,
    config::{Host, SslMode},
};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{PostgresError, PostgresFailure};

/// The time to wait for a connection, unless the address states another.
const WAIT: Duration = Duration::from_secs(10);

/// How the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encryption {
    /// Not at all.
    Plain,
    /// With TLS, and the certificate of the server is verified.
    Verified,
}

/// A parsed address.
pub(super) struct Address {
    config: Config,
    encryption: Encryption,
    roots: Option<String>,
    /// The address without the password.
    pub(super) name: String,
}

impl Address {
    /// Parses `postgresql://USER:PASSWORD@HOST:PORT/NAME?sslmode=..&sslrootcert=FILE`.
    ///
    /// A connection to another machine is encrypted, and the certificate of the server is verified, unless `sslmode` is
    /// `disable`; one to this machine is, if `sslmode` is `require` or `verify-full`. The password may be in the
    /// environment (`PGPASSWORD`).
    pub(super) fn parse(address: &str) -> Result<Self, PostgresError> {
        let name = without_password(address);
        let wrong = |reason: String| PostgresError::Address { address: name.clone(), reason };
        let (base, parameters) = address.split_once('?').unwrap_or((address, ""));
        let (mut mode, mut roots, mut others) = (None, None, Vec::new());
        for parameter in parameters.split('&').filter(|it| !it.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", path)) => roots = Some(path.replace("%2F", "/")),
                _ => others.push(parameter),
            }
        }
        let rest = format!("{base}?{}", others.join("&"));
        let mut config: Config =
            rest.trim_end_matches('?').parse().map_err(|error: postgres::Error| {
                let cause = std::error::Error::source(&error);
                wrong(cause.map_or_else(|| error.to_string(), ToString::to_string))
            })?;
        let is_local = config.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
            #[cfg(unix)]
            Host::Unix(_) => true,
        });
        let encryption = match mode {
            Some("disable") => Encryption::Plain,
            Some("require" | "verify-ca" | "verify-full") => Encryption::Verified,
            None | Some("prefer" | "allow") if is_local => Encryption::Plain,
            None | Some("prefer" | "allow") => Encryption::Verified,
            Some(other) => return Err(wrong(format!("there is no sslmode {other}"))),
        };
        config.ssl_mode(match encryption {
            Encryption::Plain => SslMode::Disable,
            Encryption::Verified => SslMode::Require,
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(WAIT);
        }
        if config.get_application_name().is_none() {
            config.application_name("foldline");
        }
        if config.get_password().is_none()
            && let Ok(password) = env::var("PGPASSWORD")
        {
            config.password(password);
        }
        Ok(Self { config, encryption, roots, name })
    }

    /// Connects.
    pub(super) fn connect(&self) -> Result<Client, PostgresError> {
        let client = match self.encryption {
            Encryption::Plain => self.config.connect(NoTls),
            Encryption::Verified => self.config.connect(MakeRustlsConnect::new(self.tls()?)),
        };
        client.map_err(|error| PostgresFailure::from(error).of(&self.name))
    }

    fn tls(&self) -> Result<ClientConfig, PostgresError> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            Some(path) => {
                let fail =
                    |reason: String| PostgresError::Certificates { path: path.clone(), reason };
                let pem = fs::read(path).map_err(|error| fail(error.to_string()))?;
                for certificate in CertificateDer::pem_slice_iter(&pem) {
                    let certificate = certificate.map_err(|error| fail(error.to_string()))?;
                    roots.add(certificate).map_err(|error| fail(error.to_string()))?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| PostgresError::Certificates {
                path: "the system".to_owned(),
                reason: error.to_string(),
            })?;
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

/// An address without its password.
fn without_password(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgresql", address));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split('?').next().unwrap_or_default();
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            format!("{}@{host}", user.split(':').next().unwrap_or_default())
        }
        None => authority.to_owned(),
    };
    format!("{scheme}://{authority}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_password() {
        for (address, name) in [
            ("postgresql://jo:secret@db.example/x?password=y", "postgresql://jo@db.example/x"),
            ("postgres://db/x", "postgres://db/x"),
            ("postgresql://jo:a@b@db:5433/x", "postgresql://jo@db:5433/x"),
        ] {
            assert_eq!(without_password(address), name);
        }
    }

    #[test]
    fn other_machines_need_a_certificate() {
        let encryption = |address: &str| Address::parse(address).map(|it| it.encryption).ok();
        assert_eq!(encryption("postgresql://db.example/x"), Some(Encryption::Verified));
        assert_eq!(
            encryption("postgresql://db.example/x?sslmode=disable"),
            Some(Encryption::Plain)
        );
        assert_eq!(encryption("postgresql://localhost/x"), Some(Encryption::Plain));
        assert_eq!(encryption("postgresql:///x?host=/run"), Some(Encryption::Plain));
        assert_eq!(
            encryption("postgresql://localhost/x?sslmode=verify-full&sslrootcert=/etc/ca.pem"),
            Some(Encryption::Verified)
        );
        assert_eq!(encryption("postgresql://localhost/x?sslmode=no"), None);
    }
}
