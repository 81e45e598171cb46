package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingotmetal/ingot/bmc"
	"github.com/ingotmetal/ingot/bmc/bmctest"
	"github.com/ingotmetal/ingot/cmd/internal/cli"
)

// A bench is a simulated BMC, and commands that reach it by memory.
type bench struct {
	*testing.T
	bmctest.Simulation
	sim  *bmctest.Simulator
	home string
	env  map[string]string
	ask  func(string) ([]byte, error)
}

// bench lives a test in a bubble with a BMC in a scene.
func onBench(t *testing.T, scene bmctest.Scene, live func(*bench)) {
	t.Helper()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sim := &bmctest.Simulator{}
		st, err := sim.Stage(t.Context(), scene)
		must(t, err)
		b := &bench{T: t, Simulation: st.(bmctest.Simulation), sim: sim, home: home}
		b.env = map[string]string{"INGOT_BMC_PASSWORD": b.Credentials().Password.Show()}
		defer func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Second) // for both ends of TLS to close
		}()
		live(b)
	})
}

// bare runs a command as it stands.
func (b *bench) bare(ctx context.Context, line ...string) ran {
	b.Helper()
	var out, errs bytes.Buffer
	code := cli.Run(ctx, cli.World{
		In: strings.NewReader(""), Out: &out, Err: &errs, Dir: b.home, Prompt: b.ask, Now: time.Now, Entropy: &counter{n: 3}, Dial: b.sim.Dial,
		Env: func(name string) string { return b.env[name] },
	}, append([]string{"bmc"}, line...))
	got := ran{code, out.String(), errs.String()}
	for _, secret := range []string{b.Credentials().Password.Show(), b.env["INGOT_BMC_PASSWORD"], b.env["INGOT_BMC_NEW_PASSWORD"]} {
		if secret != "" && strings.Contains(got.out+got.err, secret) {
			b.Errorf("%q tells a password: %s%s", line, got.out, got.err)
		}
	}
	return got
}

// run runs a command on the BMC, as its owner would.
func (b *bench) run(line string, more ...string) ran { return b.runIn(b.Context(), line, more...) }

func (b *bench) runIn(ctx context.Context, line string, more ...string) ran {
	b.Helper()
	e := b.Endpoint()
	args := append(strings.Fields(line), "--url", e.URL, "--pin", e.Trust.Pin, "--user", "root")
	return b.bare(ctx, append(args, more...)...)
}

// want fails the test where a command did not end so.
func (b *bench) want(got ran, code cli.Exit, words ...string) {
	b.Helper()
	for _, w := range words {
		if !strings.Contains(got.out+got.err, w) {
			b.Errorf("%q is not told", w)
		}
	}
	if got.code != int(code) || b.Failed() {
		b.Fatalf("code %d, want %d\n%s%s", got.code, code, got.out, got.err)
	}
}

// What reads changes nothing, and logs out.
func TestBMCReads(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		for line, words := range map[string][]string{
			"probe":      {"system:", "power:", "on\n", "power.reset", b.Endpoint().Trust.Pin},
			"inventory":  {"serials:", "nics:", "memory mib:"},
			"health":     {"overall:"},
			"firmware":   {"firmware:", "version"},
			"boot get":   {"target:", "targets:", "pxe"},
			"media list": {"slots:", "takes url"},
		} {
			b.want(b.run(line), cli.Done, words...)
			noun := strings.Fields(line)[0]
			b.want(b.run(line+" --json"), cli.Done, `"schema": "ingot.bmc.`+noun+`/1"`)
		}
		if n := b.Tally(); n.Writes != 0 || n.Sessions != 0 {
			b.Errorf("%d requests that change something, %d sessions left", n.Writes, n.Sessions)
		}
	})
}

