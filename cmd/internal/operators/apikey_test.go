package operators

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/identity/keys"
)

func apiSecret(t fataler, fill byte) keys.Secret {
	s, err := keys.NewSecret(keys.APIKey, [keys.SecretSize]byte{fill})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func minted(t fataler) APIKey {
	k, err := MintKey(apiSecret(t, 1), KeyRequest{keys.ReadOnly, "acme", "the dashboard"}, "alice", noon)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestMintKey(t *testing.T) {
	for _, scope := range keys.Scopes() {
		k, err := MintKey(apiSecret(t, 1), KeyRequest{scope, "acme", ""}, "alice", noon)
		if scope == keys.Agent {
			wants(t, "agent", err, "INVALID_INPUT", "approve the machine")
			continue
		}
		if caller := k.Key.Caller(); err != nil || caller != (keys.Caller{Scope: scope}) {
			t.Errorf("%s: %+v, %v", scope, caller, err)
		}
	}
	for name, c := range map[string]struct {
		secret keys.Secret
		r      KeyRequest
		by     string
		why    string
	}{
		"no scope":       {apiSecret(t, 1), KeyRequest{"", "acme", ""}, "alice", "none of"},
		"operator":       {apiSecret(t, 1), KeyRequest{keys.Operator, "acme", ""}, "alice", "none of"},
		"no tenant":      {apiSecret(t, 1), KeyRequest{keys.Full, "", ""}, "alice", "tenant"},
		"by nobody":      {apiSecret(t, 1), KeyRequest{keys.Full, "acme", ""}, "", "created by nobody"},
		"a line":         {apiSecret(t, 1), KeyRequest{keys.Full, "acme", "a\nb"}, "alice", "comment"},
		"a long comment": {apiSecret(t, 1), KeyRequest{keys.Full, "acme", strings.Repeat("x", 257)}, "alice", "comment"},
		"not UTF-8":      {apiSecret(t, 1), KeyRequest{keys.Full, "acme", "\xff"}, "alice", "comment"},
		"a session's":    {token(t, 1), KeyRequest{keys.Full, "acme", ""}, "alice", `is of kind "session"`},
	} {
		k, err := MintKey(c.secret, c.r, c.by, noon)
		wants(t, name, err, "INVALID_INPUT", c.why)
		if k != (APIKey{}) {
			t.Errorf("%s: minted all the same", name)
		}
	}
}

func TestCheckAPIKey(t *testing.T) {
	k := minted(t)
	if caller, err := k.Check(apiSecret(t, 1)); err != nil || caller.Scope != keys.ReadOnly {
		t.Errorf("%+v, %v", caller, err)
	}
	dead := k.Revoke(noon).Revoke(noon.Add(time.Hour))
	if !dead.Key.Revoked.Equal(noon) || !k.Key.Revoked.IsZero() {
		t.Errorf("revoked at %s", dead.Key.Revoked)
	}
	for name, c := range map[string]struct {
		key       APIKey
		presented keys.Secret
		why       string
	}{
		"wrong":   {k, apiSecret(t, 2), "is wrong"},
		"none":    {k, keys.Secret{}, "is wrong"},
		"no key":  {APIKey{}, apiSecret(t, 1), "is wrong"},
		"revoked": {dead, apiSecret(t, 1), "was revoked"},
		"session": {k, token(t, 1), "is wrong"},
	} {
		caller, err := c.key.Check(c.presented)
		wants(t, name, err, "UNAUTHENTICATED", c.why)
		if caller != (keys.Caller{}) {
			t.Errorf("%s: %+v", name, caller)
		}
	}
}

func TestUsedIsWrittenOnceADay(t *testing.T) {
	k, writes := minted(t), 0
	for hour := range 72 {
		next, write := k.Used(noon.Add(time.Duration(hour) * time.Hour))
		if write != (next != k) {
			t.Fatalf("%v: %+v", write, next)
		}
		if write {
			writes++
		}
		k = next
	}
	if writes != 4 || k.LastUsed != "2026-05-04" || !k.Key.Consumed.Equal(noon) {
		t.Errorf("%d writes, last %s, consumed %s", writes, k.LastUsed, k.Key.Consumed)
	}
	if back, write := k.Used(noon); write || back != k {
		t.Error("goes back with the clock")
	}
}

func TestAPIKeyJSON(t *testing.T) {
	k, _ := minted(t).Used(noon)
	readsBack(t, k, DecodeAPIKey)
	readsBack(t, k.Revoke(noon), DecodeAPIKey)
	refusesForms(t, k, DecodeAPIKey)
	b, err := json.Marshal(k)
	if err != nil || strings.Contains(string(b)+renderings(k, &k), apiSecret(t, 1).Show()[12:]) {
		t.Errorf("tells its secret: %s, %v", b, err)
	}
	agent := k
	agent.Key.Scope, agent.Key.Node = keys.Agent, "node_a"
	wants(t, "an agent's", agent.Validate(), "INVALID_INPUT", "never minted by hand")
	k.LastUsed = "yesterday"
	wants(t, "no day", k.Validate(), "INVALID_INPUT", "on no day")
}
