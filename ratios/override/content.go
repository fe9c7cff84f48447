package override

import (
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// expired is the reason of changes that have no author because overrides expired.
const expired = "expired"

// content is the content of the ConfigMap. It is immutable.
type content struct {
	// overrides by node type, including expired ones.
	overrides map[string]ratios.Ratio
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
func (c content) with(overrides map[string]ratios.Ratio, change Change) (content, *Change) {
	change.Deltas = deltas(c.overrides, overrides)
	if len(change.Deltas) == 0 {
		return c, nil
	}
	change.Number = c.newest() + 1
	// The capacity limit keeps append from writing to a slice that others read.
	return content{overrides, append(c.changes[:len(c.changes):len(c.changes)], change)}, &change
}

// at returns the content as of now: a separate change removes expired overrides.
func (c content) at(now time.Time) content {
	next, _ := c.with(live(c.overrides, now), Change{Time: now, Reason: expired})
	return next
}

// live returns the overrides that have not expired.
func live(overrides map[string]ratios.Ratio, now time.Time) map[string]ratios.Ratio {
	left := map[string]ratios.Ratio{}
	for nodeType, r := range overrides {
		if !hasExpired(r.ExpireTime, now) {
			left[nodeType] = r
		}
	}
	return left
}

func hasExpired(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

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
// expired by now are not restored.
func (c content) rolledBack(to int64, from ratios.Provenance) (map[string]ratios.Ratio, error) {
	was, err := c.before(to)
	if err != nil {
		return nil, err
	}
	next := maps.Clone(c.overrides)
	for nodeType, v := range was {
		present := pick(c.overrides, nodeType)
		switch {
		case v == nil || hasExpired(v.ExpireTime, from.UpdateTime):
			delete(next, nodeType)
		case present == nil || *present != *v:
			next[nodeType] = ratios.Ratio{CPUPerf: v.CPUPerf, MemoryPerf: v.MemoryPerf, ExpireTime: v.ExpireTime, Provenance: from}
		}
	}
	return next, nil
}
