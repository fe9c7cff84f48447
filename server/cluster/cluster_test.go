package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
	usageservice "github.com/workload-resizer/workload-resizer/server/usage"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/push"
)

// fixture is a ClusterService on the pods of servertest.ShopPods, with a UsageService.
type fixture struct {
	*testing.T
	workloadresizerv1.ClusterServiceClient
	usage workloadresizerv1.UsageServiceClient
}

func newFixture(t *testing.T, viewer access.Viewer, layer *ratios.Layer, changes ...func([]corev1.Pod, []corev1.Node)) *fixture {
	t.Helper()
	pods, nodes := servertest.ShopPods()
	for _, change := range changes {
		change(pods, nodes)
	}
	source, soon := push.New(), 10*time.Millisecond
	parts := servertest.Start(t, servertest.Setup{
		Cluster: servertest.Frozen(t, pods, nodes), Ratios: ratios.Update{Layer: layer},
		Loop: func(c *reconciler.Config) {
			c.DryRun = true
			c.Usage = &demand.Usage{Sources: []demand.Source{{Source: source, Interval: soon}}, Interval: soon}
		},
	}).Known(t)
	service := New(Config{Reconciler: parts.Loop, Demands: parts.Loop.Demands, Ratios: parts.Store, Viewer: viewer})
	usages := usageservice.New(usageservice.Config{Demands: parts.Loop.Demands, Push: source, Ratios: parts.Store, Viewer: viewer, Watches: streams.NewWatches()})
	f := &fixture{
		T: t, ClusterServiceClient: workloadresizerv1.NewClusterServiceClient(servertest.Connect(t, service)),
		usage: workloadresizerv1.NewUsageServiceClient(servertest.Connect(t, usages)),
	}
	localcluster.Eventually(t, "all pods to be planned", func() error {
		planned := 0
		for _, c := range parts.Loop.Status().Pods {
			planned += c.Pods
		}
		if planned != len(pods) {
			return fmt.Errorf("%d are", planned)
		}
		return nil
	})
	return f
}

func (f *fixture) workloads(request *workloadresizerv1.ListWorkloadsRequest) []*workloadresizerv1.WorkloadSummary {
	f.Helper()
	response, err := f.ListWorkloads(f.Context(), request)
	if err != nil {
		f.Fatal(err)
	}
	return response.GetWorkloads()
}

