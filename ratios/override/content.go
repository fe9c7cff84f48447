package override

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// expired is the reason of changes that have no author because overrides expired.
const expired = "expired"

// content is the content of the ConfigMap. It is immutable.
type content struct {
	// overrides by node type, including expired ones.
	overrides map[string]Override
	// changes are the newest changes, oldest first.
	changes []Change
}

// newest returns the number of the newest change; 0 if there is none.
func (c content) newest() int64 {
	if len(c.changes) == 0 {
		return 0
	}
	return c.changes[len(c.changes)-1].Number
}

// with returns the content with its overrides replaced, and the recorded change. If no override
// changes, it returns the same content and nil. The given change has no number or deltas yet.
func (c content) with(overrides map[string]Override, change Change) (content, *Change) {
	change.Deltas = deltas(c.overrides, overrides)
	if len(change.Deltas) == 0 {
		return c, nil
	}
	change.Number = c.newest() + 1
	// The capacity limit keeps append from writing to a slice that others read.
	return content{overrides, append(c.changes[:len(c.changes):len(c.changes)], change)}, &change
}

// at returns the content as of now. For each time at which overrides have expired since, it
// has a separate change.
func (c content) at(now time.Time) content {
	for {
		next := nextExpiry(c.overrides)
		if !hasExpired(next, now) {
			return c
		}
		c, _ = c.with(live(c.overrides, next), Change{Time: next, Expiry: true, Reason: expired})
	}
}

// made returns the change that the request made when it was sent before; nil if it was not. The
// error is a *FieldError if another request has the same ID.
func (c content) made(r Request) (*Change, error) {
	if r.ID == "" {
		return nil, nil
	}
	at := slices.IndexFunc(c.changes, func(c Change) bool { return c.RequestID == r.ID })
	switch {
	case at < 0:
		return nil, nil
	case c.changes[at].RequestDigest != r.Digest:
		return nil, &FieldError{Field: "requestID", Problem: fmt.Sprintf("is the ID of another request, which made change %d: use a new ID for each change", c.changes[at].Number)}
	}
	return &c.changes[at], nil
}

// before returns, for all overrides that have changed since the given change, their
// values right after it. A value is nil if there was no override. The error is a
// *NotKeptError.
func (c content) before(to int64) (map[string]*Value, error) {
	oldest := c.newest() - int64(len(c.changes))
	if to < oldest || to > c.newest() {
		return nil, &NotKeptError{Number: to, Oldest: oldest, Newest: c.newest()}
	}
	was := map[string]*Value{}
	for i := len(c.changes) - 1; i >= 0 && c.changes[i].Number > to; i-- {
		for _, d := range c.changes[i].Deltas {
			was[d.NodeType] = d.From
		}
	}
	return was, nil
}

// rolledBack returns the overrides with all changes after one undone. Overrides that would have
// expired by now are not restored, but what they would have fallen back to is.
func (c content) rolledBack(to int64, from ratios.Provenance) (map[string]Override, error) {
	was, err := c.before(to)
	if err != nil {
		return nil, err
	}
	next := maps.Clone(c.overrides)
	for nodeType, v := range was {
		if v != nil && hasExpired(v.ExpireTime, from.UpdateTime) {
			v = v.Fallback
		}
		switch {
		case v == nil:
			delete(next, nodeType)
		case !v.equal(pick(c.overrides, nodeType)):
			next[nodeType] = v.override(from)
		}
	}
	return next, nil
}
