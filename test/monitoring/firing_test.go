package monitoring

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// expiring fires all the time: the server's certificate is valid for only a day.
	expiring  = "WorkloadResizerCertificateExpiring"
	unreached = "WorkloadResizerCreationUnreached"
)

// quiet checks rules that were evaluated after metrics of a resize existed.
func (s *scene) quiet(t *testing.T) {
	s.awaitFiring(t, expiring) // Alerts of the server's start no longer fire.
	begin := time.Now()
	localcluster.Eventually(t, "all rules to be evaluated", func() error {
		result, err := s.prometheus.Rules(t.Context(), nil)
		if err != nil {
			return err
		}
		count := 0
		for _, group := range result.Groups {
			for _, rule := range group.Rules {
				a, ok := rule.(promv1.AlertingRule)
				if !ok {
					return fmt.Errorf("%v is not an alert", rule)
				}
				if a.LastEvaluation.Before(begin) || a.Health != promv1.RuleHealthGood || a.LastError != "" {
					return fmt.Errorf("%s was evaluated at %v: %s %s", a.Name, a.LastEvaluation, a.Health, a.LastError)
				}
				count++
			}
		}
		if want := len(alerts(t)); count != want {
			return fmt.Errorf("got %d of %d rules", count, want)
		}
		return nil
	})
	s.awaitFiring(t, expiring)
	s.firedOnly(t, begin, expiring)
}

func (s *scene) brokenConfig(t *testing.T) {
	begin := time.Now()
	broken := strings.Replace(string(deploy.SampleConfig()), "cpuPerf: 1.25", "cpuPerf: fast", 1)
	s.apply(t, []byte(broken))
	for _, a := range s.awaitFiring(t, expiring, "WorkloadResizerRatioSourceUnhealthy") {
		if a.Labels["alertname"] != expiring && a.Labels["source"] != "configmap" {
			t.Errorf("the alert has the labels %v", a.Labels)
		}
		for name, text := range a.Annotations {
			if strings.ContainsAny(string(text), "{}<>") {
				t.Errorf("the %s of %s is %q", name, a.Labels["alertname"], text)
			}
		}
	}
	s.apply(t, deploy.SampleConfig())
	s.awaitFiring(t, expiring)
	s.firedOnly(t, begin, expiring, "WorkloadResizerRatioSourceUnhealthy")
}

func (s *scene) killed(t *testing.T) {
	begin := time.Now()
	if err := s.server.Kill(); err != nil {
		t.Fatal(err)
	}
	s.awaitFiring(t, "WorkloadResizerAbsent", "WorkloadResizerReplicaDown")
	s.serve()
	s.awaitFiring(t, expiring)
	// The next server waits for the Lease longer than alerts wait in this test.
	s.firedOnly(t, begin, expiring, "WorkloadResizerAbsent", "WorkloadResizerReplicaDown", "WorkloadResizerNoLeader")
}

func (s *scene) leaderless(t *testing.T) {
	begin := time.Now()
	s.holdLease(t, "another holder", 3600)
	s.awaitFiring(t, expiring, "WorkloadResizerNoLeader")
	s.holdLease(t, "", 1)
	s.awaitFiring(t, expiring)
	s.firedOnly(t, begin, expiring, "WorkloadResizerNoLeader")
}

// unreached creates pods about which the API server asks at a Service that it cannot reach.
func (s *scene) unreached(t *testing.T) {
	begin, n := time.Now(), 0
	localcluster.Eventually(t, "the API server to have had no answers", func() error {
		n++
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("unanswered-%d", n), Namespace: "default",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "gone", UID: "gone", Controller: new(true)}},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}, NodeSelector: map[string]string{"no": "node"}},
		}
		if _, err := s.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			return err
		}
		result, err := s.prometheus.Alerts(t.Context())
		if err == nil && !slices.ContainsFunc(result.Alerts, func(a promv1.Alert) bool {
			return a.Labels["alertname"] == unreached && a.State == promv1.AlertStateFiring
		}) {
			err = fmt.Errorf("%s does not fire", unreached)
		}
		return err
	})
	s.awaitFiring(t, expiring, unreached)
	s.firedOnly(t, begin, expiring, unreached)
}

// holdLease sets the holder of the Lease, for that many seconds from now.
func (s *scene) holdLease(t *testing.T, holder string, seconds int32) {
	t.Helper()
	leases := s.client.CoordinationV1().Leases(deploy.Namespace)
	localcluster.Eventually(t, "the Lease to be written", func() error {
		lease, err := leases.Get(t.Context(), deploy.ServiceAccount, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now := metav1.NowMicro()
		lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err
	})
}
