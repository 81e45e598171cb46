package bmc

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/bmc/bmcsim"
	"github.com/ingotmetal/ingot/bmc/bmcsim/trees"
)

// bmcs is set for the process that is the BMCs.
const bmcs = "INGOT_BENCH_BMCS"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(bmcs)); err == nil {
		if err := simulate(n, os.Getenv(bmcs+"_TREE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// greeting is what the BMCs say when they are there.
type greeting struct{ Address, Pin string }

// account is what they say at their end.
type account struct {
	CPU      float64 // seconds of this process
	Peak     int64   // resident, in KiB
	Logins   int
	Requests int
}

// simulate serves n BMCs on one socket, by their names, until standard input ends.
// They share one key: making 4,000 is no part of what is measured.
func simulate(n int, name string) error {
	raw, err := trees.Read(name)
	if err != nil {
		return err
	}
	tree, err := bmcsim.ParseTree(name, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	cert, pin, err := selfSigned()
	if err != nil {
		return err
	}
	fleet := bmcsim.NewFleet(rand.Reader, nil)
	defer fleet.Close()
	var all []*bmcsim.BMC
	for i := range n {
		b, err := fleet.Add(bmcsim.Spec{Name: host(i), Tree: tree, TLS: bmcsim.TLS{Kind: bmcsim.TLSGiven, Certificate: &cert}, Options: bmcsim.Options{LogSize: 1}})
		if err != nil {
			return err
		}
		all = append(all, b)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- fleet.Serve(l) }()
	if err := json.NewEncoder(os.Stdout).Encode(greeting{l.Addr().String(), pin}); err != nil {
		return err
	}
	for s := bufio.NewScanner(os.Stdin); s.Scan(); { // a line asks for the account
		a := account{}
		a.CPU, a.Peak = used(), peak()
		for _, b := range all {
			s := b.Stats()
			a.Logins, a.Requests = a.Logins+s.Logins, a.Requests+s.Total
		}
		if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
			return err
		}
	}
	err = fleet.Close()
	<-ended
	return err
}

// host is the name of the nth BMC.
func host(n int) string { return fmt.Sprintf("bmc-%d.example", n) }

// used is the CPU that this process took, in seconds.
func used() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}

// peak is the most memory that was resident in this process since forget, in KiB; 0
// where the system does not say. Getrusage has that of who started it too.
func peak() int64 {
	raw, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(raw), "VmHWM:")
	kib, _, _ := strings.Cut(after, "kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(kib), 10, 64)
	return n
}

// forget gives back what is free, and has peak begin anew.
func forget() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // elsewhere peak says nothing
}

// A rack is the process of the BMCs.
type rack struct {
	greeting
	in  io.WriteCloser
	out *json.Decoder
}

// start runs n BMCs until the test ends.
func start(tb testing.TB, n int, tree string) *rack {
	tb.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	cmd.Env = append(os.Environ(), bmcs+"="+strconv.Itoa(n), bmcs+"_TREE="+tree)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Error(err)
		}
	})
	r := &rack{in: in, out: json.NewDecoder(out)}
	if err := r.out.Decode(&r.greeting); err != nil {
		tb.Fatal(err)
	}
	return r
}

// account asks for what it took so far.
func (r *rack) account(tb testing.TB) (a account) {
	tb.Helper()
	if _, err := io.WriteString(r.in, "\n"); err != nil {
		tb.Fatal(err)
	}
	if err := r.out.Decode(&a); err != nil {
		tb.Fatal(err)
	}
	return a
}

// insecure trusts whoever answers: gofish has no pins. The other side compares the key.
func insecure(name string) *tls.Config {
	return &tls.Config{ServerName: name, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
}
