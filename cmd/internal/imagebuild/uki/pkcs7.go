package uki

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
)

// Names of ASN.1.
var (
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidRSA           = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
	oidSHA256        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidIndirectData  = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 1, 4}
	oidPEImage       = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 1, 15}
)

// obsolete is what stands where a file's name might: <<<Obsolete>>> in BMPString.
const obsolete = "\x00<\x00<\x00<\x00O\x00b\x00s\x00o\x00l\x00e\x00t\x00e\x00>\x00>\x00>"

// The forms of a signature (PKCS #7 version 1.5, RFC 2315; Authenticode, "SpcIndirectDataContent").
type (
	contentInfo struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}
	signedForm struct {
		Version      int
		Digests      []pkix.AlgorithmIdentifier `asn1:"set"`
		Content      contentInfo
		Certificates asn1.RawValue
		Signers      []signerForm `asn1:"set"`
	}
	signerForm struct {
		Version    int
		Issuer     issuerForm
		Digest     pkix.AlgorithmIdentifier
		Attributes asn1.RawValue
		Encryption pkix.AlgorithmIdentifier
		Signature  []byte
	}
	issuerForm struct {
		Name   asn1.RawValue
		Serial *big.Int
	}
	attribute struct {
		Type   asn1.ObjectIdentifier
		Values asn1.RawValue
	}
	indirectForm struct {
		Data struct {
			Type  asn1.ObjectIdentifier
			Value struct {
				Flags asn1.BitString
				File  asn1.RawValue
			}
		}
		Digest struct {
			Algorithm pkix.AlgorithmIdentifier
			Digest    []byte
		}
	}
)

func algorithm(id asn1.ObjectIdentifier) pkix.AlgorithmIdentifier {
	return pkix.AlgorithmIdentifier{Algorithm: id, Parameters: asn1.NullRawValue}
}

// signedData is a signature of an image's digest, without a time.
func signedData(digest [32]byte, key crypto.Signer, certs []*x509.Certificate) ([]byte, error) {
	content, err := indirect(digest)
	if err != nil {
		return nil, err
	}
	attributes, err := attributesOf(content)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(attributes)
	signature, err := key.Sign(nil, sum[:], crypto.SHA256) // RSA PKCS #1 version 1.5 draws nothing
	if err != nil {
		return nil, err
	}
	signer := signerForm{
		Version: 1, Issuer: issuerForm{asn1.RawValue{FullBytes: certs[0].RawIssuer}, certs[0].SerialNumber},
		Digest: algorithm(oidSHA256), Attributes: context(0, inner(attributes)), Encryption: algorithm(oidRSA), Signature: signature,
	}
	var raw []byte
	for _, c := range certs {
		raw = append(raw, c.Raw...)
	}
	form, err := asn1.Marshal(signedForm{
		Version: 1, Digests: []pkix.AlgorithmIdentifier{algorithm(oidSHA256)},
		Content: contentInfo{oidIndirectData, context(0, content)}, Certificates: context(0, raw), Signers: []signerForm{signer},
	})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(contentInfo{oidSignedData, context(0, form)})
}

// indirect is what is signed: that an image has this digest.
func indirect(digest [32]byte) ([]byte, error) {
	name, err := asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, Bytes: []byte(obsolete)})
	if err != nil {
		return nil, err
	}
	file, err := asn1.Marshal(context(2, name))
	if err != nil {
		return nil, err
	}
	var f indirectForm
	f.Data.Type, f.Data.Value.File = oidPEImage, context(0, file)
	f.Digest.Algorithm, f.Digest.Digest = algorithm(oidSHA256), digest[:]
	return asn1.Marshal(f)
}

// attributesOf are what the key signs: which content, and its digest. They are a SET,
// whose elements stand in the order of their bytes.
func attributesOf(content []byte) ([]byte, error) {
	kind, err := asn1.Marshal(oidIndirectData)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(inner(content))
	digest, err := asn1.Marshal(sum[:])
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for _, a := range []attribute{{oidContentType, set(kind)}, {oidMessageDigest, set(digest)}} {
		raw, err := asn1.Marshal(a)
		if err != nil {
			return nil, err
		}
		all = append(all, raw)
	}
	slices.SortFunc(all, bytes.Compare)
	return asn1.Marshal(set(bytes.Join(all, nil)))
}

// context is a value under a tag of the form's own.
func context(tag int, body []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: true, Bytes: body}
}

func set(body []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassUniversal, Tag: asn1.TagSet, IsCompound: true, Bytes: body}
}

// inner is the content of a value, without its tag and length.
func inner(der []byte) []byte {
	var v asn1.RawValue
	if _, err := asn1.Unmarshal(der, &v); err != nil {
		return nil // it was marshalled here
	}
	return v.Bytes
}
