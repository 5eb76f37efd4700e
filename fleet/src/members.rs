//! [`Member`]: a member of the group of workers.

use rdkafka::groups::GroupInfo;
use serde::Serialize;

/// A worker.
#[derive(Debug, Serialize)]
pub(super) struct Member {
    /// The member id in the group.
    id: String,
    /// The address of the client.
    pub(super) host: String,
    /// The assigned partitions of the logs.
    pub(super) partitions: Vec<i32>,
}

/// The members of a group that read this topic.
pub(super) fn members(group: &GroupInfo, topic: &str) -> Vec<Member> {
    let member = |member: &rdkafka::groups::GroupMemberInfo| {
        let mut rest = member.assignment().unwrap_or_default();
        Member {
            id: member.id().to_owned(),
            // Brokers print addresses like Java, with a leading slash.
            host: member.client_host().trim_start_matches('/').to_owned(),
            partitions: partitions(&mut rest, topic).unwrap_or_default(),
        }
    };
    let mut members: Vec<_> = group.members().iter().map(member).collect();
    members.sort_by(|a, b| (&a.partitions, &a.id).cmp(&(&b.partitions, &b.id)));
    members
}

/// The partitions of a topic in an assignment of Kafka's consumer protocol: a version, then the name and the
/// partitions of each topic. `None` if the bytes are not an assignment.
fn partitions(rest: &mut &[u8], topic: &str) -> Option<Vec<i32>> {
    let mut assigned = Vec::new();
    let _version = short(rest)?;
    for _ in 0..int(rest)? {
        let length = usize::try_from(short(rest)?).ok()?;
        let (name, after) = rest.split_at_checked(length)?;
        *rest = after;
        for _ in 0..int(rest)? {
            let partition = int(rest)?;
            if name == topic.as_bytes() {
                assigned.push(partition);
            }
        }
    }
    assigned.sort_unstable();
    Some(assigned)
}

fn short(rest: &mut &[u8]) -> Option<i16> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(i16::from_be_bytes(*bytes))
}

fn int(rest: &mut &[u8]) -> Option<i32> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(i32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_read() {
        let assignment = b"\0\0\0\0\0\x02\
            \0\x01b\0\0\0\x01\0\0\0\x07\
            \0\x01a\0\0\0\x02\0\0\0\x02\0\0\0\x01\
            \0\0\0\0";
        assert_eq!(partitions(&mut &assignment[..], "a"), Some(vec![1, 2]));
        assert_eq!(partitions(&mut &assignment[..], "c"), Some(vec![]));
        for length in 0..assignment.len() - 4 {
            assert_eq!(partitions(&mut &assignment[..length], "a"), None);
        }
        assert_eq!(partitions(&mut &[0xff; 40][..], "a"), Some(vec![]));
    }
}
