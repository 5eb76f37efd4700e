//! Commands that delete or overwrite what cannot be restored.

use super::line::{Call, Line};

/// A kind of destructive commands.
struct Pattern {
    /// Its name.
    name: &'static str,
    programs: &'static [&'static str],
    /// Words of which each has to be an argument. Of several, separated by spaces, one is enough. A word `x=*` is the
    /// beginning of an argument, and an option of one letter may be one of several: `-rf`.
    with: &'static [&'static str],
    /// Arguments with which the command does nothing.
    without: &'static str,
}

const fn pattern(
    name: &'static str,
    programs: &'static [&'static str],
    with: &'static [&'static str],
    without: &'static str,
) -> Pattern {
    Pattern { name, programs, with, without }
}

const PATTERNS: &[Pattern] = &[
    pattern("rm -r", &["rm"], &["-r -R --recursive"], ""),
    pattern("find -delete", &["find"], &["-delete"], ""),
    pattern("find -exec rm", &["find"], &["-exec -execdir", "rm"], ""),
    pattern("rsync --delete", &["rsync"], &["--delete*"], "-n --dry-run"),
    pattern(
        "git push --force",
        &["git"],
        &["push", "-f --force* --mirror --delete +*"],
        "-n --dry-run",
    ),
    pattern("git reset --hard", &["git"], &["reset", "--hard"], ""),
    pattern("git clean", &["git"], &["clean"], "-n --dry-run"),
    pattern("git checkout", &["git"], &["checkout", "-- . -f --force"], ""),
    pattern("git restore", &["git"], &["restore"], "--staged -S"),
    pattern("git branch -D", &["git"], &["branch", "-D"], ""),
    pattern("git stash drop", &["git"], &["stash", "drop clear"], ""),
    pattern("git filter-branch", &["git"], &["filter-branch filter-repo"], ""),
    pattern("dd", &["dd"], &["of=*"], ""),
    pattern("mkfs", &["mkfs", "mkfs.*", "mke2fs", "mkswap"], &[], ""),
    pattern("wipe", &["shred", "wipefs", "blkdiscard", "srm"], &[], ""),
    pattern("partition", &["fdisk", "sfdisk", "parted", "sgdisk"], &[], "-l --list print"),
    pattern("chmod -R", &["chmod"], &["-R --recursive"], ""),
    pattern("chown -R", &["chown", "chgrp"], &["-R --recursive"], ""),
    pattern("truncate", &["truncate"], &["-s* --size*"], ""),
    pattern("kubectl delete", &["kubectl", "oc"], &["delete"], "--dry-run*"),
    pattern("kubectl drain", &["kubectl", "oc"], &["drain"], "--dry-run*"),
    pattern("helm uninstall", &["helm"], &["uninstall delete"], "--dry-run*"),
    pattern(
        "terraform destroy",
        &["terraform", "tofu", "terragrunt"],
        &["destroy -destroy --destroy"],
        "",
    ),
    pattern("pulumi destroy", &["pulumi", "cdk"], &["destroy"], "--preview-only"),
    pattern("docker prune", &["docker", "podman"], &["prune"], ""),
    pattern("docker volume rm", &["docker", "podman"], &["volume", "rm remove"], ""),
    pattern(
        "docker compose down -v",
        &["docker", "podman", "docker-compose"],
        &["down", "-v --volumes"],
        "",
    ),
    pattern("aws s3 rm", &["aws"], &["s3", "rm rb"], "--dryrun"),
    pattern("aws delete", &["aws"], &["delete-* terminate-*"], "--dry-run"),
    pattern("gcloud delete", &["gcloud", "az"], &["delete"], ""),
    pattern("gsutil rm", &["gsutil"], &["rm rb"], ""),
    pattern("gh repo delete", &["gh"], &["repo release", "delete"], ""),
    pattern("dropdb", &["dropdb"], &[], ""),
    pattern("redis flush", &["redis-cli"], &["flushall flushdb"], ""),
    pattern("npm unpublish", &["npm"], &["unpublish"], "--dry-run"),
    pattern("Remove-Item -Recurse", &["remove-item"], &["-recurse"], "-whatif"),
    pattern("rd /s", &["rd", "rmdir", "del"], &["/s"], ""),
];

/// Programs that run SQL.
const CLIENTS: [&str; 12] = [
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlcmd",
    "duckdb",
    "clickhouse-client",
    "bq",
    "snowsql",
    "cockroach",
    "sqlplus",
    "usql",
];

/// What `DROP` and `TRUNCATE` are followed by.
const OBJECTS: [&str; 9] =
    ["table", "database", "schema", "index", "view", "column", "user", "role", "materialized"];

/// The kind of the first destructive call of a command line.
pub(super) fn destructive(line: &Line) -> Option<&'static str> {
    let of_call = |call| PATTERNS.iter().find(|pattern| pattern.matches(call));
    let found = line.calls.iter().find_map(of_call).map(|pattern| pattern.name);
    found.or_else(|| sql(line))
}

