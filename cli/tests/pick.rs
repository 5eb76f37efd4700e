//! `foldline pick` on a terminal: what is on its screen, what keys do, and how it is left.
#![cfg(unix)]

use std::{
    fs,
    io::{Read, Write},
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use vt100::Parser;

use crate::{
    first_hour::Home,
    logs::{foldline, signal},
};

/// The program on a terminal.
struct Terminal {
    pty: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    /// The screen, and all that was written on it.
    shown: Arc<Mutex<(Parser, Vec<u8>)>>,
}

impl Terminal {
    fn new(home: &Path, size: (u16, u16), command: &str, variables: &[(&str, &str)]) -> Self {
        let (cols, rows) = size;
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let program = foldline();
        let mut shell = CommandBuilder::new("sh");
        shell.args(["-c", command]);
        shell.env_clear();
        shell.env("PATH", std::env::var("PATH").unwrap());
        shell.env("foldline", program.get_program());
        for (name, value) in [("TERM", "xterm-256color"), ("TZ", "UTC"), ("LESSHISTFILE", "-")] {
            shell.env(name, value);
        }
        shell.env("HOME", home);
        shell.cwd(home);
        variables.iter().for_each(|(name, value)| shell.env(name, value));
        let child = pair.slave.spawn_command(shell).unwrap();
        let shown = Arc::new(Mutex::new((parser(rows, cols), Vec::new())));
        let (mut reader, on) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&shown));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let (screen, all) = &mut *on.lock().unwrap();
                screen.process(&bytes[..count]);
                all.extend_from_slice(&bytes[..count]);
            }
        });
        Self { keys: pair.master.take_writer().unwrap(), pty: pair.master, child, shown }
    }

    fn pick(home: &Home) -> Self {
        Self::new(home.path(), (80, 24), "exec \"$foldline\" pick", &[])
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn screen(&self) -> String {
        self.shown.lock().unwrap().0.screen().contents()
    }

    /// Whether the program draws on the whole screen.
    fn is_entered(&self) -> bool {
        self.shown.lock().unwrap().0.screen().alternate_screen()
    }

    fn written(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap().1).into_owned()
    }

    /// Waits for a state of the screen.
    fn wait(&self, what: &str, is: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is(self) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}: {}", self.screen());
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait_for(&self, text: &str) {
        self.wait(text, |it| it.screen().contains(text));
    }

    fn wait_without(&self, text: &str) {
        self.wait(text, |it| !it.screen().contains(text));
    }

    /// Waits for the end, which leaves the terminal as it was.
    fn end(&mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        self.wait("the screen is left", |it| !it.is_entered());
        self.wait("the cursor is shown", |it| !it.shown.lock().unwrap().0.screen().hide_cursor());
        status
    }
}

/// An empty screen.
fn parser(rows: u16, cols: u16) -> Parser {
    Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0)
}

const ENTER: &str = "\r";
const ESCAPE: &str = "\x1b";

#[test]
fn the_list_is_filtered_by_what_is_typed() {
    let home = Home::new();
    let mut terminal = Terminal::pick(&home);
    terminal.wait_for("Mend the cart");
    for part in ["2/2", "state", "title", "Enter show", "shop", "running", "2026-01-31 10:00"] {
        terminal.wait_for(part);
    }
    assert!(terminal.is_entered());
    terminal.press("MEND cart");
    terminal.wait_for("1/2");
    terminal.press("x");
    terminal.wait_for("no session matches");
    terminal.press("\x7f");
    terminal.wait_for("Mend the cart");
    terminal.press(ESCAPE);
    terminal.wait_for("2/2");
    terminal.press("?");
    terminal.wait_for("clear the filter, then quit");
    terminal.press(ESCAPE);
    terminal.wait_without("clear the filter");
    terminal.press(ESCAPE);
    assert_eq!(terminal.end().exit_code(), 0);
}

#[test]
fn the_pager_comes_back_to_the_list() {
    let home = Home::new();
    let mut terminal = Terminal::pick(&home);
    terminal.wait_for("Mend the cart");
    terminal.press("mend");
    terminal.wait_for("1/2");
    terminal.press(ENTER);
    // The text is shorter than the screen.
    terminal.wait_for("claude-sonnet-4-5");
    terminal.press("q");
    terminal.wait_for("1/2");
    // Also where nothing waits.
    drop(terminal);
    let mut terminal =
        Terminal::new(home.path(), (80, 50), "exec \"$foldline\" pick", &[("PAGER", "cat")]);
    terminal.wait_for("2/2");
    terminal.press("mend");
    terminal.wait_for("1/2");
    terminal.press(ENTER);
    terminal.wait_for("Enter: back to the list");
    terminal.press(ENTER);
    terminal.wait("the list is back", Terminal::is_entered);
    terminal.wait_for("1/2");
    terminal.press("\x04");
    terminal.wait_for("the session changed no files");
    terminal.press("\x03");
    assert_eq!(terminal.end().exit_code(), 0);
}

