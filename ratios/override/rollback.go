package override

import (
	"context"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Rollback says which state to go back to.
type Rollback struct {
	// To is the last change to keep; 0 is the state before the first one.
	To int64
	// Newest must be the newest change that is stored, unless it is 0.
	Newest int64
}

// Rollback undoes the changes after one: the overrides that they changed become
// what they were, but those that have expired since. The results are those of
// Update; the error may be a *NotKeptError or a *NewerChangeError, too.
func (s *Store) Rollback(ctx context.Context, b Rollback, r Request) (*Change, error) {
	return s.edit(ctx, r, &b.To, func(stored, c content, from ratios.Provenance) (map[string]ratios.Ratio, error) {
		if newest := stored.newest(); b.Newest != 0 && b.Newest != newest {
			return nil, &NewerChangeError{newest}
		}
		return c.rolledBack(b.To, from)
	})
}
