package push

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/usage"
)

func TestNodes(t *testing.T) {
	s, began := New(), time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	of := func(node string, after time.Duration, load float64) usage.NodeUsage {
		return usage.NodeUsage{Node: node, At: began.Add(after), Load: usage.ValueOf(load)}
	}
	s.PushNode(of("a", 0, 1))
	s.PushNode(of("a", time.Minute, 2))
	for _, tc := range []struct {
		name string
		next usage.NodeUsage
		want map[string]usage.NodeUsage
	}{
		{"the newest of each node", of("b", time.Hour, 3), map[string]usage.NodeUsage{"a": of("a", time.Minute, 2), "b": of("b", time.Hour, 3)}},
		{"without one that is silent for long", of("b", 2*time.Hour, 3), map[string]usage.NodeUsage{"b": of("b", 2*time.Hour, 3)}},
	} {
		s.PushNode(tc.next)
		all, err := s.ReadNodes(t.Context())
		got := map[string]usage.NodeUsage{}
		for _, u := range all {
			got[u.Node] = u
		}
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v: %s", tc.name, err, diff)
		}
	}
}