#[test]
fn a_session_is_exported_copied_and_resumed() {
    let home = Home::new();
    let whole = home.path().join("shop");
    fs::create_dir(&whole).unwrap();
    home.change(|log| log.replace("/home/me/src/shop", whole.to_str().unwrap()));
    fs::create_dir(home.path().join("bin")).unwrap();
    let claude = home.path().join("bin/claude");
    fs::write(&claude, "#!/bin/sh\necho \"resumed in $PWD: $*\"\nexit 7\n").unwrap();
    let command = "chmod +x bin/claude; PATH=$PWD/bin:$PATH exec \"$foldline\" pick";
    let mut terminal = Terminal::new(home.path(), (140, 24), command, &[]);
    terminal.wait_for("2/2");
    terminal.press("mend");
    terminal.wait_for("1/2");
    terminal.wait_for("first prompt");
    terminal.wait_for("これは確認です: done.");
    terminal.press("\x05");
    terminal.wait_for("exported: ");
    terminal.press("\x05");
    let id = home.claude();
    terminal.wait_for(&format!("{id}-2.html"));
    for name in [format!("{id}.html"), format!("{id}-2.html")] {
        let page = fs::read_to_string(home.path().join(name)).unwrap();
        assert!(page.contains("Mend the cart"));
    }
    terminal.press("\x19");
    terminal.wait_for(&format!("copied, if the terminal allows it (OSC 52): {id}"));
    let copied = "\x1b]52;c;YWFhYWFhYWEtMTExMS00MTExLTgxMTEtMTExMTExMTExMTEx\x07";
    assert!(terminal.written().contains(copied));
    terminal.press("\x12");
    assert_eq!(terminal.end().exit_code(), 7);
    terminal.wait_for(&format!("--resume {id}"));
}

#[test]
fn with_print_the_id_is_the_only_output() {
    let home = Home::new();
    let command = "id=$(\"$foldline\" pick --print); echo \"$? chose <$id>\"";
    let mut terminal = Terminal::new(home.path(), (80, 24), command, &[]);
    terminal.wait_for("Enter choose");
    terminal.press("cart");
    terminal.wait_for("1/2");
    terminal.press("\x12");
    terminal.wait_for("not with --print");
    terminal.press(ENTER);
    terminal.wait_for(&format!("0 chose <{}>", home.claude()));
    terminal.end();
    let mut terminal = Terminal::new(home.path(), (80, 24), command, &[]);
    terminal.wait_for("Enter choose");
    terminal.press(ESCAPE);
    terminal.wait_for("130 chose <>");
    terminal.end();
}