// reportDB reports what the pod of the workload db uses.
func (f *fixture) reportDB() {
	f.Helper()
	stream, err := f.usage.ReportUsage(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	cores, bytes, throttled := 0.2, int64(100<<20), 0.3
	if err := stream.Send(&workloadresizerv1.ReportUsageRequest{Usages: []*workloadresizerv1.ContainerUsage{{
		PodUid: "bankdb", Container: "app", EndTime: timestamppb.Now(), MeasureDuration: durationpb.New(time.Minute), CpuCores: &cores, MemoryPeakBytes: &bytes, Throttled: &throttled,
	}}}); err != nil {
		f.Fatal(err)
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		f.Fatal(err)
	}
}

// say describes workloads with their pods.
func say(all []*workloadresizerv1.WorkloadSummary) string {
	var said []string
	for _, w := range all {
		var pods []string
		for _, c := range w.GetPods() {
			pods = append(pods, strings.TrimSuffix(fmt.Sprintf("%d %s %s", c.GetPods(), strings.TrimPrefix(c.GetDecision().String(), "DECISION_"), c.GetCode()), " "))
		}
		said = append(said, fmt.Sprintf("%s/%s: %s", w.GetSavings().GetNamespace(), w.GetSavings().GetWorkload().GetName(), strings.Join(pods, ", ")))
	}
	return strings.Join(said, "; ")
}

func TestListWorkloads(t *testing.T) {
	const db, web, bare = "bank/db: 1 RESIZE", "shop/web: 1 RESIZE, 1 ALIGNED AlreadyAligned", "shop/: 1 SKIP NotOwned"
	t.Run("has the decisions on the pods of each workload, in the order of the request", func(t *testing.T) {
		f := newFixture(t, servertest.All, nil)
		for _, tc := range []struct {
			request *workloadresizerv1.ListWorkloadsRequest
			want    []string
		}{
			{&workloadresizerv1.ListWorkloadsRequest{}, []string{db, web, bare}},
			{&workloadresizerv1.ListWorkloadsRequest{OrderBy: "name desc"}, []string{bare, web, db}},
			{&workloadresizerv1.ListWorkloadsRequest{OrderBy: "pods desc"}, []string{web, db, bare}},
			{&workloadresizerv1.ListWorkloadsRequest{OrderBy: "requested_cpu"}, []string{db, bare, web}},
			{&workloadresizerv1.ListWorkloadsRequest{Namespace: "shop", OrderBy: "saved_memory desc"}, []string{web, bare}},
			{&workloadresizerv1.ListWorkloadsRequest{LabelSelector: "app=db"}, []string{db}},
			{&workloadresizerv1.ListWorkloadsRequest{Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "web-1"}}, []string{web}},
			{&workloadresizerv1.ListWorkloadsRequest{Decision: workloadresizerv1.Decision_DECISION_RESIZE}, []string{db, web}},
			{&workloadresizerv1.ListWorkloadsRequest{Code: "NotOwned"}, []string{bare}},
			{&workloadresizerv1.ListWorkloadsRequest{Code: "NotOwned", Decision: workloadresizerv1.Decision_DECISION_RESIZE}, nil},
		} {
			if got, want := say(f.workloads(tc.request)), strings.Join(tc.want, "; "); got != want {
				t.Errorf("%v:\n%s\nwant\n%s", tc.request, got, want)
			}
			// The same, one by one.
			one, got := tc.request, []string(nil)
			for one.PageSize = 1; ; {
				response, err := f.ListWorkloads(t.Context(), one)
				if err != nil {
					t.Fatal(err)
				}
				if len(response.GetWorkloads()) > 0 {
					got = append(got, say(response.GetWorkloads()))
				}
				if one.PageToken = response.GetNextPageToken(); one.PageToken == "" {
					break
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%v, page by page: %q", tc.request, got)
			}
		}
		for _, bad := range []string{"size", "pods down", "pods desc asc", " pods", "PODS"} {
			_, err := f.ListWorkloads(t.Context(), &workloadresizerv1.ListWorkloadsRequest{OrderBy: bad})
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "must be one of name, pods,")
		}
		_, err := f.ListWorkloads(t.Context(), &workloadresizerv1.ListWorkloadsRequest{PageToken: "other"})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token")
	})
	t.Run("has what pods would request by usage that is known, and which are throttled", func(t *testing.T) {
		f := newFixture(t, servertest.All, nil)
		f.reportDB()
		localcluster.Eventually(t, "the recommendation", func() error {
			for _, w := range f.workloads(&workloadresizerv1.ListWorkloadsRequest{LabelSelector: "app=db"}) {
				recommendations, err := f.usage.ListRecommendations(t.Context(), &workloadresizerv1.ListRecommendationsRequest{Namespace: "bank"})
				if err != nil {
					return err
				}
				want := recommendations.GetRecommendations()[0].GetSums().GetRecommended()
				if got := w.GetRecommended(); got.GetCpu() == "0" || got.GetCpu() != want.GetCpu() || got.GetMemory() != want.GetMemory() {
					return fmt.Errorf("%v is recommended, want %v", got, want)
				}
			}
			return nil
		})
		for order, want := range map[string][]string{"throttled desc": {db, web, bare}, "throttled": {web, bare, db}} {
			all := f.workloads(&workloadresizerv1.ListWorkloadsRequest{OrderBy: order})
			if got := say(all); got != strings.Join(want, "; ") {
				t.Errorf("%s: %s", order, got)
			}
			for _, w := range all {
				if throttled := w.GetSavings().GetNamespace() == "bank"; throttled != (w.GetThrottled() == 1) {
					t.Errorf("%d pods of %v are throttled", w.GetThrottled(), w.GetSavings().GetWorkload())
				}
			}
		}
	})
	t.Run("has costs with prices", func(t *testing.T) {
		layer := servertest.Layer()
		layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD", Default: policy.Price{CPU: 1, Memory: 0.5}}})
		response, err := newFixture(t, servertest.All, layer).ListWorkloads(t.Context(), &workloadresizerv1.ListWorkloadsRequest{Namespace: "bank"})
		if err != nil || response.GetCurrency() != "USD" || response.GetWorkloads()[0].GetSavings().GetAuthoredCost() != 1.5 {
			t.Errorf("%v, %v", response, err)
		}
	})
	t.Run("a caller sees the workloads in its namespaces", func(t *testing.T) {
		f := newFixture(t, servertest.Only("bank"), nil)
		for _, order := range []string{"", "pods desc"} {
			if got := say(f.workloads(&workloadresizerv1.ListWorkloadsRequest{OrderBy: order})); got != db {
				t.Error(got)
			}
		}
		_, err := f.ListWorkloads(t.Context(), &workloadresizerv1.ListWorkloadsRequest{Namespace: "shop"})
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
	})
	t.Run("needs sources of usage", func(t *testing.T) {
		client := workloadresizerv1.NewClusterServiceClient(servertest.Connect(t, New(Config{Viewer: servertest.All})))
		_, err := client.ListWorkloads(t.Context(), &workloadresizerv1.ListWorkloadsRequest{})
		servertest.CheckError(t, err, codes.FailedPrecondition, "USAGE_DISABLED", "--usage-sources")
	})
}