/// The kind of a statement that a client of a database runs. It may be in an argument, in a here-document, or in the
/// output of another program of the line.
fn sql(line: &Line) -> Option<&'static str> {
    let is_client = |word: &str| CLIENTS.contains(&word);
    let runs =
        |call: &Call| is_client(&call.program) || call.arguments.iter().any(|it| is_client(it));
    if !line.calls.iter().any(runs) {
        return None;
    }
    let text = line.text.to_lowercase();
    let words: Vec<_> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ';'))
        .flat_map(|word| word.split_inclusive(';'))
        .filter(|word| !word.is_empty())
        .collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let end = || words.iter().skip(at).position(|word| word.ends_with(';'));
        match *word {
            "drop" if OBJECTS.contains(&next) => Some("DROP"),
            "truncate" if !next.is_empty() => Some("TRUNCATE"),
            "delete" if next == "from" => {
                let statement = words.iter().skip(at).take(end().unwrap_or(usize::MAX));
                (!statement.into_iter().any(|word| *word == "where")).then_some("DELETE")
            }
            _ => None,
        }
    })
}

impl Pattern {
    fn matches(&self, call: &Call) -> bool {
        let program = call.program.to_lowercase();
        let is_program = |known: &&str| match known.strip_suffix('*') {
            Some(start) => program.starts_with(start),
            None => program == **known,
        };
        let has = |word: &str| call.arguments.iter().any(|argument| is_word(word, argument));
        self.programs.iter().any(is_program)
            && self.with.iter().all(|words| words.split(' ').any(has))
            && !self.without.split(' ').any(|word| !word.is_empty() && has(word))
    }
}

/// Whether an argument is a word of a pattern.
fn is_word(word: &str, argument: &str) -> bool {
    if let Some(start) = word.strip_suffix('*') {
        return argument.starts_with(start);
    }
    let short = word.strip_prefix('-').filter(|letter| letter.len() == 1 && *letter != "-");
    let letters = argument.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    if let Some((letter, letters)) = short.zip(letters) {
        return letters.chars().all(|c| c.is_ascii_alphabetic()) && letters.contains(letter);
    }
    // Programs of Windows and of databases ignore the case.
    argument.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<&'static str> {
        destructive(&Line::new(line))
    }

    #[test]
    fn each_pattern_has_a_command() {
        let lines = [
            "cd x && rm -rf build",
            "find . -name '*.o' -delete",
            "find . -exec rm {} +",
            "rsync -a --delete a/ b/",
            "git push origin main -f",
            "git push --force-with-lease",
            "git push origin +main",
            "git -C x reset --hard HEAD~1",
            "git clean -xdf",
            "git checkout -- src",
            "git restore src",
            "git branch -D topic",
            "git stash drop",
            "git filter-branch --all",
            "sudo dd if=/dev/zero of=/dev/sda",
            "mkfs.ext4 /dev/sda1",
            "shred x",
            "fdisk /dev/sda",
            "chmod -R 777 .",
            "sudo chown -R ada /srv",
            "truncate -s 0 log",
            "kubectl -n shop delete pod x",
            "kubectl drain node",
            "helm uninstall shop",
            "terraform destroy -auto-approve",
            "pulumi destroy",
            "docker system prune -af",
            "docker volume rm x",
            "docker compose down -v",
            "aws s3 rm s3://x --recursive",
            "aws ec2 terminate-instances --instance-ids i",
            "gcloud sql instances delete x",
            "gsutil -m rm -r gs://x",
            "gh repo delete ada/shop",
            "dropdb shop",
            "redis-cli FLUSHALL",
            "npm unpublish x",
            "Remove-Item -Recurse x",
            "rd /s x",
        ];
        let found: Vec<_> = lines.iter().map(|line| (of(line), *line)).collect();
        for (name, line) in &found {
            assert!(name.is_some(), "{line}");
        }
        for Pattern { name, .. } in PATTERNS {
            assert!(found.iter().any(|(found, _)| found == &Some(*name)), "{name}");
        }
    }

    #[test]
    fn what_is_hidden_in_other_commands_is_found() {
        for line in [
            "ls | xargs -n 1 rm -r",
            "bash -c \"rm -rf x\"",
            "if true; then rm -fR x; fi",
            "psql -c 'DROP TABLE users'",
            "echo 'TRUNCATE users' | docker exec -i db psql shop",
            "mysql shop <<EOF\ndelete from users;\nselect 1 where 2;\nEOF",
        ] {
            assert!(of(line).is_some(), "{line}");
        }
    }

    #[test]
    fn what_can_be_restored_is_not_destructive() {
        for line in [
            "rm x",
            "rm -f x",
            "echo 'rm -rf /'",
            "git commit -m 'git push --force'",
            "git push origin main",
            "git clean -n",
            "git reset HEAD~1",
            "git restore --staged x",
            "git checkout main",
            "chmod 644 x",
            "kubectl get pods",
            "rg 'DROP TABLE' migrations",
            "psql -c 'SELECT 1'",
            "psql -c 'DELETE FROM users WHERE id = 1'",
            "docker run --rm x",
            "cat > x <<EOF\nrm -rf /\nEOF",
            "grep -r rm .",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
