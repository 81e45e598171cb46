package liveness_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ingotmetal/ingot/liveness"
	"pgregory.net/rapid"
)

// code is err's wire name, "" for none.
func code(t interface{ Fatalf(string, ...any) }, err error) string {
	if err == nil {
		return ""
	}
	coded, ok := err.(interface{ Code() string })
	if !ok {
		t.Fatalf("%v has no code", err)
	}
	return coded.Code()
}

// open opens a session that must be accepted.
func open(t *testing.T, l *liveness.Ledger[string], node string, epoch uint64, now liveness.Instant) liveness.Handle {
	t.Helper()
	h, err := l.Open(node, epoch, now)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func wantSeen(t *testing.T, l *liveness.Ledger[string], node string, want liveness.Instant) {
	t.Helper()
	if got, ok := l.Seen(node); !ok || got != want {
		t.Errorf("%s was last seen at %d, %t; want %d", node, got, ok, want)
	}
}

func TestOpeningIsSeeing(t *testing.T) {
	l := liveness.NewLedger[string](0)
	open(t, l, "n", 1, sec(5))
	wantSeen(t, l, "n", sec(5))
}

// L15, L17: a session with a higher epoch takes the node over, also while the
// older one is open, and that one can do nothing any more.
func TestHigherEpochWins(t *testing.T) {
	l := liveness.NewLedger[string](0)
	old := open(t, l, "n", 5, sec(0))
	for _, epoch := range []uint64{0, 4, 5} {
		if _, err := l.Open("n", epoch, sec(9)); code(t, err) != "CONFLICT" {
			t.Errorf("a session of epoch %d after 5: %v", epoch, err)
		}
	}
	wantSeen(t, l, "n", sec(0))
	newer := open(t, l, "n", 6, sec(10))
	if err := l.Beat(old, sec(20)); code(t, err) != "CONFLICT" {
		t.Errorf("a beat of the older session: %v", err)
	}
	if err := l.Close(old, sec(20)); code(t, err) != "CONFLICT" {
		t.Errorf("a close of the older session: %v", err)
	}
	wantSeen(t, l, "n", sec(10))
	if err := l.Beat(newer, sec(21)); err != nil {
		t.Error(err)
	}
	wantSeen(t, l, "n", sec(21))
}

func TestEpochZeroIsNoSession(t *testing.T) {
	l := liveness.NewLedger[string](0)
	if _, err := l.Open("n", 0, sec(0)); code(t, err) != "CONFLICT" {
		t.Errorf("opened: %v", err)
	}
	if l.Len() != 0 {
		t.Error("the refused node was added")
	}
}

func TestClose(t *testing.T) {
	l := liveness.NewLedger[string](0)
	h := open(t, l, "n", 1, sec(0))
	if err := l.Close(h, sec(7)); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, l, "n", sec(7))
	if err := l.Beat(h, sec(8)); code(t, err) != "INVALID_STATE" {
		t.Errorf("a beat after the close: %v", err)
	}
	if err := l.Close(h, sec(8)); code(t, err) != "INVALID_STATE" {
		t.Errorf("a second close: %v", err)
	}
	if _, err := l.Open("n", 1, sec(9)); code(t, err) != "CONFLICT" {
		t.Errorf("the same epoch again: %v", err)
	}
	h = open(t, l, "n", 2, sec(10))
	if err := l.Close(h, liveness.Never); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, l, "n", sec(10)) // by silence: its last beat
}

// L27: nothing that is late brings a deleted node back, nor touches the node
// that has its slot now.
func TestDeletedStaysDeleted(t *testing.T) {
	l := liveness.NewLedger[string](0)
	h := open(t, l, "gone", 1, sec(0))
	if !l.Remove("gone") || l.Remove("gone") {
		t.Error("removed other than once")
	}
	late := func() {
		t.Helper()
		if err := l.Beat(h, sec(50)); code(t, err) != "NOT_FOUND" {
			t.Errorf("a late beat: %v", err)
		}
		if err := l.Close(h, sec(50)); code(t, err) != "NOT_FOUND" {
			t.Errorf("a late close: %v", err)
		}
		if err := l.Apply(liveness.Row[string]{Node: "gone", Epoch: 1, Beats: 9}, sec(50)); code(t, err) != "NOT_FOUND" {
			t.Errorf("a late flush: %v", err)
		}
		if _, ok := l.Seen("gone"); ok {
			t.Error("it is back")
		}
	}
	late()
	open(t, l, "next", 1, sec(3)) // takes the slot, with the same epoch
	late()
	wantSeen(t, l, "next", sec(3))
}

