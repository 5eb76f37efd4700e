//! [`Signature`]: a signature in a trail.

/// An Ed25519 signature. With the feature `sign`, `PublicKey` verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The public key stated in the record.
    pub key: [u8; 32],
    /// The signature.
    pub signature: [u8; 64],
    /// The signed message.
    pub signed: Vec<u8>,
}
