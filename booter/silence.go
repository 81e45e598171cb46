package booter

// Silence is why a packet was not answered; "" is that it was. Its text is
// stable: it is the wire name, the log field and the counter's label.
type Silence string

// The reasons, in the order of BOOT-21: of several that apply, the first. It
// runs from the packet, by what is read first, to the network, the record and
// at last the image, so a reason tells how far the packet came. Renaming one
// breaks the counters and rules of those who watch them.
const (
	Malformed           Silence = "malformed"
	RateMAC             Silence = "rate-mac"
	RateSite            Silence = "rate-site"
	TypeNotServed       Silence = "type-not-served"
	NotPXE              Silence = "not-pxe"
	UnknownArch         Silence = "unknown-arch"
	ForeignNetwork      Silence = "foreign-network"
	OtherServer         Silence = "other-server"
	NoRecord            Silence = "no-record"
	StateDiscovered     Silence = "discovered"
	StateDecommissioned Silence = "decommissioned"
	StateUnknown        Silence = "unknown-state"
	NoAddress           Silence = "no-address"
	WrongAddress        Silence = "wrong-address"
	ImageUnset          Silence = "image-unset"
	ImageRefused        Silence = "image-refused"
	ImageUnstaged       Silence = "image-unstaged"
	BootLoop            Silence = "boot-loop"
)

// Reason is what there is to say of a [Silence].
type Reason struct {
	Silence Silence
	Req     string // the requirement that demands it
	Means   string // a sentence for the operator
	Change  string // what would change the answer
}

// reasons is the table, in the same order.
var reasons = [...]Reason{
	{Malformed, "BOOT-23",
		"The packet is no whole DHCP request of an Ethernet client.",
		"Mend the sender; its flaw says what is wrong."},
	{RateMAC, "BOOT-21",
		"This MAC sends more packets than one client may.",
		"It is heard again when it slows down, or when the limit for a MAC is raised."},
	{RateSite, "BOOT-21",
		"All clients together send more packets than this booter takes.",
		"The client's retry is heard once the burst is over; a higher limit for the site takes more."},
	{TypeNotServed, "BOOT-21",
		"The booter does not answer this type of message on this port.",
		"Nothing: clients that boot send DISCOVER, REQUEST or INFORM."},
	{NotPXE, "BOOT-20",
		"The client does not ask to boot, and only clients that boot are answered.",
		"Boot it from the network; or, outside proxy mode, turn off answer_only_pxe; for U-Boot, allow it in the policy."},
	{UnknownArch, "BOOT-21",
		"The client names no architecture that this booter has a boot program for.",
		"Set the firmware to a supported mode; for U-Boot, allow it in the policy."},
	{ForeignNetwork, "BOOT-21",
		"The packet comes from no admin network.",
		"Add its network to the admin networks, or move the port or the relay."},
	{OtherServer, "BOOT-6",
		"The client has chosen the offer of another DHCP server.",
		"Remove the other server from the segment, or run this one as a proxy."},
	{NoRecord, "BOOT-1",
		"The site does not know this MAC.",
		"Its sighting creates a record; enroll that by hand or let the policy admit it."},
	{StateDiscovered, "BOOT-1",
		"The MAC was seen, but nobody has admitted it.",
		"Enroll it, let the policy admit it, give it a boot entry, or set mode rescue."},
	{StateDecommissioned, "BOOT-4",
		"The MAC is shut out.",
		"Reactivate it, or set mode rescue."},
	{StateUnknown, "EDGE-18",
		"The record was written by a newer program, and this one does not know its state.",
		"Update this booter."},
	{NoAddress, "BOOT-6",
		"No address is reserved for this MAC.",
		"Free or add addresses in the admin network, then enroll the MAC."},
	{WrongAddress, "BOOT-21",
		"The client asks for an address that is not ours to give to it.",
		"Nothing: the client asks anew when its request times out."},
	{ImageUnset, "BOOT-2",
		"No image is set for what the MAC should boot.",
		"Set the image: the policy's for enrolling and rescue, the setup's for enrolled, the holder's for a boot entry."},
	{ImageRefused, "BOOT-2",
		"The image's reference has a form that is not allowed.",
		"Name the image with 1 to 64 letters, digits or . _ -, the first alphanumeric."},
	{ImageUnstaged, "BOOT-2",
		"The image is not staged on this booter.",
		"Stage it here, or set another image."},
	{BootLoop, "BOOT-21",
		"The MAC comes back to the same boot stage again and again.",
		"Find out why the stage fails; it is served again when the window has passed."},
}

// Reasons lists every reason, in the order in which they are given.
func Reasons() []Reason { return append([]Reason(nil), reasons[:]...) }

// Reason returns what there is to say of s. A silence that this program does
// not know has a Reason that is empty but for its name.
func (s Silence) Reason() Reason {
	for _, r := range reasons {
		if r.Silence == s {
			return r
		}
	}
	return Reason{Silence: s}
}
