//! The attributes of the resource that describe this process and its machine.

use foldline_otlp::Resource;

use crate::{origin, random};

/// Adds the attributes of this process, except for those that the environment states.
pub(super) fn of_this_machine(resource: Resource) -> Resource {
    let mut resource = resource;
    let known = [
        ("host.name", origin::host()),
        ("service.instance.id", random::digits::<16>().ok().map(|digits| uuid(&digits))),
        ("user.name", origin::this_user()),
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

/// 32 hexadecimal digits as a UUID of version 4.
pub(super) fn uuid(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
