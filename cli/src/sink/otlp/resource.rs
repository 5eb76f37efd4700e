//! The attributes of the resource that describe this process and its machine.

use foldline_otlp::Resource;

use crate::random;

/// Adds the attributes of this process, except for those that the environment states.
pub(super) fn of_this_machine(resource: Resource) -> Resource {
    let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let mut resource = resource;
    let known = [
        ("host.name", host()),
        ("service.instance.id", random::digits::<16>().ok().map(|digits| uuid(&digits))),
        ("user.name", user.filter(|user| !user.is_empty())),
    ];
    for (key, value) in known {
        if let Some(value) = value.filter(|_| !resource.has(key)) {
            resource = resource.with(key, &value);
        }
    }
    match resource.has("process.pid") {
        true => resource,
        false => resource.with_number("process.pid", std::process::id().into()),
    }
}

#[cfg(unix)]
fn host() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    std::env::var("COMPUTERNAME").ok()
}

/// 32 random hexadecimal digits as a UUID of version 4.
fn uuid(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
