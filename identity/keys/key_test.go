package keys

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func mint(t interface{ Fatal(...any) }, fill byte, scope Scope, node string, generation uint64) Key {
	k, err := NewKey(secret(t, APIKey, fill), scope, node, generation, noon)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNewKey(t *testing.T) {
	api := secret(t, APIKey, 1)
	for _, c := range []struct {
		name       string
		secret     Secret
		scope      Scope
		node       string
		generation uint64
		at         time.Time
		why        string
	}{
		{"full", api, Full, "", 0, noon, ""},
		{"agent", api, Agent, "node_a", 3, noon, ""},
		{"agent without a node", api, Agent, "", 0, noon, "node: belongs to a key of scope agent"},
		{"booter with a node", api, Booter, "node_a", 0, noon, "node: belongs to a key of scope agent"},
		{"generation without a node", api, Full, "", 1, noon, "generation: belongs"},
		{"operator is no scope of keys", api, Operator, "", 0, noon, `"operator" is none of`},
		{"unknown scope", api, "root", "", 0, noon, `"root" is none of`},
		{"no time", api, Full, "", 0, time.Time{}, "created: is not set"},
		{"no secret", Secret{}, Full, "", 0, noon, `is of kind ""`},
		{"a poll token", secret(t, PollToken, 1), Full, "", 0, noon, `is of kind "poll", want "key"`},
	} {
		k, err := NewKey(c.secret, c.scope, c.node, c.generation, c.at)
		if (err != nil) != (c.why != "") || err != nil && (!strings.Contains(err.Error(), c.why) || k != Key{}) {
			t.Errorf("%s: %+v, %v", c.name, k, err)
		}
		if bad, ok := errors.AsType[*Invalid](err); err != nil && (!ok || bad.Code() != "INVALID_INPUT") {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
	all := Key{Scope: "root", Node: "node_a", Generation: 1}.Validate().Error()
	for _, want := range []string{"no ID", `"root"`, "node:", "generation:", "created:"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among %q", want, all)
		}
	}
}

func TestCheck(t *testing.T) {
	k := mint(t, 1, Agent, "node_a", 3)
	right, wrong := secret(t, APIKey, 1), secret(t, APIKey, 2)
	for _, c := range []struct {
		name      string
		key       Key
		presented Secret
		least     uint64
		why       string
	}{
		{"right", k, right, 0, ""},
		{"right, of this generation", k, right, 3, ""},
		{"consumed keys go on", k.Consume(noon), right, 0, ""},
		{"wrong", k, wrong, 0, "is wrong"},
		{"none", k, Secret{}, 0, "is wrong"},
		{"the same bytes as a poll token", k, secret(t, PollToken, 1), 0, "is wrong"},
		{"the same bytes as a ticket key", k, secret(t, TicketKey, 1), 0, "is wrong"},
		{"the zero key", Key{}, right, 0, "is wrong"},
		{"the zero key, none presented", Key{}, Secret{}, 0, "is wrong"},
		{"revoked", k.Revoke(noon), right, 0, "was revoked"}, // REG-11, SET-11
		{"wrong, and no word of the revocation", k.Revoke(noon), wrong, 0, "is wrong"},
		{"earlier generation", k, right, 4, "earlier generation"},
		{"wrong, and no word of the generation", k, wrong, 4, "is wrong"},
	} {
		err := c.key.Check(c.presented, c.least)
		if (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		bad, ok := errors.AsType[*Unauthenticated](err)
		if err != nil && (!ok || bad.Code() != "UNAUTHENTICATED") {
			t.Errorf("%s: %#v", c.name, err)
		}
		if ok && (bad.ID != "") != (c.why != "is wrong") {
			t.Errorf("%s: names key %q", c.name, bad.ID)
		}
	}
	if got, want := k.Caller(), (Caller{Scope: Agent, Node: "node_a"}); got != want {
		t.Errorf("asks as %+v, want %+v", got, want)
	}
}

// A key opens to its own secret and to no other, and a dead key stays dead
// whatever happens to it after.
func TestKeysStayDead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own, other := genSecret(t), genSecret(t)
		k := Key{ID: own.ID(), Hash: own.Hash(), Scope: Full, Created: noon}
		if err := k.Check(own, 0); (err == nil) != (own.Kind() == APIKey) {
			t.Fatalf("kind %s: %v", own.Kind(), err)
		}
		if err := k.Check(other, 0); err == nil && other.Show() != own.Show() {
			t.Fatal("opens to another secret")
		}
		k = k.Revoke(noon)
		now := noon
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			now = now.Add(time.Second)
			if rapid.Bool().Draw(t, "consume") {
				k = k.Consume(now)
			} else {
				k = k.Revoke(now)
			}
			if k.Check(own, 0) == nil || !k.Revoked.Equal(noon) {
				t.Fatalf("revived: %+v", k)
			}
		}
	})
}