func TestListNodes(t *testing.T) {
	f := newFixture(t, servertest.Only("bank"), nil, func(pods []corev1.Pod, nodes []corev1.Node) {
		pods[0].Status.Phase = corev1.PodSucceeded
		nodes[0].Spec.Unschedulable = true
		nodes[0].Spec.Taints = []corev1.Taint{{Key: "busy", Value: contract.OverloadMark, Effect: corev1.TaintEffectPreferNoSchedule}}
		nodes[1].Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	})
	list := func(request *workloadresizerv1.ListNodesRequest) *workloadresizerv1.ListNodesResponse {
		t.Helper()
		response, err := f.ListNodes(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	all := list(&workloadresizerv1.ListNodesRequest{}).GetNodes()
	if len(all) != 2 || all[0].GetName() != "a" || all[0].GetNodeType() != "n2d" || all[0].GetPods() != 0 || !all[0].GetUnschedulable() || all[0].GetReady() || all[0].GetCpuFactor() != 1 ||
		!strings.HasPrefix(all[0].GetOverload(), "a is overloaded, and has the taint busy:PreferNoSchedule") || all[0].GetUnknownPods() != 0 {
		t.Errorf("%v", all)
	}
	b := all[1]
	if b.GetName() != "b" || b.GetPods() != 3 || b.GetUnschedulable() || !b.GetReady() || b.GetCpuFactor() != 0.8 || b.MemoryFactor == nil || b.GetOverload() != "" ||
		b.GetUnknownPods() != 3 || b.GetUsed().GetCpu() != "0" {
		t.Errorf("%v", b)
	}
	if cpu := b.GetResources()["cpu"]; cpu.GetAllocatable() != "3" || cpu.GetRequested() != "3" || cpu.GetSteady() != "" || b.GetResources()["memory"].GetRequested() != "3Gi" {
		t.Errorf("%v", b.GetResources())
	}
	if n4 := list(&workloadresizerv1.ListNodesRequest{NodeType: "n4"}).GetNodes(); len(n4) != 1 || n4[0].GetName() != "b" {
		t.Errorf("of type n4: %v", n4)
	}
	if one := list(&workloadresizerv1.ListNodesRequest{Name: "b"}).GetNodes(); len(one) != 1 || one[0].GetName() != "b" {
		t.Errorf("of the name b: %v", one)
	}
	for _, request := range []*workloadresizerv1.ListNodesRequest{{Name: "c"}, {Name: "b", NodeType: "n2d"}} {
		if none := list(request).GetNodes(); len(none) != 0 {
			t.Errorf("%v: %v", request, none)
		}
	}
	first := list(&workloadresizerv1.ListNodesRequest{PageSize: 1})
	if second := list(&workloadresizerv1.ListNodesRequest{PageSize: 1, PageToken: first.GetNextPageToken()}); first.GetNodes()[0].GetName() != "a" || second.GetNodes()[0].GetName() != "b" || second.GetNextPageToken() != "" {
		t.Errorf("%v, then %v", first, second)
	}
	_, err := f.ListNodes(t.Context(), &workloadresizerv1.ListNodesRequest{PageToken: "other"})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token")
}

func TestListNodesByUsage(t *testing.T) {
	t.Run("has what pods use and share", func(t *testing.T) {
		layer := servertest.Layer()
		layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Apply, Policy: policy.SharedPolicy}})
		f := newFixture(t, servertest.All, layer)
		f.reportDB()
		localcluster.Eventually(t, "the usage of the node", func() error {
			response, err := f.ListNodes(t.Context(), &workloadresizerv1.ListNodesRequest{NodeType: "n4"})
			if err != nil {
				return err
			}
			b, used := response.GetNodes()[0], f.workloads(&workloadresizerv1.ListWorkloadsRequest{LabelSelector: "app=db"})[0].GetSavings().GetUsed()
			if b.GetUsed().GetCpu() == "0" || !proto.Equal(b.GetUsed(), used) || b.GetUnknownPods() != 2 {
				return fmt.Errorf("%v is used, want %v, and of %d pods it is not known", b.GetUsed(), used, b.GetUnknownPods())
			}
			if cpu, memory := b.GetResources()["cpu"], b.GetResources()["memory"]; cpu.GetSteady() == "" || cpu.GetSteady() == "0" || cpu.GetRest() == "" || memory.GetRest() != "0" || memory.GetLacks() != "" {
				return fmt.Errorf("shares %v", b.GetResources())
			}
			return nil
		})
	})
	t.Run("has no usage without sources", func(t *testing.T) {
		parts := servertest.StartShop(t, servertest.Setup{})
		service := New(Config{Reconciler: parts.Loop, Ratios: parts.Store, Viewer: servertest.All})
		response, err := workloadresizerv1.NewClusterServiceClient(servertest.Connect(t, service)).ListNodes(t.Context(), &workloadresizerv1.ListNodesRequest{})
		if err != nil || len(response.GetNodes()) != 2 || response.GetNodes()[1].GetUsed() != nil || response.GetNodes()[1].GetResources()["cpu"].GetRequested() != "3" {
			t.Errorf("%v, %v", response, err)
		}
	})
}
