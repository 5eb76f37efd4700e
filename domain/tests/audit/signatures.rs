//! Signatures of a trail, and keys.

use foldline_domain::audit::*;

/// The signatures of a trail, which is whole.
fn signatures(trail: &[u8]) -> Vec<Signature> {
    let mut signatures = Vec::new();
    let head = verify(trail, |record| {
        if let About::Signature(signature) = &record.about {
            signatures.push(signature.clone());
        }
    });
    assert!(head.unwrap().is_ok());
    signatures
}

#[test]
fn a_signature_is_of_one_key_and_one_record() {
    let [key, other] = [SigningKey::from_secret([7; 32]), SigningKey::from_secret([8; 32])];
    let mut trail = Vec::new();
    let mut chain = AuditChain::of_ledger("ledger", "trail", 0, &mut trail);
    chain.append_signature(&key, 1, &mut trail);
    chain.append_signature(&key, 2, &mut trail);
    let signatures = signatures(&trail);
    assert_eq!(signatures.len(), 2);
    assert!(signatures.iter().all(|signature| key.public_key().verifies(signature)));
    assert!(!signatures.iter().any(|signature| other.public_key().verifies(signature)));
    let mut moved = signatures[0].clone();
    moved.signed.clone_from(&signatures[1].signed);
    assert!(!key.public_key().verifies(&moved));
}

#[test]
fn keys_are_read_as_they_are_written() {
    let key = SigningKey::from_secret([7; 32]);
    let again = SigningKey::from_pem(&key.to_pem()).unwrap();
    assert_eq!(again.public_key(), key.public_key());
    let public = PublicKey::from_pem(&key.public_key().to_pem()).unwrap();
    assert_eq!(public, key.public_key());
    assert_eq!(PublicKey::from_pem(&key.to_pem()), Err(KeyError::Other("public")));
    assert!(!format!("{key:?}").contains("0707"), "the secret is not shown");
}
