package sessions

import "github.com/ingotmetal/ingot/cmd/api"

// An Order is what a booter has an agent write: the order of session.Setup, as JSON.
type Order struct {
	Plan      api.SetupPlan `json:"plan"`
	ImageURL  string        `json:"image_url,omitempty"`  // of the image that the plan names
	BootURL   string        `json:"boot_url,omitempty"`   // of the boot program that the plan names
	Server    string        `json:"server,omitempty"`     // HOST:PORT of the control plane; default the agent's own setting
	ServerPin string        `json:"server_pin,omitempty"` // its pin
}
