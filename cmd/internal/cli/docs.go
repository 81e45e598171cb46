package cli

// docs are what flags do whose fields are documented where a layout is, and not in
// the table.
var docs = map[string]string{
	"layout.layout":         "gpt, single or mirror",
	"layout.disks":          "selects one disk",
	"layout.image":          "digest of a disk image to write, staged before",
	"layout.boot":           "digest of what UEFI boots from the disk, staged before",
	"layout.overrides":      "lets a signature that is found on a disk die",
	"layout.esp":            "of the EFI partition; default 512MiB",
	"layout.root":           "of the root partition; default 32GiB",
	"layout.data":           "of the data partition; default rest",
	"layout.pool":           "the pool's name; default zones",
	"layout.width":          "disks in one mirror; default 2",
	"layout.ashift":         "9 to 16; default 12, or more for larger sectors",
	"layout.compression":    "of the pool; default lz4",
	"layout.image_has_zstd": "the booted image knows zstd",

	"answer_only_pxe":  "answer machines that boot by PXE alone",
	"enrollment_image": "the image of machines that enroll, as staged",
	"rescue_image":     "the image of machines in rescue mode",
	"gateway":          "the admin network's gateway",
	"pool":             "only nodes of this pool",
	"site":             "only nodes of this site",
	"scope":            "what the key may do",
	"epoch":            "of the approval (SET-9)",
	"booter":           "the booter's name",
	"boots":            "what was served",
	"sightings":        "what was seen",
	"password":         "the operator's password",
	"node":             "only this node's",
	"type":             "only types that begin so",
}
