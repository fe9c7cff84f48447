package guard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// asked is how often objectives are asked for.
const asked = 30 * time.Second

// missed lets pods break an objective after their resize, of which a real Prometheus knows, and one that
// does not answer. The former are reverted.
func (s *suite) missed(t *testing.T, server *server, r *report, namespace string) {
	names := []string{"objective", "no-prometheus"}
	for _, name := range names {
		s.apply(t, (&workload{name: name, replicas: *injectionsFlag, work: calm, skipped: true}).manifest(namespace))
	}
	metrics, err := s.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The last round before the resize has the value to compare with.
	localcluster.Eventually(t, "Prometheus to have known all pods for one round", func() error {
		now := time.Now()
		for _, at := range []time.Time{now, now.Add(-asked)} {
			value, _, _, err := metrics.Query(t.Context(), fmt.Sprintf("count(%s)", strings.Replace(usedMemory, "}", fmt.Sprintf(",namespace=%q}", namespace), 1)), at)
			if err != nil {
				return err
			}
			if vector, ok := value.(model.Vector); !ok || len(vector) != 1 || int(vector[0].Value) != len(names)*(*injectionsFlag) {
				return fmt.Errorf("at %v, it knows %v", at, value)
			}
		}
		return nil
	})
	worse := &injection{name: "objective", work: "{cpu: 10m, memory: 60Mi}", back: cpu + " " + memory, interval: asked}
	for _, name := range names {
		for _, c := range s.seen.of(namespace, name) {
			s.annotate(t, namespace, c.pod.Name, "workload-resizer.io/skip", "")
		}
	}
	for _, name := range names {
		s.inject(t, s.seen.await(t, namespace, name, *injectionsFlag, "lowered", lowered), worse)
	}
	found := s.seen.await(t, namespace, "objective", *injectionsFlag, "reverted", back)
	for i := range found {
		if record := found[i].pod.Annotations[revertedKey]; !strings.Contains(record, `"harm":"Objective"`) || !strings.Contains(record, "is above 5e+07") {
			t.Errorf("it records %s", record)
		}
	}
	r.injected(t, "objective", found, nil)
	s.awaitReason(t, server, namespace, s.seen.of(namespace, "no-prometheus")[0].pod.Name, "NotMeasured", "connection refused")
	r.kept(t, "no-prometheus", s.seen.await(t, namespace, "no-prometheus", *injectionsFlag, "lowered at the end", lowered))
}
