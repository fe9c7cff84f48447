package ratios

import (
	"context"

	"github.com/workload-resizer/workload-resizer/policy"
)

// Provider is a source of ratios.
type Provider interface {
	// Name is the name of the source in provenances, flags and metrics.
	Name() string
	// Run reports the state of the source as soon as it is known, and then
	// whenever it changes. It returns nil when ctx is done. An error means
	// that the provider cannot continue; Run reports a missing or invalid
	// source instead of returning an error. report does not block and must
	// not be called after Run has returned.
	Run(ctx context.Context, report func(Update)) error
}

// Update is the state of a source: either a layer, or an error. After an error, the last good
// layer stays in effect. If the source has never had one, the store has no table, unless the
// source is idle.
type Update struct {
	Layer *Layer
	Err   error
	// Idle reports of a source with an error whether it would change no ratio in a cluster with
	// these settings. By default, it might.
	Idle func(policy.Cluster) bool
}
