package clustertest

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// NoHolds never has any holds.
type NoHolds struct{}

// Ready implements cluster.Holds.
func (NoHolds) Ready() (*hold.Table, error) { return nil, nil }

// FrozenNow implements loop.Holds.
func (NoHolds) FrozenNow(context.Context) (bool, error) { return false, nil }

// Watch implements loop.Holds.
func (NoHolds) Watch() <-chan struct{} { return nil }

// Open implements loop.Holds.
func (NoHolds) Open(context.Context, hold.Scope, string, time.Time) (bool, error) { return false, nil }

// Prune implements loop.Holds.
func (NoHolds) Prune(context.Context, func(hold.Scope) bool) error { return nil }

// Holding returns a source that always has these holds.
func Holding(holds ...hold.Hold) Held { return Held{table: hold.NewTable(holds)} }

// Held are the holds of Holding.
type Held struct {
	NoHolds
	table *hold.Table
}

// Frozen returns a source that always has these holds and a freeze.
func Frozen(freeze hold.Freeze, holds ...hold.Hold) Held {
	return Held{table: hold.NewTable(holds).Frozen(&freeze)}
}

// Ready implements cluster.Holds.
func (h Held) Ready() (*hold.Table, error) { return h.table, nil }
