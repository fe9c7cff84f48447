package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestProblems(t *testing.T) {
	t.Run("a workload kind that cannot be read is a problem of a ready server", aWorkloadKindThatCannotBeReadIsAProblemOfAReadyServer)
	t.Run("a missing ConfigMap is a problem before the first write", aMissingConfigMapIsAProblemBeforeTheFirstWrite)
	t.Run("an implausible ratio is reported everywhere", anImplausibleRatioIsReportedEverywhere)
	t.Run("holds that cannot be read are reported everywhere", holdsThatCannotBeReadAreReportedEverywhere)
}

func aWorkloadKindThatCannotBeReadIsAProblemOfAReadyServer(t *testing.T) {
	cluster := localcluster.ForTest(t, "").Config()
	servertest.ConfigMap(t, kubernetes.NewForConfigOrDie(cluster), servertest.HoldsName)
	r := start(t, setup{cluster: cluster, loop: func(c *reconciler.Config) {
		nobody := rest.CopyConfig(cluster)
		nobody.Impersonate.UserName = "nobody"
		c.Metadata, c.WorkloadKinds = metadata.NewForConfigOrDie(nobody), []schema.GroupResource{{Group: "apps", Resource: "replicasets"}}
	}})
	const want = "replicasets.apps cannot be read, so holds and autoscalers on their owners are ignored: "
	localcluster.Eventually(t, "the server to be ready, with a warning", func() error {
		if code, body := r.get(t, "/readyz"); code != http.StatusOK || !strings.Contains(body, "\nwarning: workloads: a kind of workload cannot be read\n") {
			return fmt.Errorf("/readyz returns %d %s", code, body)
		}
		return nil
	})
	got, err := workloadresizerv1.NewStatusServiceClient(r.conn).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
	if err != nil || len(got.GetProblems()) != 1 || !strings.HasPrefix(got.GetProblems()[0], want) {
		t.Errorf("problems %q, %v", got.GetProblems(), err)
	}
}

