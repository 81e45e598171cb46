package uki_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/uki"
)

// pair is a key with a certificate of its own.
func pair(t *testing.T) (crypto.Signer, *x509.Certificate) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "signer of a test"}, NotBefore: time.Unix(1_700_000_000, 0), NotAfter: time.Unix(4_000_000_000, 0)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := uki.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert
}

// verifies runs sbverify, which is OpenSSL's opinion.
func verifies(t *testing.T, image []byte, cert *x509.Certificate) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("sbverify"); err != nil {
		missing(t, "sbverify is missing: apt-get install sbsigntool")
	}
	dir := t.TempDir()
	path, pemPath := filepath.Join(dir, "uki.efi"), filepath.Join(dir, "cert.pem")
	err := errors.Join(os.WriteFile(path, image, 0o600), os.WriteFile(pemPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sbverify", "--cert", pemPath, path).CombinedOutput()
	return string(out), err
}

func TestSign(t *testing.T) {
	key, cert := pair(t)
	_, other := pair(t)
	for name, stub := range map[string][]byte{"small": small(0), "systemd's": of(t, stubPath, "systemd-boot-efi")} {
		image, err := uki.Build(stub, parts)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := uki.Sign(image, key, cert)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check(t, stub, signed, parts)
		if again, err := uki.Sign(image, key, cert); err != nil || !bytes.Equal(again, signed) {
			t.Errorf("%s: another signature the second time, %v", name, err)
		}
		if out, err := verifies(t, signed, cert); err != nil || strings.Contains(out, "warning") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if out, err := verifies(t, signed, other); err == nil {
			t.Errorf("%s: it verifies with another certificate\n%s", name, out)
		}
		for _, at := range []int{0x90, len(image) / 2, len(image) - 1} {
			harmed := bytes.Clone(signed)
			harmed[at] ^= 1
			if out, err := verifies(t, harmed, cert); err == nil {
				t.Errorf("%s: it verifies though byte %d was changed\n%s", name, at, out)
			}
		}
		if _, err := uki.Sign(signed, key, cert); !errors.As(err, new(*uki.Invalid)) {
			t.Errorf("%s: signed twice: %v", name, err)
		}
		if _, err := uki.Sign(image, key, other); !errors.As(err, new(*uki.Invalid)) {
			t.Errorf("%s: another's certificate: %v", name, err)
		}
		if _, err := uki.Sign(append(bytes.Clone(image), make([]byte, 8)...), key, cert); !errors.As(err, new(*uki.Invalid)) {
			t.Errorf("%s: bytes behind: %v", name, err)
		}
	}
}

// Debian's key for tests is protected by a passphrase, and sbsign finds the same digest.
func TestSnakeoil(t *testing.T) {
	text := of(t, keyPath, "ovmf")
	key, err := uki.ParseKey(text, []byte("snakeoil"))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := uki.ParseCertificate(of(t, certPath, "ovmf"))
	if err != nil {
		t.Fatal(err)
	}
	image, err := uki.Build(of(t, stubPath, "systemd-boot-efi"), parts)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := uki.Sign(image, key, cert)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := verifies(t, signed, cert); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, wrong := range []string{"", "snakeoi", "snakeoil\n"} {
		if _, err := uki.ParseKey(text, []byte(wrong)); !errors.As(err, new(*uki.Invalid)) {
			t.Errorf("%q opens it: %v", wrong, err)
		}
	}
}

// What OpenSSL writes is read, in each of its forms.
func TestKeysOfOpenSSL(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		missing(t, "openssl is missing: apt-get install openssl")
	}
	key, _ := pair(t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	plain := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	one := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key.(*rsa.PrivateKey))})
	same := func(name string, text []byte) {
		t.Helper()
		got, err := uki.ParseKey(text, []byte("p w"))
		if err != nil || !got.(*rsa.PrivateKey).Equal(key) {
			t.Errorf("%s: %v", name, err)
		}
	}
	same("plain", plain)
	same("PKCS #1", one)
	dir := t.TempDir()
	in, pass := filepath.Join(dir, "in"), filepath.Join(dir, "pass")
	if err := errors.Join(os.WriteFile(in, plain, 0o600), os.WriteFile(pass, []byte("p w\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	openssl := func(args ...string) []byte {
		t.Helper()
		out, err := exec.Command("openssl", append(args, "-in", in, "-passout", "file:"+pass)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range [][]string{{"-v2", "aes-128-cbc"}, {"-v2", "aes-192-cbc"}, {"-v2", "aes-256-cbc"}, {"-v2", "des3"}, {"-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512"}, {"-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA1"}} {
		same(strings.Join(c, " "), openssl(append([]string{"pkcs8", "-topk8"}, c...)...))
	}
	for _, c := range [][]string{{"pkcs8", "-topk8", "-scrypt"}, {"rsa", "-aes128", "-traditional"}} {
		if _, err := uki.ParseKey(openssl(c...), []byte("p w")); err == nil || !strings.Contains(err.Error(), "openssl pkcs8 -topk8") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	_, cert := pair(t)
	for name, text := range map[string][]byte{
		"nothing": nil, "text": []byte("text"), "a curve": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		"a certificate": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), "not DER": pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")}),
	} {
		if key, err := uki.ParseKey(text, []byte("x")); !errors.As(err, new(*uki.Invalid)) || key != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, raw := range map[string][]byte{"nothing": nil, "a key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})} {
		if _, err := uki.ParseCertificate(raw); !errors.As(err, new(*uki.Invalid)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The digest leaves out what signing changes, and nothing else.
func TestDigest(t *testing.T) {
	image, err := uki.Build(small(4), parts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := uki.Digest(image)
	const optional = 0x40 + 24
	want := sha256.Sum256(bytes.Join([][]byte{image[:optional+64], image[optional+68 : optional+144], image[optional+152:]}, nil))
	if err != nil || got != want {
		t.Errorf("%x, %v", got, err)
	}
	for i := range image[optional:] {
		harmed := bytes.Clone(image)
		harmed[optional+i] ^= 1
		d, err := uki.Digest(harmed)
		if outside := i >= 64 && i < 68; err == nil && (d == got) != outside {
			t.Fatalf("byte %d: the same digest is %t", i, d == got)
		}
		if i > 2000 {
			break
		}
	}
}

func FuzzParseKey(f *testing.F) {
	if raw, err := os.ReadFile(keyPath); err == nil {
		f.Add(raw)
	}
	f.Add([]byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := uki.ParseKey(text, []byte("x")); err != nil && !errors.As(err, new(*uki.Invalid)) {
			t.Error(err)
		}
	})
}
