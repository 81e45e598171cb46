package disklayout

// A Reason says in one word why a plan is refused, or why a disk stays unused.
// It is for programs; Refused.Error is for people.
type Reason string

// Reasons that lie in the request.
const (
	LayoutUnknown      Reason = "layout_unknown"
	FieldOutOfPlace    Reason = "field_out_of_place"  // the layout has no use for a field that is set
	DisksWanted        Reason = "disks_wanted"        // not as many selectors as the layout takes
	SelectorEmpty      Reason = "selector_empty"      // names nothing, or the kernel name alone
	SelectorInvalid    Reason = "selector_invalid"    // a placeholder, or an empty range
	SizeInvalid        Reason = "size_invalid"        // no whole number of MiB, over 16 PiB, or two rests
	CompressionInvalid Reason = "compression_invalid" // not on the list of DISK-6
	AshiftInvalid      Reason = "ashift_invalid"
	WidthInvalid       Reason = "width_invalid"
	PoolNameInvalid    Reason = "pool_name_invalid"
	ImageInvalid       Reason = "image_invalid"
	BootInvalid        Reason = "boot_invalid"     // names no file by its SHA-256
	OverrideInvalid    Reason = "override_invalid" // names no disk and signature, or nothing that the plan destroys
	StampInvalid       Reason = "stamp_invalid"
	Malformed          Reason = "malformed" // JSON or text that is not of its form
)

// Reasons that lie in the disks. The first four keep a disk from being a
// candidate at all.
const (
	NoMedium          Reason = "no_medium" // its size is 0
	Removable         Reason = "removable"
	USB               Reason = "usb"
	ReadOnly          Reason = "read_only"
	NoSuchDisk        Reason = "no_such_disk"
	Ambiguous         Reason = "ambiguous"
	NameMismatch      Reason = "name_mismatch" // the kernel name that was given leads to another disk
	DiskTwice         Reason = "disk_twice"    // two selectors lead to it
	TransportUnknown  Reason = "transport_unknown"
	NoSerial          Reason = "no_serial"
	DuplicateSerial   Reason = "duplicate_serial"
	ManyPaths         Reason = "many_paths" // one disk announced twice: serial and WWN are equal
	NotProbed         Reason = "not_probed" // nobody looked for signatures
	SectorUnknown     Reason = "sector_unknown"
	SectorUnsupported Reason = "sector_unsupported"
	MixedSectors      Reason = "mixed_sectors"
	SizeAbsurd        Reason = "size_absurd"  // over 16 PiB, or no whole number of sectors
	PlanChanged       Reason = "plan_changed" // its digest is of another plan
	DiskChanged       Reason = "disk_changed" // a disk of the plan is not what it was
	TextInvalid       Reason = "text_invalid"
	TooSmall          Reason = "too_small"
	ESPTooSmall4Kn    Reason = "esp_too_small_4kn"
	ForeignSignature  Reason = "foreign_signature"
	PoolMember        Reason = "pool_member"
	TooManyDisks      Reason = "too_many_disks"
	NotSelected       Reason = "not_selected" // of an unused disk alone: it could be written
)

// A rule is what holds for every refusal of one reason.
type rule struct {
	code string // API-3
	req  string
	next string
}