func aMissingConfigMapIsAProblemBeforeTheFirstWrite(t *testing.T) {
	cluster := localcluster.ForTest(t, "").Config()
	client := kubernetes.NewForConfigOrDie(cluster)
	overrides := override.New(client, servertest.Namespace, "overrides")
	r := start(t, setup{cluster: cluster, server: func(c *Config) {
		c.Overrides = overrides
		c.Ratios = ratios.NewStore(overrides, ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
	}})
	servertest.Run(t, r.server.config.Ratios.Run)
	localcluster.Eventually(t, "the ratios", func() error { _, err := r.server.config.Ratios.Ready(); return err })
	said := func() (problems []string, warned bool) {
		t.Helper()
		status, err := workloadresizerv1.NewStatusServiceClient(r.conn).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		_, body := r.get(t, "/readyz")
		return status.GetProblems(), strings.Contains(body, "\nwarning: storage: changes cannot be stored because a ConfigMap does not exist\n")
	}
	const noOverrides = "overrides cannot be stored: ConfigMap default/overrides, which stores the overrides, does not exist: apply your manifests or run \"helm upgrade\" again, which creates it"
	wanted := []string{
		noOverrides, "holds cannot be stored: ConfigMap default/holds, which stores the holds, does not exist: apply your manifests or run \"helm upgrade\" again, which creates it",
	}
	localcluster.Eventually(t, "the problems", func() error {
		for _, want := range wanted {
			if got, warned := said(); !slices.Contains(got, want) || !warned {
				return fmt.Errorf("want %q, got %q; a warning: %t", want, got, warned)
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
		if got, warned := said(); warned || slices.ContainsFunc(got, func(problem string) bool { return strings.Contains(problem, "cannot be stored") }) {
			return fmt.Errorf("got %q; a warning: %t", got, warned)
		}
		return nil
	})
}

func holdsThatCannotBeReadAreReportedEverywhere(t *testing.T) {
	r := start(t, setup{})
	client := workloadresizerv1.NewHoldServiceClient(r.conn)
	localcluster.Eventually(t, "the API server not to answer", func() error {
		if err := r.server.config.Holds.Err(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
	_, err := client.ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
	servertest.CheckError(t, err, codes.Unavailable, "HOLDS_NOT_READY", "not ready: read ConfigMap default/holds: ")
	_, err = client.Resume(t.Context(), &workloadresizerv1.ResumeRequest{Scope: namespaceScope("shop"), ValidateOnly: true})
	servertest.CheckError(t, err, codes.Unavailable, "HOLDS_NOT_READY", "read ConfigMap default/holds: ")
	_, err = client.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: namespaceScope("shop")})
	servertest.CheckError(t, err, codes.Unavailable, "HOLDS_NOT_READY", "read ConfigMap default/holds: ")
	_, err = client.Pause(t.Context(), &workloadresizerv1.PauseRequest{Scope: podScope("shop", "web")})
	servertest.CheckError(t, err, codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")
	localcluster.Eventually(t, "the freeze to be unreadable", func() error {
		if err := r.server.config.Holds.FreezeErr(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
	_, err = client.GetFreeze(t.Context(), &workloadresizerv1.GetFreezeRequest{})
	servertest.CheckError(t, err, codes.Unavailable, "FREEZE_NOT_READY", "read whether the cluster is frozen (ConfigMap default/"+contract.DefaultNames.Freeze+"): ")
	for _, want := range []string{"\nworkload_resizer_holds_healthy 0\n", "\nworkload_resizer_freeze_healthy 0\n"} {
		if _, body := r.get(t, "/metrics"); !strings.Contains(body, want) {
			t.Errorf("/metrics returns %q, want %q", body, want)
		}
	}
	if code, _ := r.get(t, "/livez"); code != http.StatusOK {
		t.Errorf("/livez returns %d", code)
	}
}

func anImplausibleRatioIsReportedEverywhere(t *testing.T) {
	cluster := localcluster.ForTest(t, "").Config()
	servertest.ConfigMap(t, kubernetes.NewForConfigOrDie(cluster), servertest.HoldsName)
	typo := servertest.Layer()
	typo.Ratios["n4"] = ratios.Ratio{CPUPerf: 125, MemoryPerf: 1}
	r := start(t, setup{cluster: cluster, ratios: ratios.Update{Layer: typo}})
	const want = "implausible ratio: n4 would be 125 times as fast as n2d for cpu, beyond maxSpeedRatio 5: "
	localcluster.Eventually(t, "the server to be ready, with a warning", func() error {
		if code, body := r.get(t, "/readyz"); code != http.StatusOK || !strings.Contains(body, "\nwarning: ratios: implausible ratios are not used\n") {
			return fmt.Errorf("/readyz returns %d %s", code, body)
		}
		return nil
	})
	got, err := workloadresizerv1.NewStatusServiceClient(r.conn).GetStatus(t.Context(), &workloadresizerv1.GetStatusRequest{})
	if err != nil || len(got.GetProblems()) != 1 || !strings.HasPrefix(got.GetProblems()[0], want) {
		t.Errorf("problems %q, %v", got.GetProblems(), err)
	}
	metric := func() string {
		_, body := r.get(t, "/metrics")
		_, value, _ := strings.Cut(body, "\nworkload_resizer_implausible_ratios ")
		value, _, _ = strings.Cut(value, "\n")
		return value
	}
	if got := metric(); got != "1" {
		t.Errorf("the metric is %q", got)
	}
	changes := r.Store.Watch()
	r.Source.Set(ratios.Update{Layer: servertest.Layer()})
	<-changes
	if _, body := r.get(t, "/readyz"); strings.Contains(body, "warning") || metric() != "0" {
		t.Errorf("after the correction, /readyz returns %s, and the metric is %q", body, metric())
	}
}