// A verb tells what was asked, accepted and seen, and ends in its state.
func TestBMCPower(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		got := b.run("power off")
		b.want(got, cli.Done, "seen: the machine is on\nasked: off\naccepted: off, as ForceOff\nseen: the machine is off\n")
		if b.Power() != bmc.Off || strings.Contains(got.out, "asked") || !strings.Contains(got.out, "state:") {
			b.Errorf("%s: %s", b.Power(), got.out)
		}
		got = b.run("power reset")
		b.want(got, cli.Illegal, "CONFLICT", "turn it on, or cycle it", "sent: no")
		if n := b.Tally().Sent[bmc.SendReset]; n != 0 || got.out != "" {
			b.Errorf("%d resets were sent: %s", n, got.out)
		}
		b.want(b.run("power off --json"), cli.Done, `"changed": false`)
		b.want(b.run("power cycle --json"), cli.Done, `"state": "on"`, `"verb": "cycle"`)
		b.want(b.run("power reset"), cli.Done, "accepted: reset")
		b.want(b.run("power graceful"), cli.BadUsage, "known: on, off, graceful-off")
	})
	onBench(t, bmctest.FewActions, func(b *bench) {
		got := b.run("power reset --json")
		b.want(got, cli.Other, `"UNSUPPORTED"`, "the machine does: on, off, cycle", `"sent":"no"`)
	})
}

// A lost answer is said to be one, and is not asked for again.
func TestBMCLostReply(t *testing.T) {
	onBench(t, bmctest.LostReply, func(b *bench) {
		b.want(b.run("power reset"), cli.WaitEnded, "asked: reset\nlost: no answer to reset came", "sent: maybe")
		got := b.run("power reset --json")
		var told struct {
			Exit int
			BMC  struct{ Kind, Sent string }
		}
		last := got.err[strings.LastIndex(strings.TrimSpace(got.err), "\n")+1:]
		if err := json.Unmarshal([]byte(last), &told); err != nil || told.Exit != 8 || told.BMC.Sent != "maybe" || told.BMC.Kind != "indeterminate" {
			b.Errorf("%v: %s", err, got.err)
		}
		if n := b.Tally().Sent[bmc.SendReset]; n != 2 {
			b.Errorf("%d resets for two commands", n)
		}
	})
}

// An end by the caller says whether something was sent.
func TestBMCInterrupted(t *testing.T) {
	onBench(t, bmctest.LateOff, func(b *bench) {
		ctx, stop := context.WithCancel(b.Context())
		time.AfterFunc(5*time.Second, stop)
		b.want(b.runIn(ctx, "power off"), cli.WaitEnded, "interrupted during power off", "was accepted, and may still take effect", "sent: yes")
		if n := b.Tally(); n.Sessions != 0 {
			b.Errorf("%d sessions are left", n.Sessions)
		}
		stop()
		b.want(b.runIn(ctx, "power off"), cli.WaitEnded, "sent: no")
		b.want(b.runIn(ctx, "probe"), cli.WaitEnded, "nothing was to be changed")
	})
	onBench(t, bmctest.DeafGuest, func(b *bench) {
		b.want(b.run("power graceful-off --timeout 20s"), cli.WaitEnded, "the time is over during power graceful-off, the machine was last seen on", "sent: yes")
	})
}

func TestBMCBootAndMedia(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		b.want(b.run("boot set pxe --mode uefi --json"), cli.Done, `"target": "pxe"`, `"life": "once"`, `"mode": "uefi"`)
		b.want(b.run("boot get"), cli.Done, "once")
		b.want(b.run("boot clear --json"), cli.Done, `"target": "none"`)
		b.want(b.run("boot set nothing"), cli.Other, "UNSUPPORTED", "sent: no")
		got := b.run("media insert " + b.Image() + " --json")
		b.want(got, cli.Done, `"inserted": true`)
		var slot struct{ ID string }
		must(b.T, json.Unmarshal([]byte(got.out), &slot))
		b.want(b.run("media eject "+slot.ID), cli.Illegal, "CONFLICT", "sent: no")
		b.want(b.run("media eject "+slot.ID+" --running"), cli.Done)
		b.want(b.run("media eject none"), cli.Absent, "NOT_FOUND")
	})
	onBench(t, bmctest.NoContinuous, func(b *bench) {
		b.want(b.run("boot set pxe --persistent"), cli.Other, "UNSUPPORTED")
	})
}