#[test]
fn it_needs_a_terminal() {
    let home = Home::new();
    let output = home.run(&["pick"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("pick needs a terminal"), "{error}");
    assert!(output.stdout.is_empty());
    let mut terminal =
        Terminal::new(home.path(), (80, 24), "\"$foldline\" pick | cat; echo end", &[]);
    terminal.wait_for("pick needs a terminal");
    terminal.wait_for("end");
    terminal.end();
}

#[test]
fn a_signal_leaves_the_screen() {
    let home = Home::new();
    for name in ["TERM", "INT"] {
        let mut terminal = Terminal::pick(&home);
        terminal.wait_for("2/2");
        signal(name, terminal.child.process_id().unwrap());
        assert_eq!(terminal.end().exit_code(), 130);
    }
    // The terminal echoes again.
    let command = "\"$foldline\" pick; stty -a | grep -o ' echo ' && echo sane";
    let mut terminal = Terminal::new(home.path(), (80, 24), command, &[]);
    terminal.wait_for("2/2");
    terminal.press("\x03");
    terminal.wait_for("sane");
    terminal.end();
}

#[test]
fn a_terminal_of_another_size_has_another_list() {
    let home = Home::new();
    let mut terminal = Terminal::pick(&home);
    terminal.wait_for("2/2");
    let resize = |terminal: &mut Terminal, cols: u16, rows: u16| {
        terminal
            .shown
            .lock()
            .unwrap()
            .0
            .screen_mut()
            .set_size(rows.try_into().unwrap(), cols.try_into().unwrap());
        terminal.pty.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
    };
    resize(&mut terminal, 140, 30);
    terminal.wait_for("first prompt");
    resize(&mut terminal, 40, 10);
    terminal.wait_without("first prompt");
    terminal.wait_for("Enter show");
    terminal.press("\x03");
    assert_eq!(terminal.end().exit_code(), 0);
}

#[test]
fn a_log_that_grows_is_seen() {
    let home = Home::new();
    let mut terminal = Terminal::pick(&home);
    terminal.wait_for("2/2");
    let log = fs::read_to_string(home.log()).unwrap();
    let other = log.replace(home.claude(), "bbbbbbbb-1111-4111-8111-111111111111");
    let other = other.replace("Mend the cart", "Paint the cart");
    fs::write(home.log().with_file_name("c.jsonl"), other).unwrap();
    terminal.wait_for("Paint the cart");
    terminal.wait_for("3/3");
    terminal.press("\x03");
    terminal.end();
}

#[test]
fn keys_after_a_long_paste_are_read() {
    let home = Home::new();
    let mut terminal = Terminal::pick(&home);
    terminal.wait_for("2/2");
    terminal.press(&"x".repeat(3000));
    terminal.wait_for("0/2");
    terminal.press("\x15");
    terminal.wait_for("2/2");
    terminal.press("\x03");
    assert_eq!(terminal.end().exit_code(), 0);
}

#[test]
fn no_color_has_attributes_only() {
    let home = Home::new();
    for (variables, is_coloured) in [(&[][..], true), (&[("NO_COLOR", "1")][..], false)] {
        let mut terminal =
            Terminal::new(home.path(), (140, 24), "exec \"$foldline\" pick", variables);
        terminal.wait_for("first prompt");
        terminal.press("\x03");
        terminal.end();
        assert_eq!(terminal.written().contains("\x1b[38;5;2"), is_coloured);
        assert!(terminal.written().contains("\x1b[7m"));
    }
}

#[test]
fn another_verb_asks_for_its_session() {
    let home = Home::new();
    home.ask(&["sessions"]);
    let command = "\"$foldline\" resume -i --print; echo \"ended $?\"";
    let mut terminal = Terminal::new(home.path(), (120, 24), command, &[]);
    terminal.wait_for("Enter choose");
    terminal.press("cart");
    terminal.wait_for("1/2");
    terminal.press(ENTER);
    terminal.wait_for(&format!("--resume {}", home.claude()));
    terminal.wait_for("ended 0");
    terminal.end();
    // Two sessions are asked for, one after the other; the second is not chosen.
    let command = "\"$foldline\" compare -i; echo \"ended $?\"";
    let mut terminal = Terminal::new(home.path(), (80, 24), command, &[]);
    terminal.wait_for("Enter choose");
    terminal.press(ENTER);
    terminal.wait("the second list", |it| it.written().matches("Enter choose").count() == 2);
    terminal.press(ESCAPE);
    terminal.wait_for("ended 130");
    terminal.end();
    // What is wrong is said before the list appears.
    let wrong = home.run(&["show", "latest", "-i"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().starts_with("foldline: "));
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let home = Home::new();
    home.ask(&["sessions"]);
    let pager = [("FOLDLINE_PAGER", "sed s/^/paged:/")];
    let shown = |rows: u16, command: &str| {
        let command = format!("\"$foldline\" {command}; echo ended");
        let mut terminal = Terminal::new(home.path(), (80, rows), &command, &pager);
        terminal.wait_for("ended");
        terminal.end();
        terminal.written()
    };
    for command in ["show", "sessions -f json"] {
        let long = shown(8, command);
        assert!(long.lines().count() > 8, "{long}");
        assert!(long.lines().filter(|line| line.contains("paged:")).count() > 8, "{long}");
        assert!(!shown(400, command).contains("paged:"));
        assert!(!shown(8, &format!("{command} --no-pager")).contains("paged:"));
    }
    let coloured = shown(400, "sessions");
    assert!(coloured.contains("\x1b[1msession"), "{coloured}");
    assert!(!shown(400, "sessions --no-color").contains('\x1b'));
    let forced = home.ask(&["sessions", "--color", "always"]);
    assert!(forced.starts_with("\x1b[1msession"), "{forced}");
}