// rules has every reason that a refusal has.
var rules = map[Reason]rule{
	LayoutUnknown:      {"INVALID_INPUT", "SET-4", "ask for gpt, single or mirror"},
	FieldOutOfPlace:    {"INVALID_INPUT", "SET-4", "leave the field out, or ask for the layout it belongs to"},
	DisksWanted:        {"INVALID_INPUT", "SET-4", "name the disks, one selector each"},
	SelectorEmpty:      {"INVALID_INPUT", "DISK-2", "select by serial, WWN, size, model, transport or rotation; a kernel name is only a second witness"},
	SelectorInvalid:    {"INVALID_INPUT", "DISK-2", "correct the selector"},
	SizeInvalid:        {"INVALID_INPUT", "SET-4", "give a whole number of MiB in bytes"},
	CompressionInvalid: {"INVALID_INPUT", "DISK-6", "take off, on, lz4, lzjb, zle, gzip, gzip-1 to gzip-9, or zstd and zstd-1 to zstd-19 where the image has it"},
	AshiftInvalid:      {"INVALID_INPUT", "SET-4", "give 9 to 16, not below the disks' logical sector, or leave it out"},
	WidthInvalid:       {"INVALID_INPUT", "SET-4", "give a width of 2 or more that divides the number of disks"},
	PoolNameInvalid:    {"INVALID_INPUT", "SET-4", "give 1 to 63 letters, digits or _ . : - beginning with a letter, and no word that zpool reserves"},
	ImageInvalid:       {"INVALID_INPUT", "SET-4", "name the disk image by its digest"},
	BootInvalid:        {"INVALID_INPUT", "SET-4", "name the boot program by sha256: and 64 hexadecimal digits, lower case"},
	OverrideInvalid:    {"INVALID_INPUT", "DISK-4", "name a disk that the layout writes and one foreign signature on it, as announced"},
	StampInvalid:       {"INVALID_INPUT", "REG-9", "plan with the UUID that the machine registered with"},
	Malformed:          {"INVALID_INPUT", "REG-9", "correct the form; the package's comment has it"},
	TooManyDisks:       {"INVALID_INPUT", "SET-4", "announce at most 1024 disks"},

	NoSuchDisk:        {"INVALID_INPUT", "DISK-2", "look at the announced disks and correct the selector; no other disk is taken instead"},
	Ambiguous:         {"INVALID_INPUT", "DISK-2", "narrow the selector, best to one serial"},
	DiskTwice:         {"INVALID_INPUT", "DISK-2", "name each disk once"},
	NameMismatch:      {"CONFLICT", "RUN-4", "leave the kernel name out, or correct it; the serial decides"},
	PlanChanged:       {"CONFLICT", "SET-14", "write nothing; take the plan that was approved, unchanged"},
	DiskChanged:       {"CONFLICT", "SET-14", "write nothing; announce again and let the new plan be approved"},
	NoMedium:          {"CONFLICT", "RUN-4", "insert the medium, or choose another disk"},
	Removable:         {"CONFLICT", "RUN-4", "choose a disk that is built in"},
	USB:               {"CONFLICT", "RUN-4", "choose a disk that is not on USB"},
	ReadOnly:          {"CONFLICT", "RUN-4", "lift the write protection and announce again, or choose another disk"},
	TransportUnknown:  {"CONFLICT", "RUN-4", "boot an agent that announces the transport; without it the disk may be on USB"},
	NoSerial:          {"CONFLICT", "DISK-2", "choose a disk with a serial; without one it cannot be found again before the write"},
	DuplicateSerial:   {"CONFLICT", "DISK-2", "take one of the disks out, or choose another; the serial cannot tell them apart"},
	ManyPaths:         {"CONFLICT", "DISK-2", "set up multipath so that the disk is announced once"},
	NotProbed:         {"CONFLICT", "DISK-4", "boot an agent that looks for signatures; unknown is not empty"},
	TextInvalid:       {"CONFLICT", "REG-9", "choose another disk; this one's texts are over 128 bytes or have control characters"},
	SectorUnknown:     {"CONFLICT", "DISK-1", "boot an agent that announces both sector sizes"},
	SectorUnsupported: {"UNSUPPORTED", "DISK-1", "format the disk to sectors of 512 or 4096 bytes, or choose another"},
	MixedSectors:      {"CONFLICT", "DISK-1", "choose disks of one sector size, or give an ashift that suits all"},
	SizeAbsurd:        {"CONFLICT", "DISK-1", "choose another disk; what this one says of its size cannot be"},
	TooSmall:          {"CONFLICT", "DISK-1", "ask for less, or choose a larger disk"},
	ESPTooSmall4Kn:    {"UNSUPPORTED", "DISK-1", "give the ESP 260 MiB or more: FAT32 needs 65525 clusters, of at least one 4096-byte sector each"},
	ForeignSignature:  {"CONFLICT", "DISK-4", "keep what is on it and choose another disk, or override"},
	PoolMember:        {"CONFLICT", "DISK-4", "import the pool and see whose it is; a pool that is not imported is not an empty disk; else choose another disk, or override"},
}