func TestForeignHandlesAreVoid(t *testing.T) {
	l, other := liveness.NewLedger[string](0), liveness.NewLedger[string](0)
	open(t, other, "a", 1, sec(0))
	h := open(t, other, "b", 1, sec(0))
	for _, void := range []liveness.Handle{{}, h} {
		if err := l.Beat(void, sec(0)); code(t, err) != "NOT_FOUND" {
			t.Errorf("%+v: %v", void, err)
		}
	}
	open(t, l, "a", 1, sec(0))
	if err := l.Beat(liveness.Handle{}, sec(0)); code(t, err) != "NOT_FOUND" {
		t.Errorf("the zero handle in a ledger with nodes: %v", err)
	}
}

func rows(l *liveness.Ledger[string], now liveness.Instant) map[string]liveness.Row[string] {
	m := map[string]liveness.Row[string]{}
	for r := range l.Rows(now) {
		m[r.Node] = r
	}
	return m
}

// L2: ages travel, timestamps do not.
func TestRowsMeanTheSameOnEveryClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		here := sec(float64(rapid.IntRange(0, 10_000).Draw(t, "here")))
		there := sec(float64(rapid.IntRange(0, 10_000).Draw(t, "there")))
		l, copied := liveness.NewLedger[int](0), liveness.NewLedger[int](0)
		for n := range rapid.IntRange(1, 9).Draw(t, "nodes") {
			age := time.Duration(rapid.IntRange(0, 1_000_000).Draw(t, "age")) * time.Second
			if _, err := l.Open(n, uint64(n)+1, here.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		for r := range l.Rows(here) {
			if err := copied.Restore(r, there); err != nil {
				t.Fatal(err)
			}
		}
		for n := range l.Len() {
			a, _ := l.Seen(n)
			b, ok := copied.Seen(n)
			if !ok || here.Sub(a) != there.Sub(b) {
				t.Fatalf("%s old here, %s there", here.Sub(a), there.Sub(b))
			}
		}
	})
}

func TestRestoreBringsBackEpochs(t *testing.T) {
	l := liveness.NewLedger[string](0)
	if err := l.Restore(liveness.Row[string]{Node: "n", Epoch: 7, Beats: 3, Age: time.Hour}, sec(0)); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, l, "n", sec(-3600))
	if _, err := l.Open("n", 7, sec(1)); code(t, err) != "CONFLICT" {
		t.Errorf("an epoch from before the restart: %v", err)
	}
	h := open(t, l, "n", 8, sec(2))
	if err := l.Restore(liveness.Row[string]{Node: "n", Epoch: 7, Beats: 4}, sec(9)); code(t, err) != "CONFLICT" {
		t.Errorf("an older session's row: %v", err)
	}
	wantSeen(t, l, "n", sec(2))
	if err := l.Beat(h, sec(3)); err != nil {
		t.Errorf("the refused row hurt the session: %v", err)
	}
}

func TestRestoreOfANodeWithoutSession(t *testing.T) {
	l := liveness.NewLedger[string](0)
	if err := l.Restore(liveness.Row[string]{Node: "n", Age: time.Second}, sec(5)); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, l, "n", sec(4))
}

