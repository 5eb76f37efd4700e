//! [`SigningKey`] and [`PublicKey`]: Ed25519 keys (RFC 8032) for signing and verifying trails.

use std::fmt;

use ed25519_dalek::{
    Signer,
    pkcs8::{
        DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, KeypairBytes,
        spki::der::pem::LineEnding,
    },
};

/// The key that signs a trail. `Debug` does not show it, and it is overwritten in memory when it is dropped.
///
/// Key files are in PEM (PKCS #8), as written by `openssl genpkey -algorithm ed25519`.
///
/// ```
/// use foldline_domain::audit::{About, AuditChain, SigningKey, verify};
///
/// let key = SigningKey::from_secret([7; 32]);
/// let mut trail = Vec::new();
/// let mut chain = AuditChain::of_ledger("ledger", "trail", 0, &mut trail);
/// chain.append_signature(&key, 0, &mut trail);
///
/// let public = key.public_key();
/// let head = verify(&trail[..], |record| {
///     if let About::Signature(signature) = &record.about {
///         assert!(public.verifies(signature));
///     }
/// })?;
/// assert_eq!(head.expect("a good trail").count, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SigningKey(ed25519_dalek::SigningKey);

/// The key that verifies a signature.
///
/// Key files are in PEM, as written by `openssl pkey -pubout`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(ed25519_dalek::VerifyingKey);

/// The reason why a file is not the required key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file contains something else.
    #[error("it is not an Ed25519 {0} key in PEM")]
    Other(&'static str),
    /// It is a private key that needs a passphrase.
    #[error("the key in it is encrypted, and must be decrypted first")]
    Encrypted,
}

impl SigningKey {
    /// Reads a private key.
    ///
    /// # Errors
    /// The text is not an Ed25519 private key in PEM.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        ed25519_dalek::SigningKey::from_pkcs8_pem(pem).map(Self).map_err(|_| {
            let is_encrypted = pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----");
            if is_encrypted { KeyError::Encrypted } else { KeyError::Other("private") }
        })
    }

    /// The key from 32 bytes, which must come from a cryptographically secure generator.
    pub fn from_secret(secret: [u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(&secret))
    }

    /// The key as a PEM file. It contains only the secret, because other programs do not read more.
    pub fn to_pem(&self) -> String {
        let pair = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        // 32 bytes always have a PEM form.
        pair.to_pkcs8_pem(LineEnding::LF).map(|pem| pem.to_string()).unwrap_or_default()
    }

    /// The key that verifies its signatures.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature of a message.
    pub(super) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public_key()).finish()
    }
}

impl PublicKey {
    /// Reads a public key.
    ///
    /// # Errors
    /// The text is not an Ed25519 public key in PEM.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let key = ed25519_dalek::VerifyingKey::from_public_key_pem(pem);
        key.map(Self).map_err(|_| KeyError::Other("public"))
    }

    /// The key as a PEM file.
    pub fn to_pem(&self) -> String {
        self.0.to_public_key_pem(LineEnding::LF).unwrap_or_default()
    }

    /// Whether the signature was made for this record with the corresponding private key.
    pub fn verifies(&self, signature: &Signature) -> bool {
        let Signature { key, signature, signed } = signature;
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        key == self.0.as_bytes() && self.0.verify_strict(signed, &signature).is_ok()
    }
}

impl Signature {
    /// Whether it was made for its record with the private key of the public key that it states. Anyone can make such a
    /// signature: compare the key with a known one.
    pub fn is_of_its_key(&self) -> bool {
        let key = ed25519_dalek::VerifyingKey::from_bytes(&self.key);
        key.is_ok_and(|key| PublicKey(key).verifies(self))
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

/// An Ed25519 signature, verified by [`PublicKey::verifies`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The public key stated in the record.
    pub key: [u8; 32],
    /// The signature.
    pub signature: [u8; 64],
    /// The signed message.
    pub signed: Vec<u8>,
}
