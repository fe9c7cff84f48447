package ratios

import "context"

// Provider is a source of ratios.
type Provider interface {
	// Name is the name of the source in provenances, flags and metrics.
	Name() string
	// Run reports the state of the source, first as soon as it is known and
	// then whenever it changes, until ctx is done; then it returns nil. An
	// error means that the provider cannot go on; a source that is missing
	// or bad is no such error but reported. report does not block and may
	// not be called after Run has returned.
	Run(ctx context.Context, report func(Update)) error
}

// Update is the state of a source: either a layer, or what is wrong with it, in
// which case the last good layer stays in force; while there was none, there is
// no table.
type Update struct {
	Layer *Layer
	Err   error
}
