//! Addresses to listen on, and to open.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};

/// Reads an address such as `127.0.0.1:7433`, `localhost:7433`, or `:7433`, which is on this machine.
///
/// # Errors
/// The text is no address, or its name is unknown.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let full = match text.strip_prefix(':') {
        Some(port) => format!("{}:{port}", Ipv4Addr::LOCALHOST),
        None => text.to_owned(),
    };
    let found = full.to_socket_addrs().map_err(|error| error.to_string())?;
    let mut found: Vec<_> = found.collect();
    // A name may have an address of each kind, and readers try the first one.
    found.sort_by_key(SocketAddr::is_ipv6);
    found.first().copied().ok_or_else(|| "the name has no address".to_owned())
}

/// The address by which browsers reach a server at this address: for one on all addresses of this machine, the one by
/// which it reaches others, or that of itself.
pub(super) fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    // Nothing is sent: the system only chooses the address, for one that is reserved for documentation.
    let chosen = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        socket.local_addr()
    });
    let ip = chosen.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |chosen| chosen.ip());
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for text in ["127.0.0.1:80", ":80", "localhost:80"] {
            assert_eq!(parse_address(text).unwrap(), "127.0.0.1:80".parse().unwrap(), "{text}");
        }
        assert_eq!(parse_address("[::1]:80").unwrap(), "[::1]:80".parse().unwrap());
        for text in ["", "7433", "localhost", ":x", "no such name:1"] {
            assert!(parse_address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_printed_address_can_be_opened() {
        let opened = reachable("0.0.0.0:80".parse().unwrap());
        assert!(!opened.ip().is_unspecified() && opened.port() == 80, "{opened}");
        assert_eq!(reachable("[::1]:80".parse().unwrap()), "[::1]:80".parse().unwrap());
    }
}
