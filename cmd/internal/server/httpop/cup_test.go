package httpop_test

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ingotmetal/ingot/cmd/api"
	"github.com/ingotmetal/ingot/cmd/internal/server/httpop"
)

// A small table of cups, with a field of every kind.
type pourIn struct {
	Cup string `path:"cup" maxLength:"8" pattern:"^[a-z]+$"`
	api.Change
	api.LongPoll
	Body struct {
		Drink  string            `json:"drink" enum:"tea,coffee"`
		Sips   int               `json:"sips,omitempty" minimum:"1" maximum:"9"`
		Word   api.Secret        `json:"word,omitempty" maxLength:"8"`
		At     time.Time         `json:"at,omitzero"`
		For    api.Duration      `json:"for,omitzero"`
		Guests []guest           `json:"guests,omitempty" maxItems:"3"`
		Notes  map[string]string `json:"notes,omitempty"`
		Named  map[string]guest  `json:"named,omitempty"`
		Any    json.RawMessage   `json:"any,omitempty"`
		More   *struct {
			Hot bool `json:"hot"`
		} `json:"more,omitempty"`
	}
}

type guest struct {
	Name string `json:"name" minLength:"1"`
	Age  uint64 `json:"age,omitempty"`
}

type cup struct {
	Name   string   `json:"name"`
	Guests []guest  `json:"guests"`
	Maybe  []string `json:"maybe,omitempty"`
	Inner  struct {
		Tags []string `json:"tags"`
	} `json:"inner"`
}

var (
	pour = api.Op[pourIn, cup]{Def: api.Def{Name: "cup.pour", Method: "POST", Path: "/v1/cups/{cup}", Summary: "Pour", Auth: api.Key, Mutates: true, Limit: 4096}}
	twin = api.Op[pourIn, cup]{Def: api.Def{Name: "cup.fill", Method: "POST", Path: "/v1/cups/{cup}", Summary: "Pour", Auth: api.Key, Mutates: true}}
	look = api.Op[api.LongPoll, cup]{Def: api.Def{Name: "cup.look", Method: "GET", Path: "/v1/cups", Summary: "Look", Auth: api.Key, Waits: true}}
	sip  = api.Op[api.Empty, cup]{Def: api.Def{Name: "cup.sip", Method: "GET", Path: "/v1/sip", Summary: "Sip", Auth: api.Key}}
	flow = api.Raw[api.Empty]{Def: api.Def{Name: "cup.flow", Method: "GET", Path: "/v1/flow", Summary: "Flow", Auth: api.Key, Stream: api.Bytes}}
)

func poured(_ context.Context, in *pourIn) (cup, error) { return cup{Name: in.Cup}, nil }

// pouring is a binding of pour that keeps what it got.
func pouring(got **pourIn) httpop.Binding {
	return httpop.Handle(pour, func(ctx context.Context, in *pourIn) (cup, error) {
		*got = in
		return poured(ctx, in)
	})
}
