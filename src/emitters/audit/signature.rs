//! [`Signature`]: a signature as a trail holds it.

/// A signature with Ed25519. With the feature `sign`, `PublicKey` checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// The public key that it is said to be of.
    pub key: [u8; 32],
    /// The signature.
    pub signature: [u8; 64],
    /// What is signed.
    pub signed: Vec<u8>,
}
