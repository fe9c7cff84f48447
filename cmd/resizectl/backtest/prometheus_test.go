package backtest

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestARecordedTrace(t *testing.T) {
	r := newRecording(t)
	t.Run("shows the same for recorded containers as for a trace of them", func(t *testing.T) {
		code, stdout, stderr := replay(t, r.address, "--until", r.until, "--range", "264h")
		if code != command.ExitOK || stderr != "" {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		cmdtest.Golden(t, "generated.table", stdout)
	})
	t.Run("reports a time without pods", func(t *testing.T) {
		const want = "no metric kube_pod_owner: what containers were given is known only if Prometheus scrapes kube-state-metrics"
		if code, _, stderr := replay(t, r.address, "--until", "2020-01-01T00:00:00Z"); code != command.ExitError || !strings.Contains(stderr, want) {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
	t.Run("reports a Prometheus that does not answer", func(t *testing.T) {
		r.kill()
		if code, _, stderr := replay(t, r.address); code != command.ExitError || !strings.Contains(stderr, "read what containers were given from prometheus "+r.address) {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
}
