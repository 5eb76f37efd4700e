//! Files are replaced as a whole.

use std::{fs, thread};

use foldline::files::*;

#[test]
fn what_a_killed_run_left_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    fs::write(temporary_of(&path), "half a st").unwrap();
    replace_file(&path, b"whole").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    assert!(!temporary_of(&path).exists());
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_planted_link_or_pipe() {
    use std::os::unix::{fs::symlink, net::UnixListener};
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("state"), folder.path().join("other"));
    fs::write(&other, "precious").unwrap();
    symlink(&other, temporary_of(&path)).unwrap();
    replace_file(&path, b"first").unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"precious");
    assert!(!path.is_symlink());
    let _socket = UnixListener::bind(temporary_of(&path)).unwrap();
    replace_file(&path, b"second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
}

#[cfg(unix)]
#[test]
fn permissions_are_the_owners_or_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("state"), folder.path().join("link"));
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    replace_file(&path, b"first").unwrap();
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    symlink(&path, &link).unwrap();
    replace_file(&link, b"second").unwrap();
    assert_eq!((mode(), fs::read(&path).unwrap()), (0o644, b"second".to_vec()));
    assert!(link.is_symlink());
}

#[test]
fn writers_at_the_same_time_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let contents = |writer: u8| vec![b'0' + writer; 100_000];
    thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..20 {
                    replace_file(path, &contents(writer)).unwrap();
                }
            });
        }
    });
    let found = fs::read(&path).unwrap();
    assert!((0..4).any(|writer| found == contents(writer)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
