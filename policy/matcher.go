package policy

import (
	"maps"
	"slices"
	"strconv"
)

// matcher is Criteria in a form that is fast to match against every pod: iterating over a slice
// is several times as fast as over a map. The matcher of the globals is empty: it matches all.
type matcher struct {
	namespace, class    string
	labels, annotations []pair
}

type pair struct{ key, value string }

func newMatcher(m Criteria) matcher {
	return matcher{namespace: m.Namespace, class: m.ComputeClass, labels: pairs(m.Labels), annotations: pairs(m.Annotations)}
}

func (m *matcher) equal(other *matcher) bool {
	return m.namespace == other.namespace && m.class == other.class && slices.Equal(m.labels, other.labels) && slices.Equal(m.annotations, other.annotations)
}

// identify calls write for all criteria. The lengths separate lists from what follows them.
func (m *matcher) identify(write func(fields ...string)) {
	write(m.namespace, m.class)
	for _, list := range [][]pair{m.labels, m.annotations} {
		write(strconv.Itoa(len(list)))
		for _, c := range list {
			write(c.key, c.value)
		}
	}
}

// pairs returns the entries of m sorted by key, so that equal maps give equal slices.
func pairs(m map[string]string) []pair {
	var all []pair
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, pair{key, m[key]})
	}
	return all
}

func (m *matcher) matches(s Subject) bool {
	return (m.namespace == "" || m.namespace == s.Namespace()) && (m.class == "" || m.class == s.ComputeClass()) &&
		among(m.labels, s.Label) && among(m.annotations, s.Annotation)
}

// among reports whether have contains all pairs of want.
func among(want []pair, have func(key string) (value string, ok bool)) bool {
	for _, w := range want {
		if got, ok := have(w.key); !ok || got != w.value {
			return false
		}
	}
	return true
}