func TestApply(t *testing.T) {
	l := liveness.NewLedger[string](0)
	row := liveness.Row[string]{Node: "n", Epoch: 5, Beats: 10, Age: 3 * time.Second}
	if err := l.Restore(row, sec(100)); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name     string
		epoch    uint64
		beats    uint32
		age      time.Duration
		at, want float64
		code     string
	}{
		{"the same row, read again", 5, 10, 3 * time.Second, 200, 97, ""},
		{"an older row of the session", 5, 9, 0, 200, 97, ""},
		{"an older session's", 4, 99, 0, 200, 97, "CONFLICT"},
		{"a new beat", 5, 11, 2 * time.Second, 210, 208, ""},
		{"a new beat that waited long does not move back", 5, 12, time.Hour, 211, 208, ""},
		{"an age below zero is none", 5, 13, -time.Hour, 212, 212, ""},
		{"a new session", 6, 1, time.Second, 220, 219, ""},
		{"the session before it", 5, 99, 0, 230, 219, "CONFLICT"},
	}
	for _, s := range steps {
		err := l.Apply(liveness.Row[string]{Node: "n", Epoch: s.epoch, Beats: s.beats, Age: s.age}, sec(s.at))
		if code(t, err) != s.code {
			t.Errorf("%s: %v", s.name, err)
		}
		wantSeen(t, l, "n", sec(s.want))
	}
}

func TestApplyOfASessionElsewhereEndsTheOneHere(t *testing.T) {
	l := liveness.NewLedger[string](0)
	h := open(t, l, "n", 1, sec(0))
	if err := l.Apply(liveness.Row[string]{Node: "n", Epoch: 2, Beats: 1}, sec(1)); err != nil {
		t.Fatal(err)
	}
	if err := l.Beat(h, sec(2)); code(t, err) != "CONFLICT" {
		t.Errorf("a beat of the older session: %v", err)
	}
	wantSeen(t, l, "n", sec(1))
}

// L12: a flush that fails is repeated with new ages and loses no beat.
func TestFlush(t *testing.T) {
	l := liveness.NewLedger[string](0)
	a, b := open(t, l, "a", 1, sec(0)), open(t, l, "b", 1, sec(0))
	flush := func(at float64, stored bool) map[string]time.Duration {
		ages := map[string]time.Duration{}
		for r := range l.Unflushed(sec(at)) {
			ages[r.Node] = r.Age
		}
		if stored {
			l.Flushed(sec(at))
		}
		return ages
	}
	beat := func(h liveness.Handle, at float64) {
		t.Helper()
		if err := l.Beat(h, sec(at)); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name   string
		do     func()
		at     float64
		stored bool
		want   map[string]time.Duration
	}{
		{"all are new", func() {}, 15, false, map[string]time.Duration{"a": 15 * time.Second, "b": 15 * time.Second}},
		{"it failed and is repeated", func() { beat(a, 16) }, 17, true, map[string]time.Duration{"a": time.Second, "b": 17 * time.Second}},
		{"nothing since", func() {}, 30, true, map[string]time.Duration{}},
		{"only who beat", func() { beat(b, 31) }, 45, true, map[string]time.Duration{"b": 14 * time.Second}},
		{"a beat at the instant of a flush is not lost", func() { beat(a, 45) }, 60, true, map[string]time.Duration{"a": 15 * time.Second}},
		{"a removed node has no row", func() { l.Remove("a"); beat(b, 61) }, 75, true, map[string]time.Duration{"b": 14 * time.Second}},
	}
	for _, s := range steps {
		s.do()
		if got := flush(s.at, s.stored); !maps.Equal(got, s.want) {
			t.Errorf("%s: %v, want %v", s.name, got, s.want)
		}
	}
}

func TestRowsStopWhenAsked(t *testing.T) {
	l := liveness.NewLedger[string](0)
	for _, n := range []string{"a", "b", "c"} {
		open(t, l, n, 1, sec(0))
	}
	n := 0
	for range l.Rows(sec(1)) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d rows after a break at 2", n)
	}
}

// A ledgerModel knows every session there ever was, and what each node's newest
// one is.
type ledgerModel struct {
	ledger   *liveness.Ledger[string]
	now      liveness.Instant
	nodes    map[string]modelNode
	removed  map[string]int // how often each node was removed
	sessions []modelSession
}

