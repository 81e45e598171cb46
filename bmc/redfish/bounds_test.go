package redfish

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestManyLinkedChassis: what many systems link is read once.
func TestManyLinkedChassis(t *testing.T) {
	var links []any
	for i := range 20000 {
		links = append(links, map[string]any{"@odata.id": fmt.Sprintf("/redfish/v1/Chassis/%05d", i)})
	}
	raw, err := json.Marshal(map[string]any{"Links": map[string]any{"Chassis": links}})
	if err != nil {
		t.Fatal(err)
	}
	few := read([]byte(`{"Links":{"Chassis":[{"@odata.id":"/redfish/v1/chassis/00000/"}]}}`))
	list := []host{{path: "a", doc: few}, {path: "b", doc: read(raw)}, {path: "c", doc: few}}
	began := time.Now()
	got := linkedAlone(list, 1)
	if len(got) != maxChassis || got[0] != "/redfish/v1/Chassis/00001" {
		t.Errorf("%d chassis: %v", len(got), got)
	}
	if got := linkedAlone(list, 0); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
