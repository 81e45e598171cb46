package booting

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ingotmetal/ingot/booter"
	"github.com/ingotmetal/ingot/booter/images"
	"github.com/ingotmetal/ingot/cmd/api"
)

// apart runs a test again, in a process with mounts of its own that end with it, and
// reports whether this is that process.
func apart(t *testing.T) bool {
	const mark = "INGOT_TEST_APART"
	if os.Getenv(mark) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v=true")
	cmd.Env = append(os.Environ(), mark+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 { // root needs no namespace of users, which a chroot does not give
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch _, ran := errors.AsType[*exec.ExitError](err); {
	case err == nil && strings.Contains(string(out), "--- PASS"):
	case err != nil && !ran || strings.Contains(string(out), noMount):
		if os.Getenv("INGOT_TEST_ALL") != "" {
			t.Fatalf("a small disk needs namespaces of users and mounts, or root: %v\n%s", err, out)
		}
		t.Skipf("a small disk needs namespaces of users and mounts, or root: %v", err)
	default:
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

const noMount = "no disk can be mounted"

// small is a disk of 256 KiB.
func small(t *testing.T) string {
	dir := t.TempDir()
	if err := syscall.Mount("small", dir, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		t.Fatalf("%s: %v", noMount, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

// fill takes all room on a disk, and returns what gives it back.
func fill(t *testing.T, dir string) (free func()) {
	f, err := os.CreateTemp(dir, "ballast")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 4096; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	}
}

// filled is a booter whose state is on a small disk, a machine's line and its approval.
type filled struct {
	*Setups
	t     *testing.T
	plane *plane
	logs  *lines
	dir   string
	m     *Machine
}

func newFilled(t *testing.T, dir string) *filled {
	f := &filled{t: t, plane: newPlane(), logs: &lines{}, dir: dir}
	d := newDesk(t, place(), still, enrolling())
	d.Answer(came(message(mac(known), 1, pxe...))) // it was heard of
	log := slog.New(slog.NewTextHandler(f.logs, nil))
	f.Setups = &Setups{Client: f.plane.client(), Desk: d, Log: log, File: filepath.Join(dir, "bundles.json"),
		Follower: &Follower{Client: f.plane.client(), Desk: d, Log: log, File: filepath.Join(dir, "site.json")}}
	f.m = &Machine{setups: f.Setups, server: uuid, told: true, hash: "h", macs: []string{known}, line: deaf{}}
	f.replace(f.m)
	return f
}

// approve lists an approval, as the poll does, and hands out what can be.
func (f *filled) approve(epoch uint64) {
	f.mu.Lock()
	f.approved = map[string]api.Approval{uuid: {Server: uuid, Epoch: epoch, AgentKey: "h"}}
	f.mu.Unlock()
	f.m.told = true
	if m, a, due := f.due(uuid); due {
		f.drain(f.t.Context(), m, a)
	}
}

func (f *filled) says(text string, times int) {
	f.t.Helper()
	if n := strings.Count(f.logs.String(), text); n != times {
		f.t.Errorf("%q is logged %d times, want %d:\n%s", text, n, times, f.logs)
	}
}

// A bundle is taken from the control plane only where it can be kept; a disk that is
// full by then takes it still, and people are told why a setup does not begin.
func TestStateFolderIsFull(t *testing.T) {
	if !apart(t) {
		return
	}
	dir := small(t)
	f := newFilled(t, dir)
	free := fill(t, dir)
	var full func()
	f.plane.on(drainPath, func([]byte) (any, error) {
		full = fill(t, dir) // while the bundle is on its way
		return api.Bundle{Epoch: 4, Sealed: true, Bundle: sealedBundle}, nil
	})
	for range 3 {
		f.approve(4)
	}
	if f.plane.count(drainPath) != 0 || !f.failed() || f.epochOf(uuid) != 0 {
		t.Errorf("%d drains of a bundle that cannot be kept", f.plane.count(drainPath))
	}
	f.says("takes no bundles", 1)
	if got := scrape(t, f.Desk); !strings.Contains(got, `ingot_booter_unkept{what="bundles"} 1`) {
		t.Error("no metric")
	}
	if all := f.Desk.Why(mac(known)).Moments; all[len(all)-1].Stage != stageSetup || !strings.Contains(all[len(all)-1].Detail, "no space left") || len(all) != 2 {
		t.Errorf("%+v", all)
	}
	free()
	f.approve(4)
	if f.plane.count(drainPath) != 1 || f.epochOf(uuid) != 4 {
		t.Errorf("%d drains, epoch %d", f.plane.count(drainPath), f.epochOf(uuid))
	}
	f.says("takes bundles again", 1)
	f.says("could not be kept", 0)
	again := &Setups{File: f.File, Log: quiet}
	if err := again.Load(); err != nil || again.handed[uuid].Bundle.Bundle.Show() != sealedBundle {
		t.Errorf("after a restart: %v", err)
	}
	f.ended(uuid, 4)
	full()
	if all, _ := os.ReadDir(dir); len(all) != 0 {
		t.Errorf("left: %v", all)
	}
}

// The site is written again by itself once there is room, and what was there stays
// whole until then.
func TestSiteIsKeptOnceThereIsRoom(t *testing.T) {
	if !apart(t) {
		return
	}
	dir := small(t)
	f := newFilled(t, dir)
	f.Follower.save(true)
	before, err := os.ReadFile(f.Follower.File)
	if err != nil {
		t.Fatal(err)
	}
	free := fill(t, dir)
	f.Desk.Change(func(w *World) *World {
		for n := range 40 {
			w.put(boot(numbered(n).String(), "discovered", ""))
		}
		w.Revision = 8
		return w
	})
	for range 3 {
		f.Follower.save(true)
	}
	if err := f.Follower.Wait(t.Context(), 8); err != nil {
		t.Errorf("who waits for revision 8 waits for the disk: %v", err)
	}
	if now, err := os.ReadFile(f.Follower.File); err != nil || string(now) != string(before) || !f.Follower.behind(8) {
		t.Errorf("%v, %d bytes, behind %t", err, len(now), f.Follower.behind(8))
	}
	f.says("could not be kept", 1)
	free()
	f.Follower.save(true)
	if now, _ := os.ReadFile(f.Follower.File); len(now) <= len(before) || f.Follower.behind(8) {
		t.Error("it is not written again")
	}
	f.says("is kept again", 1)
}

// Images that do not fit are refused whole, and nothing of them is left.
func TestStagingFolderIsFull(t *testing.T) {
	if !apart(t) {
		return
	}
	dir := small(t)
	s, err := images.Create(filepath.Join(dir, "images"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stageBig := func(size int64) error {
		m := images.Manifest{Name: "big", Files: []images.File{{Name: "vmlinuz"}}, Boots: map[booter.Platform]images.Boots{images.Any: {Kernel: "vmlinuz"}}}
		_, err := s.Stage(t.Context(), m, map[string]images.Source{"vmlinuz": {Reader: strings.NewReader(strings.Repeat("x", int(size)))}}, nil)
		return err
	}
	if full, ok := errors.AsType[*images.Full](stageBig(1 << 20)); !ok || full.Code() != "UNAVAILABLE" || !errors.Is(full, syscall.ENOSPC) {
		t.Errorf("%v", full)
	}
	_ = filepath.Walk(dir, func(path string, fi os.FileInfo, err error) error {
		if fi.Mode().IsRegular() && fi.Size() > 0 {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if len(s.List()) != 0 {
		t.Errorf("%+v", s.List())
	}
	if err := stageBig(100 << 10); err != nil {
		t.Errorf("what fits: %v", err)
	}
}

// Of many bundles that are drained at once on a disk with room for some, each that was
// taken is there after a restart, and the others are at the control plane still.
func TestSomeBundlesFit(t *testing.T) {
	if !apart(t) {
		return
	}
	dir := small(t)
	f := newFilled(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "taken"), make([]byte, 100<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []api.Approval
	for n := range 60 {
		server := strings.Replace(uuid, "0001-4", "00"+hexOf([]byte{byte(n)})+"-4", 1)
		f.plane.on("/v1/setup/"+server+"/drain", func([]byte) (any, error) {
			return api.Bundle{Epoch: 4, Sealed: true, Bundle: sealedBundle}, nil
		})
		f.replace(&Machine{setups: f.Setups, server: server, told: true, hash: "h", line: deaf{}})
		all = append(all, api.Approval{Server: server, Epoch: 4, AgentKey: "h"})
	}
	f.mu.Lock()
	f.approved = map[string]api.Approval{}
	for _, a := range all {
		f.approved[a.Server] = a
	}
	f.mu.Unlock()
	f.each(t.Context(), all)
	again := &Setups{File: f.File, Log: quiet}
	if err := again.Load(); err != nil {
		t.Error(err)
	}
	for _, a := range all {
		taken := f.plane.count("/v1/setup/"+a.Server+"/drain") > 0
		if _, kept := again.handed[a.Server]; kept != taken {
			t.Errorf("%s: taken %t, kept %t", a.Server, taken, kept)
		}
	}
	if n := len(again.handed); n == 0 || n == len(all) {
		t.Errorf("%d of %d fit: this disk has the wrong size for this test", n, len(all))
	}
}
