package hold

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// keyed is a hold and its key in the ConfigMap.
type keyed struct {
	key string
	Hold
}

// reader reads the data of the ConfigMap, and remembers what it read: it parses only the
// keys whose text has changed.
type reader struct {
	mu    sync.Mutex
	known map[string]parsed
}

type parsed struct {
	text string
	hold Hold
}

// read returns the holds in the data, in any order. Without keys there are no
// holds. The error lists all faults.
func (r *reader) read(data map[string]string) ([]keyed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]parsed{}
	}
	var errs faults
	holds := make([]keyed, 0, len(data))
	for key, text := range data {
		p, ok := r.known[key]
		if !ok || p.text != text {
			h, err := parseHold(key, text)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			p = parsed{text, h}
			r.known[key] = p
		}
		holds = append(holds, keyed{key, p.hold})
	}
	for key := range r.known {
		if _, ok := data[key]; !ok {
			delete(r.known, key)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return holds, errs.Err()
}

// live returns the holds that have not expired.
func live(all []keyed, now time.Time) []Hold {
	holds := make([]Hold, 0, len(all))
	for i := range all {
		if !all[i].endedBy(now) {
			holds = append(holds, all[i].Hold)
		}
	}
	return holds
}

// nextExpiry returns when the next hold expires; zero if none does.
func nextExpiry(holds []Hold) time.Time {
	var next time.Time
	for i := range holds {
		if e := holds[i].Expires; !e.IsZero() && (next.IsZero() || e.Before(next)) {
			next = e
		}
	}
	return next
}
