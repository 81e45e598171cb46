package control

import (
	"context"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/store"
	"github.com/ingotmetal/ingot/statemachine/journal"
)

// Found names the store's incarnation, if it has none yet. A site begins with it.
func (d *Door) Found(ctx context.Context, draw Draw) error {
	name, err := draw.ID("inc_")
	if err != nil {
		return err
	}
	_, err = d.Record(ctx, Call{Actor: "ingotd"}, func(tx store.Tx, _ time.Time) ([]journal.Fact, error) {
		if Incarnation(tx) != "" {
			return nil, nil
		}
		tx.Put(incarnationRow, []byte(name))
		return []journal.Fact{{Type: SiteFounded, Subject: "site"}}, nil
	})
	return err
}
