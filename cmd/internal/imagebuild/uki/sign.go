package uki

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
)

// Digest is the SHA-256 of an image as Secure Boot takes it: without its checksum and
// its signatures. An image that is signed already is refused, as is one whose sections
// have gaps between them. The error is an *Invalid.
func Digest(image []byte) ([32]byte, error) {
	l, err := unsigned(image)
	if err != nil {
		return [32]byte{}, err
	}
	h := sha256.New()
	h.Write(image[:l.optional+offCheckSum])
	h.Write(image[l.optional+offCheckSum+4 : l.optional+offCertificate])
	h.Write(image[l.optional+offCertificate+8:])
	return [32]byte(h.Sum(nil)), nil
}

// unsigned reads an image whose every byte is one of headers or sections.
func unsigned(image []byte) (layout, error) {
	l, err := read("image", image)
	if err != nil {
		return l, err
	}
	size := int(l.head.SizeOfHeaders)
	for _, s := range l.file.Sections {
		size += int(s.Size)
	}
	switch {
	case l.head.DataDirectory[4].Size != 0 || l.head.DataDirectory[4].VirtualAddress != 0:
		return l, &Invalid{"image", "is signed already"}
	case size != len(image) || l.end != len(image) || len(image)%8 != 0:
		return l, &Invalid{"image", "has bytes between its sections"}
	}
	return l, nil
}

// Sign appends a signature for Secure Boot by an RSA key, whose certificate is in the
// firmware's list or is followed by who signed it there. Intermediates are embedded. The
// error is an *Invalid, or the key's.
func Sign(image []byte, key crypto.Signer, cert *x509.Certificate, intermediates ...*x509.Certificate) ([]byte, error) {
	public, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok || !public.Equal(key.Public()) {
		return nil, &Invalid{"certificate", "is not the key's"}
	}
	l, err := unsigned(image)
	if err != nil {
		return nil, err
	}
	digest, err := Digest(image)
	if err != nil {
		return nil, err
	}
	signed, err := signedData(digest, key, append([]*x509.Certificate{cert}, intermediates...))
	if err != nil {
		return nil, err
	}
	return attach(image, l, signed), nil
}

// attach puts a signature behind an image (WIN_CERTIFICATE, revision 2.0, PKCS signed
// data).
func attach(image []byte, l layout, signed []byte) []byte {
	le := binary.LittleEndian
	entry := le.AppendUint32(nil, uint32(8+len(signed)))
	entry = append(le.AppendUint16(le.AppendUint16(entry, 0x0200), 0x0002), signed...)
	entry = append(entry, make([]byte, -len(entry)&7)...)
	out := bytes.Join([][]byte{image, entry}, nil)
	le.PutUint32(out[l.optional+offCertificate:], uint32(len(image)))
	le.PutUint32(out[l.optional+offCertificate+4:], uint32(len(entry)))
	return out
}
