package status

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/leader"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/values"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func none() error { return nil }

// of returns the status service of a replica that can store everything.
func of(p *servertest.Parts) *Service {
	return New(Config{Replica: "me", Version: "v1", Reconciler: p.Loop, Ratios: p.Store, Holds: p.Holds, Viewer: servertest.All, Unstorable: none, Certificate: none, CertificateExpires: func() time.Time { return servertest.Written }})
}

func TestStatus(t *testing.T) {
	t.Run("returns what is missing", returnsWhatIsMissing)
	t.Run("quotes the holds only to callers who can see all namespaces", quotesTheHoldsOnlyToCallersWhoCanSeeAllNamespaces)
	t.Run("shows evictions to those who see the pods", showsEvictionsToThoseWhoSeeThePods)
	t.Run("counts overloaded nodes", countsOverloadedNodes)
	t.Run("the only replica is the leader", theOnlyReplicaIsTheLeader)
	t.Run("a dry run does not lead", aDryRunDoesNotLead)
	t.Run("the election determines the leader", theElectionDeterminesTheLeader)
}

func returnsWhatIsMissing(t *testing.T) {
	begin := time.Now()
	status := of(servertest.Start(t, servertest.Setup{Ratios: ratios.Update{Err: errors.New("the ConfigMap is gone")}}))
	status.config.Certificate = func() error { return errors.New("the certificate cannot be renewed") }
	localcluster.Eventually(t, "the problems", func() error {
		got, err := status.GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
		if err != nil {
			return err
		}
		for _, want := range []string{"the ConfigMap is gone", "pods and nodes are not read yet", "read ConfigMap default/holds: ", "the certificate cannot be renewed"} {
			with := func(problem string) bool { return strings.Contains(problem, want) }
			if i := slices.IndexFunc(got.GetProblems(), with); i < 0 || slices.ContainsFunc(got.GetProblems()[i+1:], with) {
				return fmt.Errorf("want %q once, got %q", want, got.GetProblems())
			}
		}
		if got.GetRatioRevision() != "" || got.GetHolds() != 0 || len(got.GetPods()) != 0 {
			return fmt.Errorf("unexpected content: %v", got)
		}
		if since := got.GetStartTime().AsTime(); since.Before(begin.Add(-time.Second)) || since.After(time.Now()) {
			return fmt.Errorf("the start time is %v", since)
		}
		return nil
	})
}

func quotesTheHoldsOnlyToCallersWhoCanSeeAllNamespaces(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "holds"}, Data: map[string]string{"pause.namespace.secret": "{}"}}
	if _, err := client.CoreV1().ConfigMaps(namespace.Name).Create(t.Context(), content, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	status := of(servertest.Start(t, servertest.Setup{}))
	status.config.Holds = hold.New(client, namespace.Name, "holds")
	servertest.Run(t, status.config.Holds.Run)
	localcluster.Eventually(t, "the invalid content", func() error {
		if err := status.config.Holds.Err(); !strings.Contains(hold.Quoted(err).Error(), "secret") {
			return err
		}
		return nil
	})
	for viewer, quoted := range map[string]bool{"all": true, "some": false} {
		status.config.Viewer = map[string]servertest.Viewer{"all": servertest.All, "some": servertest.Only("shop")}[viewer]
		got, err := status.GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(got.GetProblems(), "\n")
		if !strings.Contains(text, "/holds") || strings.Contains(text, "secret") != quoted {
			t.Errorf("a caller who sees %s namespaces: %s", viewer, text)
		}
	}
}

