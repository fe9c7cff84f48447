package override

import (
	"context"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Rollback describes the state to roll back to.
type Rollback struct {
	// To is the last change to keep; 0 is the state before the first one.
	To int64
	// Newest must be the newest change, unless it is nil; 0 means that no change is stored.
	Newest *int64
}

// Rollback undoes all changes after one: it restores the overrides that they changed, except
// for those that have expired since. The results are the same as for Update; the error may also
// be a *NotKeptError or a *NewerChangeError.
func (s *Store) Rollback(ctx context.Context, b Rollback, r Request) (*Change, error) {
	return s.edit(ctx, r, &b.To, func(c content, from ratios.Provenance) (map[string]Override, error) {
		if newest := c.newest(); b.Newest != nil && *b.Newest != newest {
			return nil, &NewerChangeError{newest}
		}
		return c.rolledBack(b.To, from)
	})
}
