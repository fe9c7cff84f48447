package chaos

import (
	"sync"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// namesakes replaces a pod with another one of the same name and different sizes while a step
// for the old pod is in flight. The new pod must never be mistaken for the old one.
func (s *suite) namesakes(t *testing.T) {
	for _, tc := range []struct {
		step    string
		node    int
		restore bool
	}{
		{"originals", 0, false},
		{"resize", 0, false},
		{"applied", 0, false},
		{"record", 1, false},
		{"clean", 0, true},
	} {
		t.Run("before "+tc.step, func(t *testing.T) {
			w := newWorld(t, s.config, simpleTable("1.25"), "n4", "n2d")
			key := w.create(t, plain, "pod", &shapes[0], tc.node)
			w.awaitRunning(t)
			o := w.observe(t)
			replaced := make(chan error, 1)
			var first sync.Once
			proxy := localcluster.ProxyForTest(t, s.config, func(write localcluster.Write) localcluster.Action {
				if (targetOf(write) == target{key, tc.step}) {
					first.Do(func() {
						created, err := w.replace(t.Context(), key, &shapes[1], tc.node)
						if err == nil {
							o.know(created)
							o.allow(w.table)
						}
						replaced <- err
					})
				}
				return localcluster.Forward
			})
			w.start(t, s.through(proxy), s.through(proxy))
			if tc.restore {
				w.awaitAllRight(t, "before it is restored")
				w.holds.put(hold.Restore, hold.Scope{Namespace: key.Namespace, Pod: key.Name, UID: w.created[key].UID})
			}
			if err := <-replaced; err != nil {
				t.Fatal(err)
			}
			w.awaitAllRight(t, "after it was replaced")
			o.check(t)
		})
	}
}