// A wrong password is tried once; a stranger gets none.
func TestBMCRefusals(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		right := b.env["INGOT_BMC_PASSWORD"]
		b.env["INGOT_BMC_PASSWORD"] = "wrong-and-never-told"
		for i, line := range []string{"probe", "power off", "boot set pxe"} {
			b.want(b.run(line), cli.Denied)
			if n := b.Tally(); n.Failed != i+1 || n.Writes != 0 {
				b.Errorf("%s: %d logins were tried, %d changes", line, n.Failed, n.Writes)
			}
		}
		b.env["INGOT_BMC_PASSWORD"] = right
		before := b.Tally()
		pin := bmc.PinPrefix + strings.Repeat("A", 43) + "="
		b.want(b.bare(b.Context(), "probe", "--url", b.Endpoint().URL, "--user", "root", "--pin", pin), cli.Denied, b.Endpoint().Trust.Pin)
		b.want(b.bare(b.Context(), "probe", "--url", b.Endpoint().URL, "--user", "root"), cli.Denied, "peer-identity")
		if b.Tally().Requests != before.Requests {
			b.Error("a stranger was sent something")
		}
		b.want(b.bare(b.Context(), "probe", "--url", "https://nobody.example", "--user", "root"), cli.Unavailable, "unreachable")
		b.want(b.run("probe --system none"), cli.Invalid, "select one of System.Embedded.1")
	})
}

func TestBMCTrust(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		at, pin := b.Endpoint().URL, b.Endpoint().Trust.Pin
		b.want(b.bare(b.Context(), "pin", "--url", at), cli.Done, pin, "CN=bmc", "self signed:", "2100-01-01")
		b.want(b.bare(b.Context(), "pin", "--url", at, "--pin", pin, "--json"), cli.Done, `"pin": "`+pin)
		b.want(b.bare(b.Context(), "pin", "--url", at, "--pin", bmc.PinPrefix+strings.Repeat("A", 43)+"="), cli.Denied, pin)
		b.want(b.bare(b.Context(), "pin", "--url", "https://nobody.example"), cli.Unavailable)
		if n := b.Tally(); n.Requests != 0 {
			b.Errorf("%d requests", n.Requests)
		}
		b.want(b.bare(b.Context(), "probe", "--url", at, "--user", "root", "--first-use"), cli.Done, "--pin "+pin)
		b.want(b.bare(b.Context(), "probe", "--url", at, "--user", "root", "--insecure"), cli.Done, "warning: --insecure")
	})
}

func (b *bench) write(name, text string, mode os.FileMode) string {
	b.Helper()
	path := filepath.Join(b.home, name)
	must(b.T, os.MkdirAll(filepath.Dir(path), 0o700))
	must(b.T, os.WriteFile(path, []byte(text), mode))
	return path
}

// Passwords come from where others do not see them.
func TestBMCCredentials(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		secret := b.env["INGOT_BMC_PASSWORD"]
		b.env = map[string]string{}
		b.want(b.run("probe"), cli.BadUsage, "a password is needed")
		b.write("wide", secret+"\n", 0o644)
		b.write("shut", secret+"\n", 0o600)
		b.want(b.run("probe", "--password-file", "wide"), cli.BadUsage, "others may read it", "chmod 600")
		b.want(b.run("probe", "--password-file", "shut"), cli.Done)
		b.ask = func(q string) ([]byte, error) {
			if q != "password of root: " {
				b.Errorf("asked %q", q)
			}
			return []byte(secret), nil
		}
		b.want(b.run("probe"), cli.Done)
		b.ask = nil
		at := []string{"--url", b.Endpoint().URL, "--pin", b.Endpoint().Trust.Pin}
		b.write("secrets/rack/bmc7", "root\n"+secret+"\n", 0o600)
		must(b.T, os.Chmod(filepath.Join(b.home, "secrets"), 0o700))
		b.want(b.bare(b.Context(), append([]string{"probe", "--secret", "secret://file/rack/bmc7", "--secrets-root", "secrets"}, at...)...), cli.Done)
		b.env["INGOT_SECRET_BMC_USERNAME"], b.env["INGOT_SECRET_BMC_PASSWORD"] = "root", secret
		b.want(b.bare(b.Context(), append([]string{"probe", "--secret", "secret://env/INGOT_SECRET_BMC"}, at...)...), cli.Done)
		b.want(b.bare(b.Context(), append([]string{"probe", "--secret", "secret://env/INGOT_SECRET_NONE"}, at...)...), cli.Absent)
		for _, line := range []string{"--secret x", "--secret secret://file/x", "--secret secret://env/INGOT_SECRET_BMC --user root", ""} {
			b.want(b.bare(b.Context(), append(append([]string{"probe"}, strings.Fields(line)...), at...)...), cli.BadUsage)
		}
	})
}

