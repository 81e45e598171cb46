package control

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/lifecycle"
	"github.com/ingotmetal/ingot/statemachine/netboot"
	"github.com/ingotmetal/ingot/statemachine/registration"
)

// Booted is one answer of a booter to a MAC, or the reason of its silence.
type Booted struct {
	MAC     netboot.MAC
	At      time.Time
	Stage   string
	Image   string
	Silence string
	Count   uint64
}

// bootedLedger has the newest answer to each MAC.
const bootedLedger = store.LedgerPrefix + "booted/"

// Booted overwrites what a booter has staged, and the newest of its answers to each
// MAC. It is an observation: nothing is decided by it but what is staged.
func (d *Door) Booted(ctx context.Context, b Booter, all []Booted) error {
	b.Seen = d.now().UTC().Round(0)
	_, err := d.store.Update(ctx, func(tx store.Tx) error {
		raw, err := json.Marshal(b)
		if err != nil {
			return err
		}
		tx.Put(bootersLedger+b.Name, raw)
		for _, x := range all {
			raw, err := json.Marshal(x)
			if err != nil {
				return err
			}
			tx.Put(bootedLedger+x.MAC.String(), raw)
		}
		return nil
	})
	return err
}

// BootsOf are the boot records that a touched row of the store is about, or whose
// answer hangs on it: a record's own, and those of a registration row's machine,
// whose settings go with the boot (BOOT-3).
func BootsOf(r store.Reader, key string) []netboot.MAC {
	if text, ok := strings.CutPrefix(key, lifecycle.RowBoot); ok {
		if mac, err := netboot.ParseMAC(text); err == nil {
			return []netboot.MAC{mac}
		}
	}
	text, ok := strings.CutPrefix(key, lifecycle.RowRegistration)
	if !ok {
		return nil
	}
	server, err := registration.ParseServerID(text)
	if err != nil {
		return nil
	}
	l := &loader{Reader: r}
	prefix := lifecycle.RowBy + "node-mac/" + string(l.holder(server)) + "/"
	var macs []netboot.MAC
	for key := range r.Range(prefix, Beyond(prefix)) {
		if mac, err := netboot.ParseMAC(strings.TrimPrefix(key, prefix)); err == nil {
			macs = append(macs, mac)
		}
	}
	return macs
}

// setupsLedger has a row for each machine whose bundle waits for its booter, by its
// UUID.
const setupsLedger = store.LedgerPrefix + "setup/"

// Setups are the machines whose approved setup waits for its booter (SET-6).
func Setups(r store.Reader) []registration.ServerID {
	var all []registration.ServerID
	for key := range r.Range(setupsLedger, Beyond(setupsLedger)) {
		if id, err := registration.ParseServerID(strings.TrimPrefix(key, setupsLedger)); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// waiting keeps that ledger for the row that a step changed.
func waiting(tx store.Tx, was, is *registration.Record) {
	waits := func(r *registration.Record) bool { return r.State == registration.SettingUp && !r.Bundle.Consumed }
	switch {
	case waits(is) && !waits(was):
		tx.Put(setupsLedger+is.Server.Key().String(), nil)
	case waits(was) && !waits(is):
		tx.Delete(setupsLedger + was.Server.Key().String())
	}
}

// incarnationRow names this life of the store: a restored copy is another one.
const incarnationRow = "incarnation"

// Incarnation is the store's, "" before Found.
func Incarnation(r store.Reader) string {
	raw, _ := r.Get(incarnationRow)
	return string(raw)
}

// The facts of a store's beginnings.
const (
	SiteFounded  = "site.founded"
	SiteRestored = "site.restored"
)
