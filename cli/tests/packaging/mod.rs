//! The units of systemd and the compose file for a team: their commands, run with other paths and addresses.

mod commands;

#[cfg(all(feature = "serve", feature = "otlp"))]
mod team;

use std::{fs, process::Command};

use commands::file;

/// The program of each unit is another one: those that are named are not installed here.
#[test]
#[cfg_attr(not(has_systemd_analyze), ignore = "needs systemd-analyze")]
fn systemd_understands_the_units() {
    let folder = tempfile::tempdir().unwrap();
    for (manager, count) in [("system", 4), ("user", 2)] {
        let units: Vec<_> = fs::read_dir(file("systemd").join(manager)).unwrap().collect();
        assert_eq!(units.len(), count);
        let mut verify = Command::new("systemd-analyze");
        verify.args(["verify", "--man=no", &format!("--{manager}")]);
        verify.env("XDG_RUNTIME_DIR", folder.path());
        for unit in units {
            let unit = unit.unwrap();
            let text = fs::read_to_string(unit.path()).unwrap();
            let copy = folder.path().join(unit.file_name());
            let other =
                text.replace("ExecStart=/usr/local/bin/foldline-fleet", "ExecStart=/bin/true");
            fs::write(&copy, other.replace("ExecStart=/usr/bin/foldline", "ExecStart=/bin/true"))
                .unwrap();
            verify.arg(copy);
        }
        let output = verify.output().unwrap();
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
        assert!(output.status.success() && said == ["", ""], "{said:?}");
    }
}