// The evictions are those that any replica has stored.
func showsEvictionsToThoseWhoSeeThePods(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	var stored []string
	for i, entry := range []struct{ namespace, pod, ago string }{{"shop", "old", "2h"}, {"shop", "web-1", "20m"}, {"bank", "db-1", "10m"}, {"shop", "web-2", "1m"}} {
		ago, _ := time.ParseDuration(entry.ago)
		stored = append(stored, fmt.Sprintf(`{"namespace":%q,"workload":{"kind":"Deployment","name":"web"},"node":"n","reason":"NodeCapacity","pod":%q,"uid":"u%d","at":%q}`,
			entry.namespace, entry.pod, i, time.Now().Add(-ago).UTC().Format(time.RFC3339)))
	}
	content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "evictions"}, Data: map[string]string{"evictions.json": "[" + strings.Join(stored, ",") + "]"}}
	if _, err := client.CoreV1().ConfigMaps(namespace.Name).Create(t.Context(), content, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p := servertest.Start(t, servertest.Setup{Cluster: namespace.Config(), Loop: func(c *reconciler.Config) {
		c.Evictions = &reconciler.Evictions{Client: client, Namespace: namespace.Name, Name: "evictions"}
	}})
	for _, tc := range []struct {
		viewer servertest.Viewer
		want   string
	}{{servertest.All, "shop/web-2 bank/db-1 shop/web-1"}, {servertest.Only("shop"), "shop/web-2 shop/web-1"}, {servertest.Only("inn"), ""}} {
		status := of(p)
		status.config.Viewer = tc.viewer
		localcluster.Eventually(t, "the evictions", func() error {
			got, err := status.GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
			if err != nil {
				return err
			}
			var names []string
			for _, e := range got.GetEvictions() {
				names = append(names, e.GetNamespace()+"/"+e.GetPod())
				if e.GetNode() != "n" || e.GetCode() != "NodeCapacity" || e.GetWorkload().GetName() != "web" {
					t.Errorf("%v", e)
				}
			}
			if done, _ := p.Loop.Mover.Moved(); len(done) != 3 || strings.Join(names, " ") != tc.want || got.GetEvictionBacklog() != 0 {
				return fmt.Errorf("got %q of %d, and %d more", names, len(done), got.GetEvictionBacklog())
			}
			return nil
		})
	}
}

func theOnlyReplicaIsTheLeader(t *testing.T) {
	r := servertest.Start(t, servertest.Setup{})
	got, err := of(r).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetReplica() != "me" || got.GetVersion() != "v1" || !got.GetLeading() || got.GetLeader().GetIdentity() != "me" || got.GetRatioRevision() != r.Store.Table().Revision {
		t.Errorf("%v", got)
	}
}

func countsOverloadedNodes(t *testing.T) {
	pods, nodes := servertest.ShopPods()
	nodes[0].Spec.Taints = []corev1.Taint{{Key: "busy", Value: contract.OverloadMark, Effect: corev1.TaintEffectPreferNoSchedule}}
	p := servertest.Start(t, servertest.Setup{Cluster: servertest.Frozen(t, pods, nodes)}).Known(t)
	got, err := of(p).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
	if err != nil || got.GetOverloadedNodes() != 1 {
		t.Errorf("%d overloaded nodes, %v", got.GetOverloadedNodes(), err)
	}
}

func aDryRunDoesNotLead(t *testing.T) {
	for _, dry := range []bool{false, true} {
		r := servertest.Start(t, servertest.Setup{Loop: func(c *reconciler.Config) { c.DryRun = dry }})
		got, err := of(r).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetLeading() == dry || got.GetDryRun() != dry {
			t.Errorf("with --dry-run=%v the status is %v", dry, got)
		}
		families, err := r.Metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == "workload_resizer_leading" })
		if leading := families[i].GetMetric()[0].GetGauge().GetValue(); (leading == 1) == dry {
			t.Errorf("with --dry-run=%v the metric is %v", dry, leading)
		}
	}
}

// elected is an election with a fixed result.
type elected struct{ leader *leader.Leader }

func (e elected) Leader() (leader.Leader, bool) {
	if e.leader == nil {
		return leader.Leader{}, false
	}
	return *e.leader, true
}

func theElectionDeterminesTheLeader(t *testing.T) {
	for _, tc := range []struct {
		name       string
		election   Election
		leading    bool
		want       *workloadresizerv1.Leader
		leaderless bool
	}{
		{"another replica", elected{&leader.Leader{Identity: "other", Acquired: servertest.Written, Renewed: servertest.Written.Add(time.Minute)}}, false,
			&workloadresizerv1.Leader{Identity: "other", AcquireTime: values.Timestamp(servertest.Written), RenewTime: values.Timestamp(servertest.Written.Add(time.Minute))}, false},
		{"no leader", elected{}, false, nil, true},
		{"this replica, without an election", nil, true, &workloadresizerv1.Leader{Identity: "me", AcquireTime: values.Timestamp(servertest.Written)}, false},
		{"no leader with a dry run", nil, false, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &Service{config: Config{Replica: "me", Election: tc.election}, started: servertest.Written}
			if diff := cmp.Diff(tc.want, r.leader(tc.leading), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			if err := r.leaderless(); (err != nil) != tc.leaderless {
				t.Errorf("leaderless: %v", err)
			}
		})
	}
}
