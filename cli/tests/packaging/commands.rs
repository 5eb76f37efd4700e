//! The command lines in the files of `packaging`: of units of systemd, and of compose files.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file in the folder `packaging`.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging").join(name)
}

pub(crate) fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

/// The command of a unit of systemd. Each credential that it names is loaded.
pub(crate) fn of_unit(name: &str) -> Vec<String> {
    let unit = text(&format!("systemd/{name}.service"));
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    for credential in command.split("${CREDENTIALS_DIRECTORY}/").skip(1) {
        let credential = credential.split(' ').next().unwrap();
        let loaded = format!("\nLoadCredential={credential}:/etc/foldline/{credential}\n");
        assert!(unit.contains(&loaded), "{name}: {credential}");
    }
    command.split(' ').map(str::to_owned).collect()
}

/// The command of a service of a compose file, which is on a line, as JSON. Each secret that it names is a file.
pub(crate) fn of_service(name: &str, service: &str) -> Vec<String> {
    let compose = text(name);
    let (_, services) = compose.split_once("\nservices:\n").unwrap();
    let (_, service) = services.split_once(&format!("  {service}:\n")).unwrap();
    let end = service.lines().position(|line| !line.starts_with("    ")).unwrap();
    let lines: Vec<_> = service.lines().take(end).collect();
    let command = lines.iter().find_map(|line| line.strip_prefix("    command: ")).unwrap();
    let command: Vec<String> = serde_json::from_str(command).unwrap();
    for secret in command.iter().filter_map(|word| word.strip_prefix("/run/secrets/")) {
        assert!(lines.contains(&&*format!("      - {secret}")), "{secret}");
        assert!(compose.contains(&format!("\n  {secret}:\n    file: {secret}\n")), "{secret}");
    }
    command
}

/// The words of a command with other paths and addresses, each of which has to be there.
pub(crate) fn with(mut command: Vec<String>, others: &[(&str, &str)]) -> Vec<String> {
    for (there, other) in others {
        assert!(command.iter().any(|word| word.contains(there)), "{there} in {command:?}");
        command.iter_mut().for_each(|word| *word = word.replace(there, other));
    }
    command
}