type modelNode struct {
	seen  liveness.Instant
	epoch uint64
	open  bool
}

type modelSession struct {
	node   string
	life   int // the value of removed when it was opened
	epoch  uint64
	handle liveness.Handle
}

func (m *ledgerModel) pass(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(-5, 30).Draw(t, "s")) * time.Second)
}

func (m *ledgerModel) open(t *rapid.T) {
	n, epoch := drawNode(t), rapid.Uint64Range(0, 12).Draw(t, "epoch")
	h, err := m.ledger.Open(n, epoch, m.now)
	was := m.nodes[n]
	if (err == nil) != (epoch > was.epoch) {
		t.Fatalf("epoch %d after %d: %v", epoch, was.epoch, err)
	}
	if err == nil {
		m.nodes[n] = modelNode{max(was.seen, m.now), epoch, true}
		m.sessions = append(m.sessions, modelSession{n, m.removed[n], epoch, h})
	}
}

// speak lets any session beat or close, newest or not.
func (m *ledgerModel) speak(t *rapid.T) {
	if len(m.sessions) == 0 {
		return
	}
	s := rapid.SampledFrom(m.sessions).Draw(t, "session")
	closing := rapid.Bool().Draw(t, "close")
	act := m.ledger.Beat
	if closing {
		act = m.ledger.Close
	}
	want := m.refusal(s)
	if got := code(t, act(s.handle, m.now)); got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	if was := m.nodes[s.node]; want == "" {
		m.nodes[s.node] = modelNode{max(was.seen, m.now), was.epoch, !closing}
	}
}

// refusal is the code with which s is refused, "" if it may speak.
func (m *ledgerModel) refusal(s modelSession) string {
	n, ok := m.nodes[s.node]
	switch {
	case !ok || s.life != m.removed[s.node]:
		return "NOT_FOUND"
	case n.epoch != s.epoch:
		return "CONFLICT"
	case !n.open:
		return "INVALID_STATE"
	}
	return ""
}

func (m *ledgerModel) remove(t *rapid.T) {
	n := drawNode(t)
	if _, ok := m.nodes[n]; m.ledger.Remove(n) != ok {
		t.Fatalf("%s was there: %t", n, ok)
	}
	delete(m.nodes, n)
	m.removed[n]++
}

func (m *ledgerModel) check(t *rapid.T) {
	if m.ledger.Len() != len(m.nodes) {
		t.Fatalf("%d nodes, want %d", m.ledger.Len(), len(m.nodes))
	}
	for n, e := range m.nodes {
		if got, ok := m.ledger.Seen(n); !ok || got != e.seen {
			t.Fatalf("%s seen at %d, %t; want %d", n, got, ok, e.seen)
		}
	}
}

func drawNode(t *rapid.T) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "node") }

// L14, L15, L27 over any sequence of calls.
func TestLedgerAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &ledgerModel{
			ledger: liveness.NewLedger[string](0), now: sec(0),
			nodes: map[string]modelNode{}, removed: map[string]int{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"pass": m.pass, "open": m.open, "beat or close": m.speak, "remove": m.remove, "": m.check,
		})
	})
}

func TestBeatsAllocateNothing(t *testing.T) {
	l := liveness.NewLedger[string](0)
	h := open(t, l, "n", 1, sec(0))
	now := sec(0)
	if n := testing.AllocsPerRun(100, func() {
		now++
		if err := l.Beat(h, now); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a beat", n)
	}
}

func TestRowsNameEveryNodeOnce(t *testing.T) {
	l := liveness.NewLedger[string](0)
	for _, n := range []string{"a", "b", "c"} {
		open(t, l, n, 4, sec(0))
	}
	l.Remove("b")
	open(t, l, "d", 9, sec(1))
	got := rows(l, sec(2))
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"a", "c", "d"}) {
		t.Errorf("rows of %v", names)
	}
	if r := got["d"]; r.Epoch != 9 || r.Beats == 0 || r.Age != time.Second {
		t.Errorf("%+v", r)
	}
}
