package api

import "github.com/ingotmetal/ingot/identity/keys"

// Setup: what a booter does for a machine that is being set up (SET-16).
var (
	SetupAnnounce = Op[Announce, Announced]{write("setup.announce", "/v1/setup/announce", keys.SetupAnnounce,
		"A booter relays a machine in the enrollment ramdisk", "RATE_LIMITED").upTo(MaxSysinfoBody)}
	SetupApprovalsPoll = Op[SetupApprovals, Approvals]{read("setup.approvals", "/v1/setup/approvals", keys.SetupApprovals,
		"A booter finds approved setups").waits()}
	SetupDrain = Op[DrainBundle, Bundle]{write("setup.drain", "/v1/setup/{server_id}/drain", keys.SetupDrain,
		"A booter takes a setup's bundle, once")}
	SetupComplete = Op[SetupOutcome, SetupReported]{write("setup.complete", "/v1/setup/{server_id}/complete", keys.SetupReport,
		"A booter reports that a setup's sentinel said success")}
	SetupFailed = Op[SetupFailure, SetupReported]{write("setup.failed", "/v1/setup/{server_id}/failed", keys.SetupReport,
		"A booter reports that a setup failed")}
)

func setups() []Any {
	return []Any{SetupAnnounce, SetupApprovalsPoll, SetupDrain, SetupComplete, SetupFailed}
}

// Booter: what a booter serves from, and what it saw.
var (
	BooterSnapshot = Op[Empty, BootSnapshot]{read("booter.snapshot", "/v1/booter/snapshot", keys.BooterSnapshot,
		"All that a booter serves from")}
	BooterChanges = Op[BootChanges, BootDelta]{read("booter.changes", "/v1/booter/changes", keys.BooterSnapshot,
		"What changed since the revision that a booter holds").waits()}
	BooterSightings = Op[ReportSightings, SightingsTaken]{write("booter.sightings", "/v1/booter/sightings", keys.BooterSightings,
		"A booter reports the MACs that asked to boot").upTo(4 * MaxBody)}
	BooterBoots = Op[ReportBoots, BootsTaken]{write("booter.boots", "/v1/booter/boots", keys.BooterBoots,
		"A booter reports what it served, or why nothing").upTo(4 * MaxBody)}
)

func booters() []Any { return []Any{BooterSnapshot, BooterChanges, BooterSightings, BooterBoots} }

// Boot records, the site's policy and its windows.
var (
	BootListing = Op[BootList, BootRecords]{read("boot.list", "/v1/boot", keys.BootRead,
		"List boot records")}
	BootShow = Op[BootRef, BootRecord]{read("boot.show", "/v1/boot/{mac}", keys.BootRead,
		"Show a boot record; an unknown MAC shows as absent, and is not written")}
	BootEnroll = Op[BootChange, BootChanged]{write("boot.enroll", "/v1/boot/{mac}/enroll", keys.BootEnroll,
		"Admit a MAC by hand: it gets an address and the enrollment image")}
	BootDecommission = Op[BootChange, BootChanged]{write("boot.decommission", "/v1/boot/{mac}/decommission", keys.BootDecommission,
		"Answer a MAC no more")}
	BootReactivate = Op[BootChange, BootChanged]{write("boot.reactivate", "/v1/boot/{mac}/reactivate", keys.BootReactivate,
		"Take a decommissioned record back to discovered")}
	BootPurge = Op[BootChange, Deleted]{destroy("boot.purge", "/v1/boot/{mac}", keys.BootPurge,
		"Remove a decommissioned record and free its address").via("DELETE")}
	BootMode = Op[SetMode, BootChanged]{write("boot.mode", "/v1/boot/{mac}/mode", keys.BootMode,
		"Boot a MAC into rescue until it is set back")}
	BootDiscovered = Op[DiscoveredList, Discovered]{read("boot.discovered", "/v1/discovered", keys.SitesRead,
		"List the MACs that were seen and are no machine's, newest first", "NOT_FOUND")}

	PolicyShow = Op[Empty, PolicyView]{read("policy.show", "/v1/policy", keys.BootPolicyRead,
		"Show the site's policy")}
	PolicySet = Op[SetPolicy, PolicyChanged]{write("policy.set", "/v1/policy", keys.BootPolicyUpdate,
		"Replace the site's policy", "INVALID_CONFIG").via("PUT").upTo(MaxSysinfoBody)}

	WindowList = Op[Empty, Windows]{read("window.list", "/v1/windows", keys.WindowsRead,
		"Show the site's windows")}
	AutoApproveOpen = Op[OpenWindow, WindowChanged]{write("auto-approve.open", "/v1/windows/auto-approve/open", keys.WindowsAutoApprove,
		"Let machines register without a claim code for a while")}
	AutoApproveClose = Op[CloseWindow, WindowChanged]{write("auto-approve.close", "/v1/windows/auto-approve/close", keys.WindowsAutoApprove,
		"Ask for claim codes again")}
	EnrollWindowOpen = Op[OpenWindow, WindowChanged]{write("enroll-window.open", "/v1/windows/enroll/open", keys.WindowsEnroll,
		"Let unknown machines announce themselves for a while")}
	EnrollWindowClose = Op[CloseWindow, WindowChanged]{write("enroll-window.close", "/v1/windows/enroll/close", keys.WindowsEnroll,
		"Let no unknown machine announce itself")}
)

func boots() []Any {
	return []Any{
		BootListing, BootShow, BootEnroll, BootDecommission, BootReactivate, BootPurge, BootMode, BootDiscovered,
		PolicyShow, PolicySet,
		WindowList, AutoApproveOpen, AutoApproveClose, EnrollWindowOpen, EnrollWindowClose,
	}
}
