package bootscript

import (
	"strings"

	"github.com/ingotmetal/ingot/booter"
)

// Leaf is what a path leads to.
type Leaf string

// The leaves.
const (
	Script Leaf = "script" // the machine's iPXE script
	Loader Leaf = "loader" // the first boot program of its platform
	File   Leaf = "file"   // a file of an image
	Disk   Leaf = "disk"   // a disk image, by its content
	Beside Leaf = "beside" // what a first boot program looks for beside itself, such as the second stage of a shim
)

// A Path is a name under which a booter serves something to one machine, over TFTP
// and HTTP alike.
type Path struct {
	Token    string // "" where the client is known by its address
	Leaf     Leaf
	Platform booter.Platform // of a loader; of a script, "" where it is not known
	Image    string          // of a file
	Name     string          // of a file, and of what is beside; of a disk image its SHA-256 in hexadecimal
}

// ScriptName is the script's name where the platform is not known. iPXE looks for
// AutoName beside itself.
const (
	ScriptName = "boot.ipxe"
	AutoName   = "autoexec.ipxe"
)

// A script's name begins and ends so, around its platform.
const (
	scriptBegins = "boot-"
	scriptEnds   = ".ipxe"
)

// maxName bounds a file's name, in bytes.
const maxName = 128

// platforms are those with a first boot program. Some firmware goes by the ending of
// a name.
var platforms = map[booter.Platform]string{
	booter.BIOS: ".kpxe", booter.IA32: ".efi", booter.X64: ".efi", booter.ARM32: ".efi", booter.ARM64: ".efi",
	booter.UBootARM32: ".efi", booter.UBootARM64: ".efi",
}

// String is the path without a leading slash.
func (p Path) String() string {
	var leaf string
	switch p.Leaf {
	case Script:
		leaf = ScriptName
		if p.Platform != "" {
			leaf = scriptBegins + string(p.Platform) + scriptEnds
		}
	case Loader:
		leaf = string(p.Platform) + platforms[p.Platform]
	case File:
		leaf = "i/" + p.Image + "/" + p.Name
	case Disk:
		leaf = "d/" + p.Name
	case Beside:
		leaf = p.Name
	}
	if p.Token == "" {
		return leaf
	}
	return "b/" + p.Token + "/" + leaf
}

// ParsePath reads what String wrote, with or without leading slashes. Backslashes are
// slashes to some firmware. Any other plain name is [Beside]: a shim asks for its second
// stage in its own folder, or, where it takes a backslash for a part of a name, at the
// root.
func ParsePath(s string) (Path, bool) {
	s = strings.TrimLeft(strings.ReplaceAll(s, `\`, "/"), "/")
	var p Path
	if rest, ok := strings.CutPrefix(s, "b/"); ok {
		if p.Token, s, ok = strings.Cut(rest, "/"); !ok || p.Token == "" {
			return Path{}, false
		}
	}
	if s == ScriptName || s == AutoName {
		p.Leaf = Script
		return p, true
	}
	if rest, ok := strings.CutPrefix(s, "i/"); ok {
		p.Leaf = File
		p.Image, p.Name, ok = strings.Cut(rest, "/")
		return p, ok && booter.Gate(p.Image) == nil && isName(p.Name)
	}
	if rest, ok := strings.CutPrefix(s, "d/"); ok {
		p.Leaf, p.Name = Disk, rest
		return p, booter.IsDigest(rest)
	}
	for platform, end := range platforms {
		switch s {
		case string(platform) + end:
			p.Leaf, p.Platform = Loader, platform
			return p, true
		case scriptBegins + string(platform) + scriptEnds:
			p.Leaf, p.Platform = Script, platform
			return p, true
		}
	}
	p.Leaf, p.Name = Beside, s
	return p, isName(s)
}

// isName reports whether s is one plain file name.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && s[0] != '.' && !strings.Contains(s, "..") && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '_' || r == '-')
	})
}
