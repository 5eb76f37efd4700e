//! A PostgreSQL server of the tests, which ends with them.

use std::{
    env, fs,
    io::Read as _,
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use postgres::{Client, NoTls};

/// The server, with its files in a folder.
pub(crate) struct Server {
    folder: PathBuf,
}

impl Server {
    /// The server of this test program. It is started at its first use; databases of tests are apart.
    pub(crate) fn get() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Self::start)
    }

    /// A new database: its address.
    pub(crate) fn database(&self) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.client("postgres").batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        self.address(&name)
    }

    /// Ends all connections to a database: their number.
    pub(crate) fn disconnect(address: &str) -> i64 {
        let (_, name) = address.rsplit_once('/').unwrap();
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE datname = $1 AND pid <> pg_backend_pid()";
        Self::get().client("postgres").query_one(sql, &[&name]).unwrap().get(0)
    }

    fn address(&self, name: &str) -> String {
        let folder = self.folder.to_str().unwrap().replace('/', "%2F");
        format!("postgresql://postgres@{folder}/{name}")
    }

    fn client(&self, name: &str) -> Client {
        Client::connect(&self.address(name), NoTls).unwrap()
    }

    fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap().keep();
        let data = folder.join("data");
        let user = unprivileged();
        if let Some((user, group)) = user {
            chown(&folder, Some(user), Some(group)).unwrap();
        }
        let command = |name: &str| {
            let mut command = Command::new(program(name));
            if let Some((user, group)) = user {
                command.uid(user).gid(group);
            }
            command.current_dir(&folder);
            command
        };
        let made = command("initdb")
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "--pgdata",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        // The input of the shell ends with the test program, however that ends.
        let server = "\"$@\" > \"$LOG\" 2>&1 & server=$!; cat > /dev/null; kill -QUIT $server; wait; rm -rf \"$FOLDER\"";
        let mut shell = Command::new("sh");
        if let Some((user, group)) = user {
            shell.uid(user).gid(group);
        }
        let child = shell
            .args(["-c", server, "sh"])
            .arg(program("postgres"))
            .arg("-D")
            .arg(&data)
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200", "-k"])
            .arg(&folder)
            .env("LOG", folder.join("log"))
            .env("FOLDER", &folder)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        // Its input stays open.
        std::mem::forget(child);
        let server = Self { folder };
        let begun = Instant::now();
        while let Err(error) = Client::connect(&server.address("postgres"), NoTls) {
            let mut log = String::new();
            let _ =
                fs::File::open(server.folder.join("log")).map(|mut it| it.read_to_string(&mut log));
            assert!(begun.elapsed() < Duration::from_secs(60), "{error}: {log}");
            thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

/// The server refuses to run as root: the user and the group that it runs as.
fn unprivileged() -> Option<(u32, u32)> {
    let id = |option: &str, user: &[&str]| {
        let printed = Command::new("id").arg(option).args(user).output().unwrap().stdout;
        String::from_utf8(printed).unwrap().trim().parse::<u32>().unwrap()
    };
    (id("-u", &[]) == 0).then(|| (id("-u", &["nobody"]), id("-g", &["nobody"])))
}

/// A program of PostgreSQL, which Debian does not put on the path.
fn program(name: &str) -> PathBuf {
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let mut programs = folders.into_iter().map(|folder| folder.join(name));
    programs.find(|path: &PathBuf| Path::is_file(path)).unwrap_or_else(|| name.into())
}
