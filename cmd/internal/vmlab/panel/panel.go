// Package panel is what a lab that is up says and takes over its Unix socket, as
// JSON over HTTP: the words that the lab and `ingot lab` share.
//
//	GET  /v1/lab                       a Lab
//	POST /v1/machines/{name}/power     an Order; answers a Machine
//	GET  /v1/machines/{name}/screen    a PNG
//	POST /v1/down                      answers a Down when all is gone but the process
//	                                   itself, and ends with it
package panel

import "time"

// Names of files in the lab's folder.
const (
	Socket = "lab.sock"
	Log    = "lab.log" // what happens, as it happens
	Report = "report.html"
)

// MaxScreen bounds the picture of a screen, in bytes.
const MaxScreen = 16 << 20

// A Power is what is done to a machine's power.
type Power string

// The orders.
const (
	On    Power = "on"
	Off   Power = "off"   // the plug is pulled: nothing is written back
	Cycle Power = "cycle" // off, then on
	Reset Power = "reset" // the reset button
	Press Power = "press" // the power button: the operating system may turn itself off
)

// Powers are all orders.
func Powers() []Power { return []Power{On, Off, Cycle, Reset, Press} }

// An Order is what is sent to change a machine's power.
type Order struct {
	Power Power `json:"power"`
}

// A Machine is one of the lab, as it is now.
type Machine struct {
	Name    string   `json:"name"`
	Way     string   `json:"way"` // of booting
	MAC     string   `json:"mac"`
	UUID    string   `json:"uuid"`
	On      bool     `json:"on"`
	Cycles  int      `json:"cycles"` // how often its power came
	Console []string `json:"console"`
}

// A Lab is one that is up.
type Lab struct {
	Dir      string    `json:"dir"`
	Process  int       `json:"process"`
	Began    time.Time `json:"began"`
	Ends     time.Time `json:"ends,omitzero"` // it goes down by itself then
	Server   string    `json:"server"`        // as ingot --server takes it
	KeyFile  string    `json:"key_file"`      // as ingot --key-file takes it
	Booter   string    `json:"booter"`        // as ingot why-silent --booter takes it
	Machines []Machine `json:"machines"`
}

// Down is the last word of a lab.
type Down struct {
	Report  string  `json:"report"` // a file; "" where it could not be written
	Seconds float64 `json:"seconds"`
	Flaw    string  `json:"flaw,omitempty"` // what went wrong while it ended
}

// Started is what the lab's process says once, to the one that started it: that the lab
// is up, or why it is not.
type Started struct {
	Lab   *Lab   `json:"lab,omitempty"`
	Code  string `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
}
