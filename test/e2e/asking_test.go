package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// promptConfig returns the sample configuration for journeys that change ratios: running pods do not wait for
// canaries, nor until they may free more, so that all of them are resized within seconds.
func promptConfig() []byte {
	return append(deploy.SampleConfig(), "    guard: { maxUnproven: 100% }\n    pace: { freedPerHour: 0 }\n"...)
}

// withRules returns the sample configuration with more lines in its config.yaml.
func withRules(lines string) []byte {
	config := string(promptConfig())
	for line := range strings.Lines(lines) {
		config += "    " + line
	}
	return []byte(config + "\n")
}

// withN4 returns the sample configuration with another performance of n4.
func withN4(cpuPerf string) []byte {
	return []byte(strings.Replace(string(promptConfig()), "cpuPerf: 1.25", "cpuPerf: "+cpuPerf, 1))
}

// configure sets the configuration before a server starts. After the test, it sets the
// sample configuration again.
func (c *cluster) configure(t *testing.T, config []byte) {
	t.Helper()
	c.apply(t, config)
	t.Cleanup(func() { c.apply(t, promptConfig()) })
}

// reconfigure changes the configuration and waits until it is in effect.
func (c *cluster) reconfigure(t *testing.T, s *server, config []byte) {
	t.Helper()
	before := s.revision(t)
	c.configure(t, config)
	localcluster.Eventually(t, "the new configuration to take effect", func() error {
		if s.revision(t) == before {
			return fmt.Errorf("the revision is still %s", before)
		}
		return nil
	})
}

func (s *server) revision(t *testing.T) string {
	t.Helper()
	list, err := s.api.ListRatios(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list.GetRevision()
}

// resizectl runs resizectl against the server, checks its exit code, and returns its
// output.
func (s *server) resizectl(t *testing.T, code int, args ...string) string {
	t.Helper()
	got, out, errOut := run(t, "resizectl", append(slices.Clone(s.connection), args...)...)
	if got != code {
		t.Errorf("resizectl %s: exit code %d, want %d:\n%s%s", strings.Join(args, " "), got, code, out, errOut)
	}
	return out + errOut
}

// wants checks that text contains all parts.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing from:\n%s", part, text)
		}
	}
}

// awaitReason waits until the plan of a pod has this decision and this reason. For a
// skip, it must be the first reason.
func (s *server) awaitReason(t *testing.T, p *corev1.Pod, decision workloadresizerv1.Decision, reason string) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("the plan of %s/%s to have reason %s", p.Namespace, p.Name, reason), func() error {
		plan, err := s.api.PreviewPod(t.Context(), p.Namespace, p.Name)
		if err != nil {
			return err
		}
		reasons := plan.GetReasons()
		if decision == workloadresizerv1.Decision_DECISION_SKIP {
			reasons = reasons[:min(len(reasons), 1)]
		}
		said := slices.ContainsFunc(reasons, func(r *workloadresizerv1.PlanReason) bool { return r.GetCode() == reason && r.GetMessage() != "" })
		if plan.GetDecision() != decision || !said {
			return fmt.Errorf("the plan is %v", plan)
		}
		return nil
	})
}

// awaitSkipped waits until a pod is skipped for a reason that is visible in the plan and
// in an event.
func (c *cluster) awaitSkipped(t *testing.T, s *server, p *corev1.Pod, reason, because string) {
	t.Helper()
	s.awaitReason(t, p, workloadresizerv1.Decision_DECISION_SKIP, reason)
	// While the node applies what another actor made of the resize, the plan has that reason instead.
	localcluster.Eventually(t, "resizectl plan to say so", func() error {
		printed := s.resizectl(t, 0, "plan", "-n", p.Namespace, p.Name)
		for _, part := range []string{"skip", "is skipped: " + reason, because} {
			if !strings.Contains(printed, part) {
				return fmt.Errorf("%q is missing from:\n%s", part, printed)
			}
		}
		return nil
	})
	c.awaitEvent(t, p.Namespace, p.UID, reason, because)
}

// restart stops a server and starts another.
func (c *cluster) restart(t *testing.T, s *server, args ...string) *server {
	t.Helper()
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	return c.serveReady(t, args...)
}

// metric returns a sample of /metrics by its name and labels as they appear there, 0 if
// there is none.
func (s *server) metric(t *testing.T, name string) float64 {
	t.Helper()
	_, body := get(t, "http://"+s.HTTPAddress+"/metrics")
	for line := range strings.Lines(body) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatalf("metric %s: %v", name, err)
			}
			return value
		}
	}
	return 0
}
