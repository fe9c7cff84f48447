package hold

import (
	"context"
	"maps"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/fair"
)

// write reports whether a change is written or only checked.
type write bool

const (
	toStore write = true
	toCheck write = false
)

// change has the hold to store, nil for none, and the holds to remove.
type change struct {
	put  *Hold
	drop []Hold
}

// turn returns when to write a hold of the scope if others wait, too. Callers who may stop the
// cluster or a namespace must not wait for those who may stop only some of its pods. Nor must
// anybody wait long for the holds of another namespace.
func (s Scope) turn() document.Turn {
	turn := document.Turn{Key: fair.Key{Origin: s.Namespace}}
	switch s.level() {
	case ofCluster:
		turn.Priority = fair.Highest
	case ofNamespace:
		turn.Priority = fair.High
	}
	return turn
}

// update changes the holds in the ConfigMap, and drops expired holds. Those that decide gets include
// breakers that were reset.
func (s *Store) update(ctx context.Context, write write, turn document.Turn, decide func([]Hold) (change, error)) error {
	into := func(all []keyed, data map[string]string) (map[string]string, error) {
		now := s.clock.Now()
		c, err := decide(live(all, now))
		if err != nil {
			return nil, err
		}
		after := make(map[string]string, len(data)+1)
		maps.Copy(after, data)
		for i := range all {
			if all[i].endedBy(now) {
				delete(after, all[i].key)
			}
		}
		for _, h := range c.drop {
			delete(after, dataKey(h))
			if reset, ok := h.afterReset(now); ok {
				if after[dataKey(h)], err = readable(reset); err != nil {
					return nil, err
				}
			}
		}
		if c.put != nil {
			key := dataKey(*c.put)
			if after[key], err = readable(*c.put); err != nil {
				return nil, err
			}
			if err := checkRoom(all, after, keyed{key, *c.put}, cost(key, data[key])); err != nil {
				return nil, err
			}
		}
		if maps.Equal(after, data) {
			return nil, nil
		}
		return after, nil
	}
	if write == toCheck {
		return unquote(s.document.Check(into))
	}
	return unquote(s.document.Update(ctx, turn, into))
}
