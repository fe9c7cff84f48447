package override

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Override is the override of one node type. It is immutable.
type Override struct {
	ratios.Ratio
	// Fallback is the permanent override that takes effect again when Ratio expires; nil if
	// there is none.
	Fallback *ratios.Ratio
}

// replacedBy returns the override that changes o to r: a ratio that expires keeps a permanent
// one to fall back to.
func (o Override) replacedBy(r ratios.Ratio) Override {
	next := Override{Ratio: r, Fallback: o.Fallback}
	switch {
	case r.ExpireTime.IsZero():
		next.Fallback = nil
	case o.isSet() && o.ExpireTime.IsZero():
		next.Fallback = &o.Ratio
	}
	return next
}

func (o Override) isSet() bool { return o.CPUPerf != 0 }

// Layer returns the ratios of overrides.
func Layer(overrides map[string]Override) *ratios.Layer {
	l := &ratios.Layer{Ratios: make(map[string]ratios.Ratio, len(overrides))}
	for nodeType, o := range overrides {
		l.Ratios[nodeType] = o.Ratio
	}
	return l
}

// live returns the overrides at a time: those that have expired fall back, or are gone.
func live(overrides map[string]Override, now time.Time) map[string]Override {
	left := make(map[string]Override, len(overrides))
	for nodeType, o := range overrides {
		switch {
		case !hasExpired(o.ExpireTime, now):
			left[nodeType] = o
		case o.Fallback != nil:
			left[nodeType] = Override{Ratio: *o.Fallback}
		}
	}
	return left
}

func hasExpired(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

// nextExpiry returns when the next override expires; zero if none does.
func nextExpiry(overrides map[string]Override) time.Time {
	var next time.Time
	for _, o := range overrides {
		if !o.ExpireTime.IsZero() && (next.IsZero() || o.ExpireTime.Before(next)) {
			next = o.ExpireTime
		}
	}
	return next
}
