package cli

import "strings"

// What examples are about.
const (
	sampleServer = "6b1f2c3d-0001-4000-8000-000000000001"
	sampleMAC    = "02:00:00:00:00:01"
	sampleNode   = "node_01hzx3c8v7k2m4n6p8q0r2s4t6"
	sampleDigest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

// sample is how an operation is called, after its noun and verb.
var sample = map[string]string{
	"registration.register":      "--server-id SERVER --sysinfo-file sysinfo.json",
	"registration.status":        "--state pending --wait 30s --key-file poll-token",
	"registration.acknowledge":   "--key-file poll-token",
	"registration.refresh":       "SERVER --sysinfo-file sysinfo.json --key-file agent-key",
	"registration.list":          "--state awaiting_setup",
	"registration.show":          "SERVER --until state=approved --timeout 45m",
	"registration.plan":          "SERVER --layout gpt --disk serial=S1 --hostname n1",
	"registration.approve":       "--code-file - --reason 'rack 4 delivered'",
	"registration.approve-setup": "SERVER --plan-file plan.json --yes",
	"registration.disable":       "SERVER --reason 'stolen disk'",
	"registration.factory-reset": "SERVER --yes",
	"registration.delete":        "SERVER --dry-run",
	"registration.label":         "SERVER --set rack=r4,row=b --remove spare",
	"registration.reservoir":     "SERVER 64GiB",
	"registration.root-password": "SERVER --hash-file shadow.txt",
	"setup.announce":             "--file announce.json",
	"setup.approvals":            "--wait 30s",
	"setup.drain":                "SERVER --epoch 4 --held",
	"setup.complete":             "SERVER --epoch 4",
	"setup.failed":               "SERVER --epoch 4 --why 'no space left'",
	"booter.snapshot":            "-o json",
	"booter.changes":             "--incarnation 7Q --revision 12 --wait 30s",
	"booter.sightings":           "--file sightings.json",
	"booter.boots":               "--booter b1 --staged img1,img2",
	"metal.enroll":               "https://10.0.0.7 --bmc-pin sha256/jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0= --username root --password-file bmc.txt",
	"metal.abort":                "NODE --reason 'the wrong machine'",
	"metal.confirm-mac":          "NODE MAC",
	"node.power":                 "NODE cycle --wait",
	"node.commands":              "NODE",
	"node.power-state":           "NODE",
	"node.boot":                  "NODE",
	"node.boot-set":              "NODE pxe --life once",
	"node.boot-clear":            "NODE",
	"node.media":                 "NODE",
	"node.media-insert":          "NODE https://images.example/rescue.iso",
	"node.media-eject":           "NODE CD",
	"node.inspect":               "NODE -o yaml",
	"node.health":                "NODE",
	"boot.list":                  "--state enrolling",
	"boot.show":                  "MAC --watch",
	"boot.enroll":                "MAC",
	"boot.decommission":          "MAC --reason 'NIC replaced'",
	"boot.reactivate":            "MAC",
	"boot.purge":                 "MAC --yes",
	"boot.mode":                  "MAC rescue",
	"boot.discovered":            "--limit 20",
	"policy.show":                "-o yaml",
	"policy.set":                 "--enrollment-image img2 --dry-run",
	"window.list":                "",
	"auto-approve.open":          "--ends +2h --slots 10",
	"auto-approve.close":         "",
	"enroll-window.open":         "--ends +2h",
	"enroll-window.close":        "",
	"key.list":                   "--scope booter",
	"key.show":                   "key_0123",
	"key.mint":                   "--scope booter --comment 'booter of rack 4'",
	"key.revoke":                 "key_0123 --yes",
	"session.open":               "ada",
	"session.show":               "",
	"session.close":              "",
	"session.list":               "--operator ada",
	"operator.list":              "",
	"operator.show":              "ada",
	"operator.add":               "ada --server unix:/run/ingot/ingotd.sock",
	"operator.password":          "ada --password-file -",
	"operator.totp":              "ada",
	"operator.disable":           "ada --reason 'left the company'",
	"operator.remove":            "ada --yes",
	"node.list":                  "--provision active --cordoned true",
	"node.show":                  "NODE",
	"node.delete":                "NODE --dry-run",
	"node.cordon":                "NODE --reason 'fan fails'",
	"node.uncordon":              "NODE",
	"node.maintenance":           "NODE on --reason 'new memory'",
	"event.list":                 "--type registration. --limit 20",
	"event.stream":               "--new --type node.",
	"audit.head":                 "",
	"audit.rows":                 "--after 812 --to export.log",
	"store.backup":               "--to ingot-backup.db",
}

// exampleOf is one command line of an operation.
func exampleOf(use, name string) string {
	words := sample[name]
	for old, value := range map[string]string{"SERVER": sampleServer, "MAC": sampleMAC, "NODE": sampleNode} {
		words = strings.Replace(words, old, value, 1)
	}
	return strings.TrimSpace(use + " " + words)
}
