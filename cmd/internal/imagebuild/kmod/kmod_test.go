package kmod_test

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"pgregory.net/rapid"

	"github.com/ingotmetal/ingot/cmd/internal/imagebuild/kmod"
)

// ko is a module with nothing but what it says of itself.
func ko(info string) []byte {
	const names = "\x00.modinfo\x00.shstrtab\x00"
	var b bytes.Buffer
	at := uint64(64 + len(info) + len(names))
	head := elf.Header64{Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: at, Ehsize: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2}
	copy(head.Ident[:], "\x7fELF\x02\x01\x01")
	sections := []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: 64, Size: uint64(len(info)), Addralign: 1},
		{Name: 10, Type: uint32(elf.SHT_STRTAB), Off: 64 + uint64(len(info)), Size: uint64(len(names)), Addralign: 1},
	}
	for _, part := range []any{head, []byte(info + names), sections} {
		_ = binary.Write(&b, binary.LittleEndian, part) // a buffer takes all
	}
	return b.Bytes()
}

const said = "license=GPL\x00alias=pci:v*\x00depends=virtio_ring,net-failover\x00softdep=pre: crc32c-intel libcrc post: late\x00softdep=post: later\x00name=x\x00vermagic=6.1.0-57-amd64 SMP preempt \x00"

func TestRead(t *testing.T) {
	raw := ko(said)
	for end, pack := range map[string]func([]byte) []byte{"": slices.Clone[[]byte], ".gz": gz, ".xz": xzed, ".zst": zst} {
		m, err := kmod.Read("kernel/net/my-virtio.ko"+end, pack(raw))
		if err != nil || m.Name != "my_virtio" || m.Path != "kernel/net/my-virtio.ko" || !bytes.Equal(m.Body, raw) ||
			!slices.Equal(m.Needs, []string{"virtio_ring", "net_failover"}) || !slices.Equal(m.Before, []string{"crc32c_intel", "libcrc"}) || m.Release != "6.1.0-57-amd64" {
			t.Errorf("%s: %q %q %v %v %q, %v", end, m.Name, m.Path, m.Needs, m.Before, m.Release, err)
		}
		if end != "" {
			if _, err := kmod.Read("a.ko"+end, raw); !errors.As(err, new(*kmod.Invalid)) {
				t.Errorf("%s, and is not: %v", end, err)
			}
		}
	}
	exec := ko(said)
	exec[16] = 2 // an executable
	for name, raw := range map[string][]byte{"nothing": nil, "text": []byte("text"), "executable": exec, "no info": bytes.Replace(ko(said), []byte(".modinfo"), []byte(".nodinfo"), 1)} {
		if _, err := kmod.Read("a.ko", raw); !errors.As(err, new(*kmod.Invalid)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func gz(raw []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(raw)
	_ = w.Close()
	return b.Bytes()
}

func xzed(raw []byte) []byte {
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(raw)
	_ = w.Close()
	return b.Bytes()
}

func zst(raw []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(raw, nil)
}

// names are those of modules.
func names(ms []kmod.Module) string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Name)
	}
	return strings.Join(out, " ")
}

func TestOrder(t *testing.T) {
	s := kmod.NewSet([]kmod.Module{
		{Name: "virtio"}, {Name: "virtio_ring", Needs: []string{"virtio"}}, {Name: "net_failover", Needs: []string{"failover"}}, {Name: "failover"},
		{Name: "virtio_net", Needs: []string{"net_failover", "virtio_ring", "built"}, Before: []string{"soft", "nowhere"}}, {Name: "soft", Before: []string{"virtio_net"}},
		{Name: "broken", Needs: []string{"gone"}}, {Name: "a", Needs: []string{"b"}}, {Name: "b", Needs: []string{"a"}},
	}, "kernel/x/built.ko\nkernel/y/other-built.ko\n")
	for ask, want := range map[string]string{
		"":                                     "",
		"virtio-net":                           "soft failover net_failover virtio virtio_ring virtio_net",
		"virtio_ring virtio virtio_net":        "virtio virtio_ring soft failover net_failover virtio_net",
		"built other_built soft":               "failover net_failover virtio virtio_ring virtio_net soft",
		"kernel/drivers/virtio/virtio_ring.ko": "virtio virtio_ring",
	} {
		got, err := s.Order(strings.Fields(ask))
		if err != nil || names(got) != want {
			t.Errorf("%q: %q, %v; want %q", ask, names(got), err, want)
		}
	}
	for ask, want := range map[string]any{"nowhere": new(*kmod.Missing), "broken": new(*kmod.Missing), "a": new(*kmod.Cyclic)} {
		if got, err := s.Order([]string{ask}); got != nil || !errors.As(err, want) {
			t.Errorf("%q: %v, %v", ask, got, err)
		}
	}
	if !s.Has("virtio-net") || !s.Has("built") || s.Has("nowhere") || s.Len() != 9 {
		t.Error("it does not know what it has")
	}
}

// In any set, each module stands once, after all that it needs.
func TestOrderOfAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "modules")
		var ms []kmod.Module
		var ask []string
		for i := range n {
			m := kmod.Module{Name: string(rune('A' + i))}
			if i > 0 { // needs alone go to those before: no cycle
				for _, j := range rapid.SliceOfN(rapid.IntRange(0, i-1), 0, 3).Draw(t, "needs") {
					m.Needs = append(m.Needs, string(rune('A'+j)))
				}
			}
			for _, j := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 1).Draw(t, "before") {
				m.Before = append(m.Before, string(rune('A'+j)))
			}
			ms = append(ms, m)
			if rapid.Bool().Draw(t, "ask") {
				ask = append(ask, m.Name)
			}
		}
		got, err := kmod.NewSet(ms, "").Order(ask)
		if errors.As(err, new(*kmod.Cyclic)) {
			return // wishes and needs together
		}
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]int{}
		for i, m := range got {
			if _, twice := at[m.Name]; twice {
				t.Fatalf("%s is there twice", m.Name)
			}
			at[m.Name] = i + 1
			for _, need := range m.Needs {
				if at[need] == 0 {
					t.Fatalf("%s comes before %s in %q", m.Name, need, names(got))
				}
			}
		}
		for _, name := range ask {
			if at[name] == 0 {
				t.Fatalf("%s is not there", name)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("a.ko", ko(said))
	f.Add("a.ko.xz", xzed(ko(said)))
	f.Add("a.ko.zst", zst(ko(said)))
	f.Fuzz(func(t *testing.T, path string, raw []byte) {
		if len(raw) > 1<<16 {
			return
		}
		m, err := kmod.Read(path, raw)
		if err != nil && !errors.As(err, new(*kmod.Invalid)) {
			t.Error(err)
		}
		if err == nil && (len(m.Body) > kmod.MaxModule || strings.ContainsAny(m.Name, "/-") || slices.Contains(m.Needs, "")) {
			t.Errorf("%q %v", m.Name, m.Needs)
		}
	})
}