func TestFirstConsumptionStays(t *testing.T) { // REG-6
	k := mint(t, 1, Agent, "node_a", 1)
	first := k.Consume(noon).Consume(noon.Add(time.Hour))
	if !first.Consumed.Equal(noon) || !k.Consumed.IsZero() {
		t.Errorf("consumed at %s; the original says %s", first.Consumed, k.Consumed)
	}
}

func TestKeyIsStoredAsJSONWithoutItsSecret(t *testing.T) {
	k := mint(t, 1, Agent, "node_a", 1).Consume(noon)
	b, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	var back Key
	if err := json.Unmarshal(b, &back); err != nil || back != k {
		t.Errorf("%s came back as %+v, %v", b, back, err)
	}
	if err := back.Check(secret(t, APIKey, 1), 1); err != nil {
		t.Error(err)
	}
}

func TestPoll(t *testing.T) { // REG-6, EDGE-17
	token := secret(t, PollToken, 1)
	p, err := NewPoll(token, noon)
	if err != nil {
		t.Fatal(err)
	}
	end := noon.Add(time.Hour)
	for _, c := range []struct {
		name      string
		poll      Poll
		presented Secret
		at        time.Time
		why       string
	}{
		{"right", p, token, noon, ""},
		{"last instant", p, token, end.Add(-1), ""},
		{"ended", p, token, end, "has ended"},
		{"wrong", p, secret(t, PollToken, 2), noon, "wrong or void"},
		{"wrong and late", p, secret(t, PollToken, 2), end, "wrong or void"},
		{"an API key", p, secret(t, APIKey, 1), noon, "wrong or void"},
		{"none", p, Secret{}, noon, "wrong or void"},
		{"void", Poll{}, token, noon, "wrong or void"},
		{"void, none presented", Poll{}, Secret{}, noon, "wrong or void"},
	} {
		err := c.poll.Check(c.presented, c.at)
		if (err != nil) != (c.why != "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", c.name, err)
		}
		if bad, ok := errors.AsType[*Unauthenticated](err); err != nil && (!ok || bad.Code() != "UNAUTHENTICATED") {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
	if p, err := NewPoll(secret(t, APIKey, 1), noon); err == nil || p != (Poll{}) {
		t.Errorf("an API key became a poll token: %+v, %v", p, err)
	}
}

func TestMintTickets(t *testing.T) { // SET-5
	entropy := [TicketsPerSetup][SecretSize]byte{{1}, {2}, {3}}
	tickets, err := MintTickets(entropy)
	if err != nil || len(tickets) != 3 {
		t.Fatalf("%v, %v", tickets, err)
	}
	input := []byte("eyJh.eyJi")
	for i, a := range tickets {
		mac, err := a.Sign(input)
		if err != nil {
			t.Fatal(err)
		}
		for j, b := range tickets {
			if b.Verify(input, mac[:]) != (i == j) || (a.ID == b.ID) != (i == j) {
				t.Errorf("ticket key %d against %d", i, j)
			}
		}
	}
	for name, bad := range map[string][TicketsPerSetup][SecretSize]byte{
		"draw 32 random bytes": {{1}, {2}},
		"the same bytes twice": {{1}, {2}, {1}},
	} {
		if got, err := MintTickets(bad); err == nil || !strings.Contains(err.Error(), name) || !got[0].Secret.IsZero() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTicketMAC(t *testing.T) {
	ticket := Ticket{"t", secret(t, TicketKey, 1)}
	input := []byte("eyJh.eyJi")
	mac, err := ticket.Sign(input)
	if got := hex.EncodeToString(mac[:]); err != nil || got != "8bacc5c015da9f313f240897e4c2f5b28bc6169a256aff0df16e3f2a903fd070" { // made apart from this code
		t.Errorf("%s, %v", got, err)
	}
	for i := range len(mac) * 8 {
		flipped := mac
		flipped[i/8] ^= 1 << (i % 8)
		if ticket.Verify(input, flipped[:]) {
			t.Fatalf("bit %d does not matter", i)
		}
	}
	for _, c := range []struct {
		ticket Ticket
		input  string
		mac    []byte
	}{{ticket, "eyJh.eyJj", mac[:]}, {ticket, "eyJh.eyJi", mac[:31]}, {ticket, "eyJh.eyJi", nil}, {Ticket{}, "eyJh.eyJi", mac[:]}, {Ticket{"t", secret(t, APIKey, 1)}, "eyJh.eyJi", mac[:]}} {
		if c.ticket.Verify([]byte(c.input), c.mac) {
			t.Errorf("%v takes %x for %s", c.ticket, c.mac, c.input)
		}
	}
	if mac, err := (Ticket{}).Sign(input); err == nil || mac != [TicketMACSize]byte{} {
		t.Errorf("the zero Ticket signs: %x, %v", mac, err)
	}
}

func BenchmarkCheck(b *testing.B) {
	k, s := mint(b, 1, Full, "", 0), secret(b, APIKey, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := k.Check(s, 0); err != nil {
			b.Fatal(err)
		}
	}
}
