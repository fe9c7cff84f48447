package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/leader"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/translate"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestTheStatusSaysWhatIsMissing(t *testing.T) {
	begin := time.Now()
	r := start(t, setup{ratios: ratios.Update{Err: errors.New("the ConfigMap is gone")}})
	client := workloadresizerv1.NewResizeServiceClient(r.conn)
	localcluster.Eventually(t, "the problems", func() error {
		got, err := client.GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
		if err != nil {
			return err
		}
		for _, want := range []string{"the ConfigMap is gone", "pods and nodes are not read yet", "read ConfigMap default/holds: "} {
			with := func(problem string) bool { return strings.Contains(problem, want) }
			if i := slices.IndexFunc(got.GetProblems(), with); i < 0 || slices.ContainsFunc(got.GetProblems()[i+1:], with) {
				return fmt.Errorf("want %q once, got %q", want, got.GetProblems())
			}
		}
		if got.GetRatioRevision() != "" || got.GetHolds() != 0 || len(got.GetPods()) != 0 {
			return fmt.Errorf("known: %v", got)
		}
		if since := got.GetStartTime().AsTime(); since.Before(begin.Add(-time.Second)) || since.After(time.Now()) {
			return fmt.Errorf("it runs since %v", since)
		}
		return nil
	})
}

func TestAKindOfWorkloadThatMayNotBeReadIsAProblemOfAReadyServer(t *testing.T) {
	cluster := localcluster.ForTest(t, "").Config()
	servertest.ConfigMap(t, kubernetes.NewForConfigOrDie(cluster), servertest.HoldsName)
	r := start(t, setup{cluster: cluster, loop: func(c *reconciler.Config) {
		nobody := rest.CopyConfig(cluster)
		nobody.Impersonate.UserName = "nobody"
		c.Metadata, c.WorkloadKinds = metadata.NewForConfigOrDie(nobody), []schema.GroupResource{{Group: "apps", Resource: "replicasets"}}
	}})
	const want = "replicasets.apps cannot be read, so holds and autoscalers on what controls them do not count: "
	localcluster.Eventually(t, "the server to be ready, with a warning", func() error {
		if code, body := r.get(t, "/readyz"); code != http.StatusOK || !strings.Contains(body, "\nwarning: "+want) {
			return fmt.Errorf("it says %d %s", code, body)
		}
		return nil
	})
	got, err := workloadresizerv1.NewResizeServiceClient(r.conn).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
	if err != nil || len(got.GetProblems()) != 1 || !strings.HasPrefix(got.GetProblems()[0], want) {
		t.Errorf("problems %q, %v", got.GetProblems(), err)
	}
}

func TestTheStatusOfTheOnlyReplica(t *testing.T) {
	r := start(t, setup{})
	got, err := workloadresizerv1.NewResizeServiceClient(r.conn).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetReplica() != "me" || got.GetVersion() != "v1" || !got.GetLeading() || got.GetLeader().GetIdentity() != "me" || got.GetRatioRevision() != r.Store.Table().Revision {
		t.Errorf("%v", got)
	}
}

func TestADryRunLeadsNobody(t *testing.T) {
	for _, dry := range []bool{false, true} {
		r := start(t, setup{loop: func(c *reconciler.Config) { c.DryRun = dry }})
		got, err := workloadresizerv1.NewResizeServiceClient(r.conn).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetLeading() == dry || got.GetDryRun() != dry {
			t.Errorf("with --dry-run=%v it says %v", dry, got)
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

// elected is an election that has come out like this.
type elected struct{ leader *leader.Leader }

func (e elected) Leader() (leader.Leader, bool) {
	if e.leader == nil {
		return leader.Leader{}, false
	}
	return *e.leader, true
}

func TestTheLeaderIsThatOfTheElection(t *testing.T) {
	for _, tc := range []struct {
		name       string
		election   Election
		leading    bool
		want       *workloadresizerv1.Leader
		leaderless bool
	}{
		{"another replica", elected{&leader.Leader{Identity: "she", Acquired: servertest.Written, Renewed: servertest.Written.Add(time.Minute)}}, false,
			&workloadresizerv1.Leader{Identity: "she", AcquireTime: translate.Timestamp(servertest.Written), RenewTime: translate.Timestamp(servertest.Written.Add(time.Minute))}, false},
		{"nobody", elected{}, false, nil, true},
		{"without an election this one", nil, true, &workloadresizerv1.Leader{Identity: "me", AcquireTime: translate.Timestamp(servertest.Written)}, false},
		{"a dry run has none", nil, false, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &replica{name: "me", started: servertest.Written, election: tc.election}
			if diff := cmp.Diff(tc.want, r.leader(tc.leading), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			if err := r.leaderless(); (err != nil) != tc.leaderless {
				t.Errorf("leaderless: %v", err)
			}
		})
	}
}

func TestWhatCannotBeStoredIsAProblemBeforeSomebodyTries(t *testing.T) {
	cluster := localcluster.ForTest(t, "").Config()
	client := kubernetes.NewForConfigOrDie(cluster)
	overrides := override.New(client, servertest.Namespace, "overrides")
	r := start(t, setup{cluster: cluster, server: func(c *Config) {
		c.Overrides = overrides
		c.Ratios = ratios.NewStore(overrides, ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
	}})
	servertest.Run(t, r.server.config.Ratios.Run)
	said := func() (all []string) {
		t.Helper()
		status, err := workloadresizerv1.NewResizeServiceClient(r.conn).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		_, body := r.get(t, "/readyz")
		return append(status.GetProblems(), strings.Split(body, "\n")...)
	}
	const noOverrides = "overrides cannot be stored: ConfigMap default/overrides, which keeps the overrides, does not exist: apply deploy/base, which has it"
	wanted := []string{
		noOverrides, "holds cannot be stored: ConfigMap default/holds, which keeps the holds, does not exist: apply deploy/base, which has it",
	}
	localcluster.Eventually(t, "the problems", func() error {
		for _, want := range wanted {
			if got := said(); !slices.Contains(got, want) || !slices.Contains(got, "warning: "+want) {
				return fmt.Errorf("want %q, got %q", want, got)
			}
		}
		return nil
	})
	list, err := workloadresizerv1.NewRatioServiceClient(r.conn).ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil || !list.GetSources()[0].GetHealthy() || list.GetSources()[0].GetMessage() != noOverrides || list.GetSources()[1].GetMessage() != "" {
		t.Errorf("sources %v, %v", list.GetSources(), err)
	}
	servertest.ConfigMap(t, client, "overrides")
	servertest.ConfigMap(t, client, servertest.HoldsName)
	localcluster.Eventually(t, "no problems", func() error {
		for _, line := range said() {
			if strings.Contains(line, "cannot be stored") {
				return errors.New(line)
			}
		}
		return nil
	})
}
