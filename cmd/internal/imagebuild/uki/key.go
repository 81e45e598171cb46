package uki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
)

// ParseKey reads a private key for signing, in PEM: PKCS #8, encrypted by a passphrase
// or not (ENCRYPTED PRIVATE KEY, PRIVATE KEY), or PKCS #1 (RSA PRIVATE KEY). Firmware
// checks RSA alone. The error is an *Invalid, and has nothing of key or passphrase.
func ParseKey(text, passphrase []byte) (crypto.Signer, error) {
	bad := func(why string) error { return &Invalid{"key", why} }
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, bad("is not PEM")
	}
	if block.Headers["DEK-Info"] != "" {
		return nil, bad("is encrypted in OpenSSL's old way: convert it by openssl pkcs8 -topk8 -v2 aes-256-cbc")
	}
	der := block.Bytes
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(der)
	case "ENCRYPTED PRIVATE KEY":
		if len(passphrase) == 0 {
			return nil, bad("is encrypted, and no passphrase is given")
		}
		if der, err = decrypt(der, passphrase); err != nil {
			return nil, err
		}
		key, err = x509.ParsePKCS8PrivateKey(der)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(der)
	default:
		return nil, bad("is no private key")
	}
	if err != nil {
		return nil, bad("cannot be read, or the passphrase is another")
	}
	return signerOf(key)
}

// signerOf wants a key that firmware knows.
func signerOf(key any) (crypto.Signer, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if k.N.BitLen() < 2048 || k.N.BitLen() > 8192 {
			return nil, &Invalid{"key", "is not of 2048 to 8192 bits"}
		}
		return k, nil
	case *ecdsa.PrivateKey, ed25519.PrivateKey:
		return nil, &Invalid{"key", "is not RSA, which is what firmware checks"}
	}
	return nil, &Invalid{"key", "cannot sign"}
}

// ParseCertificate reads the certificate of the key, in PEM or DER. The error is an
// *Invalid.
func ParseCertificate(raw []byte) (*x509.Certificate, error) {
	if block, _ := pem.Decode(raw); block != nil {
		if block.Type != "CERTIFICATE" {
			return nil, &Invalid{"certificate", "is none: the file begins with another thing"}
		}
		raw = block.Bytes
	}
	c, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, &Invalid{"certificate", "cannot be read: " + err.Error()}
	}
	return c, nil
}
