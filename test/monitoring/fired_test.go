package monitoring

import (
	"fmt"
	"slices"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// steady is how long the same alerts must fire: several evaluations, to detect alerts that fire
// only for a moment.
const steady = 5 * time.Second

// awaitFiring waits until exactly these alerts fire, and have fired for a while.
func (s *scene) awaitFiring(t *testing.T, want ...string) []promv1.Alert {
	t.Helper()
	slices.Sort(want)
	var firing []promv1.Alert
	localcluster.Eventually(t, fmt.Sprintf("%v to fire", want), func() error {
		result, err := s.prometheus.Alerts(t.Context())
		if err != nil {
			return err
		}
		firing = nil
		var names []string
		for _, a := range result.Alerts {
			if a.State == promv1.AlertStateFiring {
				firing = append(firing, a)
				names = append(names, string(a.Labels["alertname"]))
			}
		}
		slices.Sort(names)
		if names = slices.Compact(names); !slices.Equal(names, want) {
			return fmt.Errorf("the firing alerts are %v", names)
		}
		fired, err := s.fired(t, steady)
		if err == nil && !slices.Equal(fired, want) {
			err = fmt.Errorf("%v fired within %v", fired, steady)
		}
		return err
	})
	return firing
}

// firedOnly checks that only these alerts have fired since then, even for a moment.
func (s *scene) firedOnly(t *testing.T, since time.Time, allowed ...string) {
	t.Helper()
	fired, err := s.fired(t, time.Since(since))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range fired {
		if !slices.Contains(allowed, name) {
			t.Errorf("%s has fired, want only %v", name, allowed)
		}
	}
	if len(fired) == 0 {
		t.Error("Prometheus has no record of alerts that fired")
	}
}

// fired returns the sorted names of the alerts that fired at any time within the given duration,
// as recorded by Prometheus.
func (s *scene) fired(t *testing.T, within time.Duration) ([]string, error) {
	t.Helper()
	query := fmt.Sprintf(`group by (alertname) (count_over_time(ALERTS{alertstate="firing"}[%dms]))`, within.Milliseconds())
	value, _, _, err := s.prometheus.Query(t.Context(), query, time.Now())
	if err != nil {
		return nil, err
	}
	vector, ok := value.(model.Vector)
	if !ok {
		return nil, fmt.Errorf("%s is a %s", query, value.Type())
	}
	var names []string
	for _, sample := range vector {
		names = append(names, string(sample.Metric["alertname"]))
	}
	slices.Sort(names)
	return names, nil
}
