package bmc_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ingotmetal/ingot/bmc"
)

// holder hides its secret where methods of fmt do not reach.
type holder struct{ kept bmc.Secret }

// A password comes out of nothing but Show.
func TestSecretNeverPrints(t *testing.T) {
	const password = "hunter2"
	s := bmc.Keep(password)
	if s.Show() != password || (bmc.Secret{}).Show() != "" {
		t.Fatal("Show does not show it")
	}
	creds := bmc.Credentials{Username: "root", Password: s, Version: "1"}
	shapes := map[string]any{
		"itself": s, "pointer": &s, "struct": creds, "pointer to struct": &creds, "slice": []bmc.Secret{s},
		"map": map[string]bmc.Secret{"a": s}, "interface": []any{s, creds}, "hidden": holder{s}, "pointer to hidden": &holder{s},
		"credentials hidden": struct{ c bmc.Credentials }{creds},
	}
	for name, v := range shapes {
		for _, verb := range strings.Split("v +v #v s q x X d t b o c U e g p T", " ") {
			check(t, name+" by %"+verb, password, fmt.Sprintf("%"+verb, v))
		}
		check(t, name+" by Print", password, fmt.Sprint(v))
		check(t, name+" in an error", password, fmt.Errorf("open: %v", v).Error())
		if b, err := json.Marshal(v); err == nil {
			check(t, name+" as JSON", password, string(b))
		}
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("fact", "v", v, slog.Group("g", "v", v))
		slog.New(slog.NewJSONHandler(&b, nil)).Info("fact", "v", v, slog.Group("g", "v", v))
		check(t, name+" by slog", password, b.String())
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(creds); err == nil {
		check(t, "gob", password, b.String())
	}
	if got := fmt.Sprintf("%v %s %+v %#v %q %x", s, s, s, s, s, s); got != strings.TrimSpace(strings.Repeat("[redacted] ", 6)) {
		t.Errorf("printed as %s", got)
	}
	if got, err := json.Marshal(creds); err != nil || string(got) != `{"Username":"root","Password":"[redacted]","Version":"1"}` {
		t.Errorf("%s, %v", got, err)
	}
}

func check(t *testing.T, how, password, text string) {
	t.Helper()
	if strings.Contains(text, password) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", password)) {
		t.Errorf("%s: %s", how, text)
	}
}
