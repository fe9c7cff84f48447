package override

import (
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// expired is the reason of changes that nobody has made.
const expired = "expired"

// content is what the ConfigMap says. Nobody changes it once it is made.
type content struct {
	// overrides by node type, those that have expired too.
	overrides map[string]ratios.Ratio
	// changes are the newest, the oldest of them first.
	changes []Change
}

// newest is the number of the newest change, 0 if there was none.
func (c content) newest() int64 {
	if len(c.changes) == 0 {
		return 0
	}
	return c.changes[len(c.changes)-1].Number
}

// with returns the content after a change to other overrides, and the change; the
// same content and nil if nothing changes. The change lacks its deltas.
func (c content) with(overrides map[string]ratios.Ratio, change Change) (content, *Change) {
	change.Deltas = deltas(c.overrides, overrides)
	if len(change.Deltas) == 0 {
		return c, nil
	}
	change.Number = c.newest() + 1
	// The capacity keeps append off what others read.
	return content{overrides, append(c.changes[:len(c.changes):len(c.changes)], change)}, &change
}

// at returns the content as of now: what has expired is gone, by a change of its
// own.
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

// before returns how the overrides that were changed since were right after a
// change, nil where there was none. The error is a
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

// rolledBack returns the overrides with those that were changed since as they
// were, unless they have expired by now.
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
