package pin

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxPEM is the size of the largest PEM file that is read, in bytes.
const maxPEM = 1 << 20

// readKey reads a private key's file, which nobody but its owner may touch.
func readKey(path string) ([]byte, error) {
	return read(path, func(fi fs.FileInfo) error {
		if fi.Mode().Perm()&0o077 != 0 {
			return &Exposed{path, fi.Mode()}
		}
		return nil
	})
}

func readPEM(path string) ([]byte, error) {
	return read(path, func(fs.FileInfo) error { return nil })
}

// read judges the file that it has opened, so that nobody swaps it in between.
func read(path string, judge func(fs.FileInfo) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Unusable{path, "cannot be read", err}
	}
	defer f.Close()
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, &Unusable{path, "cannot be read", err}
	}
	if err := judge(fi); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(raw) > maxPEM {
		err = errors.New("it is too large")
	}
	if err != nil {
		return nil, &Unusable{path, "cannot be read", err}
	}
	return raw, nil
}

// loadPair reads a chain and its key. The leaf is parsed.
func loadPair(certificate, key string) (*tls.Certificate, error) {
	rawKey, err := readKey(key)
	if err != nil {
		return nil, err
	}
	rawCert, err := readPEM(certificate)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(rawCert, rawKey)
	if err != nil {
		return nil, &Unusable{certificate, "does not go with " + key, err}
	}
	if len(pair.Certificate) > maxChain {
		return nil, &Unusable{certificate, "holds more certificates than a client takes", nil}
	}
	if pair.Leaf == nil {
		pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0])
	}
	return &pair, err
}
