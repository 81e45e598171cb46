package disklayout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Loss is a signature that dies when a plan is written.
type Loss struct {
	Signature
	// Own is of this server's stamp (SET-15). All others die by an Override.
	Own bool `json:"own"`
}

// tables are the partition tables that libblkid names.
var tables = []string{"gpt", "dos", "PMBR", "sun", "bsd", "mac", "sgi", "aix", "minix", "unixware", "solaris_x86", "atari", "amiga"}

// members are the types of what is part of something larger: no filesystem to
// mount, and no proof that nothing is there.
var members = []string{
	"zfs_member", "LVM2_member", "LVM1_member", "linux_raid_member", "ddf_raid_member", "isw_raid_member",
	"lsi_mega_raid_member", "via_raid_member", "silicon_medley_raid_member", "nvidia_raid_member",
	"promise_fasttrack_raid_member", "hpt37x_raid_member", "hpt45x_raid_member", "adaptec_raid_member", "jmicron_raid_member",
	"btrfs", "bcache", "bcachefs", "ceph_bluestore", "drbd", "DM_snapshot_cow", "mpool", "stratis", "VMFS", "VMFS_volume_member",
}

// Pooled reports whether a type of signature is of a member of a pool or an
// array.
func Pooled(typ string) bool { return slices.Contains(members, typ) }

// losses accounts for every signature on d (DISK-4): own ones and overridden
// ones die, those of the running attempt are resumed, and any other refuses the
// plan. used marks the overrides that were needed.
func (d *seen) losses(req *Request, stamp Stamp, used []bool) ([]Loss, error) {
	var out []Loss
	for _, sig := range d.signatures() {
		own, resumed := stamp.owns(sig.Stamp)
		if resumed {
			continue
		}
		if !own && !d.overridden(req, sig, used) {
			return nil, d.foreign(sig)
		}
		out = append(out, Loss{sig, own})
	}
	return out, nil
}

// signatures are those of d in the order of their places. Partitions of which
// no table tells are signatures themselves.
func (d *seen) signatures() []Signature {
	out := d.Signatures
	if len(d.Partitions) > 0 && !slices.ContainsFunc(out, func(s Signature) bool { return slices.Contains(tables, s.Type) }) {
		out = slices.Clone(out)
		for _, p := range d.Partitions {
			out = append(out, Signature{Type: "partition", Offset: p.Start, Label: p.Label, UUID: p.UUID})
		}
	}
	if !slices.IsSortedFunc(out, compareSignatures) {
		out = slices.SortedFunc(slices.Values(out), compareSignatures)
	}
	return out
}

func compareSignatures(a, b Signature) int {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Type, b.Type), strings.Compare(a.UUID, b.UUID),
		strings.Compare(a.Label, b.Label), strings.Compare(a.Stamp, b.Stamp))
}

// overridden reports whether an override names this signature of d, and marks
// it used.
func (d *seen) overridden(req *Request, sig Signature, used []bool) bool {
	for i, o := range req.Overrides {
		if CanonicalSerial(o.Serial) == d.serial && o.Type == sig.Type && o.UUID == sig.UUID && (o.UUID != "" || o.Offset == sig.Offset) {
			used[i] = true
			return true
		}
	}
	return false
}

// foreign is the refusal that names disk, signature and the one override.
func (d *seen) foreign(sig Signature) error {
	reason := ForeignSignature
	if Pooled(sig.Type) {
		reason = PoolMember
	}
	place := fmt.Sprintf(`"offset":%d`, sig.Offset)
	if sig.UUID != "" {
		place = `"uuid":` + quoted(sig.UUID)
	}
	e := refuse(reason, d, "it holds "+sig.describe()+", which has not this server's stamp")
	e.Signature = sig
	e.Next += fmt.Sprintf(` with {"serial":%s,"type":%s,%s}`, quoted(d.serial), quoted(sig.Type), place)
	return e
}

// describe is the signature for people.
func (s *Signature) describe() string {
	out := plain(s.Type)
	if s.Label != "" {
		out += " " + plain(s.Label)
	}
	if s.UUID != "" {
		out += " (" + plain(s.UUID) + ")"
	}
	return fmt.Sprintf("%s at byte %d", out, s.Offset)
}

// dying are the partitions of d that die: all, where their table does.
func (d *seen) dying(lost []Loss) []Partition {
	dies := func(l Loss) bool { return l.Type == "partition" || slices.Contains(tables, l.Type) }
	if len(d.Partitions) == 0 || !slices.ContainsFunc(lost, dies) {
		return nil
	}
	return slices.SortedFunc(slices.Values(d.Partitions), func(a, b Partition) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Size, b.Size),
			strings.Compare(a.UUID, b.UUID), strings.Compare(a.Type, b.Type), strings.Compare(a.Label, b.Label))
	})
}