func TestBMCRotate(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		old := b.env["INGOT_BMC_PASSWORD"]
		b.env["INGOT_BMC_NEW_PASSWORD"] = "next-9Kq-4711"
		b.want(b.run("rotate"), cli.Done, "stands:", "the new password")
		b.want(b.run("probe"), cli.Denied)
		b.env["INGOT_BMC_PASSWORD"] = b.env["INGOT_BMC_NEW_PASSWORD"]
		b.want(b.run("probe"), cli.Done)
		delete(b.env, "INGOT_BMC_NEW_PASSWORD")
		answers := []string{old, "another"}
		b.ask = func(string) ([]byte, error) {
			one := answers[0]
			answers = append(answers[1:], one)
			return []byte(one), nil
		}
		b.want(b.run("rotate"), cli.BadUsage, "differ")
		answers = []string{old, old}
		b.want(b.run("rotate"), cli.Done)
		b.want(b.run("rotate --password-file - --new-password-file -"), cli.BadUsage, "one thing alone")
	})
}

// What cannot be meant reaches no BMC.
func TestBMCUsage(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		at := b.Endpoint().URL
		for _, line := range []string{
			"probe", "probe --user root", "probe --user root --url ftp", "probe --user root --url http://bmc.example", "probe --user root --url " + at + "/x", "probe --user root --url https://u@bmc.example",
			"probe --user root --driver none --url " + at, "probe --user root --option {} --insecure --first-use --url " + at, "probe --user root --option [] --url " + at, `probe --user root --option {"no":1} --url ` + at,
			"probe --user root --ca none --url " + at, "probe --user root --pin x --url " + at, "boot set pxe --mode odd --user root --url " + at, "boot set pxe --uri http://x --user root --url " + at,
			"pin --url http://bmc.example", "pin", "power", "boot set", "media insert", "conformance --law 999", "conformance --level X", "conformance --format odd", "conformance --parallel -1",
			"conformance --destructive", "conformance --destructive --url " + at + " --user root", "conformance --destructive --yes-i-mean other --url " + at + " --user root", "conformance --level D --user root --url " + at,
			"conformance --level S --user root --url " + at, "conformance --level P,R --user root --url " + at, "conformance --level L,S --destructive --yes-i-mean other --user root --url " + at,
		} {
			b.want(b.bare(b.Context(), strings.Fields(line)...), cli.BadUsage)
		}
		if n := b.Tally(); n.Requests != 0 {
			b.Errorf("%d requests", n.Requests)
		}
	})
}

func TestBMCConformance(t *testing.T) {
	f := newFake(t)
	got := f.runIn(nil, "", "bmc", "conformance", "--level", "P", "--format", "junit", "--out", "report.xml")
	raw, err := os.ReadFile(filepath.Join(f.home, "report.xml"))
	if got.code != 0 || err != nil || !strings.Contains(string(raw), "<testsuite ") || strings.Contains(string(raw), "<failure") {
		t.Errorf("%d %s%s %v %s", got.code, got.out, got.err, err, raw)
	}
	if got := f.runIn(nil, "", "bmc", "conformance", "--level", "P", "--json"); got.code != 0 || !strings.Contains(got.out, `"broken": 0`) {
		t.Errorf("%d %s%s", got.code, got.out, got.err)
	}
	if got := f.runIn(nil, "", "bmc", "conformance", "--law", "61"); got.code != int(cli.Other) || !strings.Contains(got.err, "no law was checked") {
		t.Errorf("%d %s%s", got.code, got.out, got.err)
	}
}

// On a live BMC nothing is changed unless its host is said again.
func TestBMCConformanceLive(t *testing.T) {
	onBench(t, bmctest.Plain, func(b *bench) {
		b.want(b.run("conformance --level L"), cli.Done, "kept    L 60 ", "1 kept, 0 broken")
		if n := b.Tally(); n.Writes != 0 || n.Sessions != 0 {
			b.Errorf("%d changes, %d sessions", n.Writes, n.Sessions)
		}
		host := strings.TrimPrefix(b.Endpoint().URL, "https://")
		b.want(b.run("conformance --level L --destructive --yes-i-mean "+host), cli.Done, "kept    D 61 ", "kept    D 62 ", "3 kept")
		b.ask = func(string) ([]byte, error) { return []byte("another.example"), nil }
		b.want(b.run("conformance --destructive"), cli.BadUsage, "was not confirmed")
	})
	onBench(t, bmctest.Garbage, func(b *bench) {
		b.want(b.run("conformance --level L"), cli.Other, "broken  L 60 ", "breaks laws: 1 checks failed")
	})
}
