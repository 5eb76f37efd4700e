//! [`ClusterArgs`]: the brokers, and how to connect to them.

use std::{env, fs, path::PathBuf};

use clap::Args;
use rdkafka::{ClientConfig, config::RDKafkaLogLevel};

use crate::{error::Error, settings::Topics};

/// The options of every verb that connects to brokers.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClusterArgs {
    /// Bootstrap brokers; else those of FOLDLINE_BROKERS
    #[arg(long, value_name = "HOST:PORT,..")]
    pub(crate) brokers: Option<String>,

    /// Connection settings: a file of lines NAME=VALUE, with the names of librdkafka (security.protocol,
    /// sasl.username, ssl.ca.location, ..); else the file of FOLDLINE_KAFKA_CONFIG
    ///
    /// A variable such as FOLDLINE_KAFKA_SASL_PASSWORD also sets one of them.
    #[arg(long, value_name = "FILE")]
    pub(crate) kafka_config: Option<PathBuf>,

    /// A single connection setting; secrets are accepted from the file or the environment only
    #[arg(short = 'X', value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,

    /// Prefix of the topic names
    #[arg(long, value_name = "PREFIX", default_value = "foldline")]
    pub(crate) prefix: String,
}

/// Secret settings, refused on the command line because other users can see it.
const SECRETS: [&str; 7] = [
    "sasl.password",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.password",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.assertion.private.key.passphrase",
];

/// Settings that the exactly-once guarantee depends on.
const OURS: [&str; 9] = [
    "acks",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.idempotence",
    "group.id",
    "isolation.level",
    "partition.assignment.strategy",
    "partitioner",
    "transactional.id",
];

/// Prefix of the variables that set one setting each.
const VARIABLE: &str = "FOLDLINE_KAFKA_";

impl ClusterArgs {
    /// The names of the topics.
    pub(crate) fn topics(&self) -> Topics {
        Topics::new(&self.prefix)
    }

    /// The common configuration of every client: variables override the file, and options override both.
    pub(crate) fn client(&self) -> Result<ClientConfig, Error> {
        let mut config = ClientConfig::new();
        config.set("client.id", "foldline").set_log_level(RDKafkaLogLevel::Warning);
        let file = self.kafka_config.clone().or_else(|| variable("FOLDLINE_KAFKA_CONFIG"));
        if let Some(path) = file {
            let text = fs::read_to_string(&path)
                .map_err(|error| Error::Input { path: path.clone(), error })?;
            for (number, line) in text.lines().enumerate() {
                let wrong =
                    |what| wrong(&format!("{}, line {}: {what}", path.display(), number + 1));
                match line.trim() {
                    "" => {}
                    line if line.starts_with('#') => {}
                    line => set(&mut config, line).map_err(wrong)?,
                }
            }
        }
        for (name, value) in env::vars() {
            let Some(name) = name.strip_prefix(VARIABLE).filter(|name| *name != "CONFIG") else {
                continue;
            };
            let name = name.to_lowercase().replace('_', ".");
            set(&mut config, &format!("{name}={value}")).map_err(|what| wrong(&what))?;
        }
        for setting in &self.settings {
            let name = setting.split('=').next().unwrap_or_default().trim();
            if SECRETS.contains(&name) {
                let variable = format!("{VARIABLE}{}", name.to_uppercase().replace('.', "_"));
                return Err(wrong(&format!(
                    "-X {name} would show a secret to everyone on this machine; \
                     set {variable}, or use a file with --kafka-config"
                )));
            }
            set(&mut config, setting).map_err(|what| wrong(&format!("-X: {what}")))?;
        }
        let brokers = self.brokers.clone().or_else(|| env::var("FOLDLINE_BROKERS").ok());
        if let Some(brokers) = brokers.filter(|brokers| !brokers.is_empty()) {
            config.set("bootstrap.servers", brokers);
        }
        if config.get("bootstrap.servers").is_none() {
            return Err(wrong("specify the brokers with --brokers HOST:PORT or FOLDLINE_BROKERS"));
        }
        Ok(config)
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn wrong(message: &str) -> Error {
    Error::WrongUse(message.to_owned())
}

/// Applies a line `NAME=VALUE`. Error messages never contain the value.
fn set(config: &mut ClientConfig, line: &str) -> Result<(), String> {
    let Some((name, value)) = line.split_once('=') else {
        return Err("not a setting of the form NAME=VALUE".to_owned());
    };
    let (name, value) = (name.trim(), value.trim());
    if OURS.contains(&name) {
        return Err(format!(
            "{name} is set by foldline and cannot be changed: exactly-once processing depends on it"
        ));
    }
    let mut alone = ClientConfig::new();
    if alone.set(name, value).create_native_config().is_err() {
        return Err(format!("librdkafka does not support the setting {name}, or not this value"));
    }
    config.set(name, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(settings: &[&str]) -> Result<ClientConfig, String> {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let brokers = Some("localhost:9092".to_owned());
        let args = ClusterArgs { brokers, settings, ..ClusterArgs::default() };
        args.client().map_err(|error| error.to_string())
    }

    #[test]
    fn settings_have_the_usual_names() {
        let config = client(&["security.protocol=ssl", "ssl.ca.location = /etc/ca.pem"]).unwrap();
        assert_eq!(config.get("security.protocol"), Some("ssl"));
        assert_eq!(config.get("ssl.ca.location"), Some("/etc/ca.pem"));
        assert_eq!(config.get("bootstrap.servers"), Some("localhost:9092"));
    }

    #[test]
    fn a_secret_is_refused_on_the_command_line_and_not_shown() {
        let refused = client(&["sasl.password=hunter2"]).unwrap_err();
        assert!(refused.contains("FOLDLINE_KAFKA_SASL_PASSWORD"), "{refused}");
        assert!(!refused.contains("hunter2"), "{refused}");
    }

    #[test]
    fn what_would_break_the_promise_is_refused() {
        for setting in ["isolation.level=read_uncommitted", "acks=1", "group.id=mine"] {
            assert!(client(&[setting]).unwrap_err().contains("set by foldline"), "{setting}");
        }
        assert!(client(&["no.such.setting=1"]).unwrap_err().contains("no.such.setting"));
        assert!(client(&["alone"]).unwrap_err().contains("NAME=VALUE"));
    }
}
