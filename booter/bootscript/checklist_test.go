package bootscript

import (
	"slices"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/booter"
)

// What clients look for, in words; with the other tests named TestChecklistOf...:
// go test -v -run Checklist ./booter/...
func TestChecklistOfPaths(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		want Path
	}{
		"autoexec.ipxe, which iPXE looks for beside itself, is the script":    {"b/tok/autoexec.ipxe", Path{Token: "tok", Leaf: Script}},
		"autoexec.ipxe at the root is the script of who asks by its address":  {"/autoexec.ipxe", Path{Leaf: Script}},
		"the folder by backslashes, as firmware spells it":                    {`\b\tok\efi-x64.efi`, Path{Token: "tok", Leaf: Loader, Platform: booter.X64}},
		"a shim finds its second stage in its own folder":                     {"b/tok/grubx64.efi", Path{Token: "tok", Leaf: Beside, Name: "grubx64.efi"}},
		"a shim finds its second stage at the root, where it lost the folder": {`\grubx64.efi`, Path{Leaf: Beside, Name: "grubx64.efi"}},
		"the shim of iPXE finds ipxe.efi":                                     {"/b/tok/ipxe.efi", Path{Token: "tok", Leaf: Beside, Name: "ipxe.efi"}},
		"leading and double slashes":                                          {"//b/tok/boot.ipxe", Path{Token: "tok", Leaf: Script}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := ParsePath(c.path); !ok || got != c.want {
				t.Errorf("%q is %+v, %t", c.path, got, ok)
			}
		})
	}
	for name, paths := range map[string][]string{
		"a garbled name of a second stage is nothing, at once": {"b/tok/\x00\x01grub", "\xd0\xcf\x11\xe0", "b/tok/ grubx64.efi", "b/tok/" + strings.Repeat("n", 129)},
		"a path that leads out is nothing":                     {"b/tok/../x", "..", "b/tok/..", "i/../x", `b\tok\..\x`},
		"a folder that is not ours is nothing":                 {"pxelinux.cfg/default", "EFI/BOOT/grubx64.efi", "b/tok/x/y"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range paths {
				if got, ok := ParsePath(path); ok {
					t.Errorf("%q is %+v", path, got)
				}
			}
		})
	}
}

func TestChecklistOfOffers(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"what cannot be opened is not offered; each stage goes on to its own next": first,
		"names by TFTP and HTTP, in every spelling":                                paths,
		"the script has only the verbs of old iPXE ROMs":                           oldVerbs,
		"the script tries 10 times, waits longer each time, then restarts":         tries,
		"nothing of a record, a policy or an image injects into the script":        nothingInjects,
	} {
		t.Run(name, test)
	}
}

// oldVerbs are those of the iPXE that cards of 2012 and later have: no iflinkwait,
// imgextract, shim or the like.
func oldVerbs(t *testing.T) {
	known := strings.Fields("set imgfree kernel initrd chain boot inc iseq goto echo sleep reboot")
	for _, p := range []Program{{Kernel: "vmlinuz", Initrds: []string{"initrd"}}, {EFI: "uki.efi"}} {
		out, err := IPXE("http://10.0.0.1:8080/b/tok/", "enroll", p, []string{"quiet"})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			for command := range strings.SplitSeq(strings.ReplaceAll(line, "&&", "||"), "||") {
				verb, _, _ := strings.Cut(strings.TrimSpace(command), " ")
				if verb != "" && verb[0] != '#' && verb[0] != ':' && !slices.Contains(known, verb) {
					t.Errorf("%q in %q", verb, line)
				}
			}
		}
	}
}

func tries(t *testing.T) {
	out, err := IPXE("http://10.0.0.1:8080/b/tok/", "enroll", Program{Kernel: "vmlinuz"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nset try:int32 0\n:load\n", "\ninc try\niseq ${try} 10 && goto end ||\n", "\nsleep ${try}\ngoto load\n", "\nsleep 30\nreboot\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
