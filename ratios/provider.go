package ratios

import "context"

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
// layer stays in effect. If the source has never had one, the store has no table.
type Update struct {
	Layer *Layer
	Err   error
}
