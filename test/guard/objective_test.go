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
	for _, name := range []string{"objective", "no-prometheus"} {
		s.apply(t, (&workload{name: name, replicas: 1, work: calm, skipped: true}).manifest(namespace))
	}
	metrics, err := s.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The last round before the resize has the value to compare with.
	localcluster.Eventually(t, "Prometheus to have known both pods for one round", func() error {
		now := time.Now()
		for _, at := range []time.Time{now, now.Add(-asked)} {
			value, _, _, err := metrics.Query(t.Context(), fmt.Sprintf("count(%s)", strings.Replace(usedMemory, "}", fmt.Sprintf(",namespace=%q}", namespace), 1)), at)
			if err != nil {
				return err
			}
			if vector, ok := value.(model.Vector); !ok || len(vector) != 1 || vector[0].Value != 2 {
				return fmt.Errorf("at %v, it knows %v", at, value)
			}
		}
		return nil
	})
	worse := &injection{name: "objective", work: "{cpu: 10m, memory: 60Mi}", back: cpu + " " + memory, shows: func(c *course) time.Time { return c.injected }}
	for _, name := range []string{"objective", "no-prometheus"} {
		s.annotate(t, namespace, s.seen.of(namespace, name)[0].pod.Name, "workload-resizer.io/skip", "")
	}
	for _, name := range []string{"objective", "no-prometheus"} {
		s.inject(t, s.seen.await(t, namespace, name, 1, "lowered", lowered), worse)
	}
	found := s.seen.await(t, namespace, "objective", 1, "reverted", back)
	c := &found[0]
	if err := revertedOnce(c); err != nil {
		t.Error(err)
	}
	if record := c.pod.Annotations[revertedKey]; !strings.Contains(record, `"harm":"Objective"`) || !strings.Contains(record, "is above 5e+07") {
		t.Errorf("it records %s", record)
	}
	t.Logf("objective: reverted %v after the injection", c.back.Sub(c.injected).Round(time.Millisecond))
	s.awaitReason(t, server, namespace, s.seen.of(namespace, "no-prometheus")[0].pod.Name, "NotMeasured", "connection refused")
	r.kept(t, "no-prometheus", s.seen.await(t, namespace, "no-prometheus", 1, "lowered at the end", lowered))
}
