package uki

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"hash"
)

// maxRounds bounds the work of a passphrase, some seconds.
const maxRounds = 10_000_000

// The forms of an encrypted key (RFC 5208, section 6; RFC 8018, appendix A).
type (
	encryptedKey struct {
		Algorithm struct {
			ID     asn1.ObjectIdentifier
			Params struct {
				KDF    kdf
				Cipher pkix.AlgorithmIdentifier
			}
		}
		Data []byte
	}
	kdf struct {
		ID     asn1.ObjectIdentifier
		Params struct {
			Salt   []byte
			Rounds int
			Length int                      `asn1:"optional"`
			PRF    pkix.AlgorithmIdentifier `asn1:"optional"`
		}
	}
)

// decrypt undoes the encryption of a PKCS #8 key by a passphrase: PBES2 with PBKDF2 and
// a cipher in CBC mode, which is what OpenSSL writes. The error is an *Invalid.
func decrypt(der, passphrase []byte) ([]byte, error) {
	var k encryptedKey
	if rest, err := asn1.Unmarshal(der, &k); err != nil || len(rest) > 0 {
		return nil, &Invalid{"key", "is not encrypted by PBES2 with PBKDF2: convert it by openssl pkcs8 -topk8 -v2 aes-256-cbc"}
	}
	p := k.Algorithm.Params
	digest := prf(p.KDF.Params.PRF.Algorithm)
	size, block := cipherOf(p.Cipher.Algorithm)
	var iv []byte
	_, err := asn1.Unmarshal(p.Cipher.Parameters.FullBytes, &iv)
	known := k.Algorithm.ID.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}) && p.KDF.ID.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12})
	if err != nil || !known || digest == nil || block == nil || p.KDF.Params.Rounds < 1 || p.KDF.Params.Rounds > maxRounds {
		return nil, &Invalid{"key", "is encrypted in a way that is not known: convert it by openssl pkcs8 -topk8 -v2 aes-256-cbc"}
	}
	secret, err := pbkdf2.Key(digest, string(passphrase), p.KDF.Params.Salt, p.KDF.Params.Rounds, size)
	if err != nil {
		return nil, &Invalid{"key", "cannot be decrypted: " + err.Error()}
	}
	c, err := block(secret)
	if err != nil || len(iv) != c.BlockSize() || len(k.Data) == 0 || len(k.Data)%c.BlockSize() != 0 {
		return nil, &Invalid{"key", "is cut off"}
	}
	out := make([]byte, len(k.Data))
	cipher.NewCBCDecrypter(c, iv).CryptBlocks(out, k.Data)
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= c.BlockSize() {
		return out[:len(out)-pad], nil
	}
	return nil, &Invalid{"key", "cannot be read, or the passphrase is another"}
}

// prf is the hash of a pseudorandom function; without one, SHA-1.
func prf(id asn1.ObjectIdentifier) func() hash.Hash {
	switch id.String() {
	case "", "1.2.840.113549.2.7":
		return sha1.New
	case "1.2.840.113549.2.9":
		return sha256.New
	case "1.2.840.113549.2.11":
		return sha512.New
	}
	return nil
}

// cipherOf is a cipher with the size of its key.
func cipherOf(id asn1.ObjectIdentifier) (int, func([]byte) (cipher.Block, error)) {
	switch id.String() {
	case "1.2.840.113549.3.7":
		return 24, des.NewTripleDESCipher
	case "2.16.840.1.101.3.4.1.2":
		return 16, aes.NewCipher
	case "2.16.840.1.101.3.4.1.22":
		return 24, aes.NewCipher
	case "2.16.840.1.101.3.4.1.42":
		return 32, aes.NewCipher
	}
	return 0, nil
}
