package usage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// resized makes the pods of web ones that were resized to less, on one node, or to more, on the other.
func resized(p *corev1.Pod) {
	to := map[string]string{"web-x": "750m", "web-y": "1500m"}[p.Name]
	if to == "" {
		return
	}
	p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(to)
	podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4")(p)
	podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 11,
		contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"cpu-limit.app", contract.OriginalPrefix+"memory.app", contract.OriginalPrefix+"memory-limit.app"))(p)
}

func TestSavings(t *testing.T) {
	t.Run("are by workload, by namespace and in total", savingsAreByWorkloadByNamespaceAndInTotal)
	t.Run("have costs with prices", savingsHaveCostsWithPrices)
	t.Run("pages of savings follow each other", pagesOfSavingsFollowEachOther)
	t.Run("a caller's savings are of what it may see", aCallersSavingsAreOfWhatItMaySee)
	t.Run("need sources of usage", savingsNeedSourcesOfUsage)
}

// savings lists savings.
func (f *fixture) savings(request *workloadresizerv1.ListSavingsRequest) *workloadresizerv1.ListSavingsResponse {
	f.Helper()
	response, err := f.client.ListSavings(f.Context(), request)
	if err != nil {
		f.Fatal(err)
	}
	return response
}

func quantities(cpu, memory string) *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: memory}
}

func savingsAreByWorkloadByNamespaceAndInTotal(t *testing.T) {
	f := newFixture(t, servertest.All, nil, resized)
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	db := &workloadresizerv1.Workload{Kind: "Deployment", Name: "db"}
	none, one := quantities("0", "0"), quantities("1", "1Gi")
	ofWeb := &workloadresizerv1.Savings{Namespace: "shop", Workload: web, Pods: 2, UnknownPods: new(int64(2)), Reverts: new(int64(0)), OomKills: new(int64(0)), Authored: quantities("2", "2Gi"), Requested: quantities("2250m", "2Gi"), Saved: quantities("-250m", "0"), Measured: none, Used: none}
	ofDB := &workloadresizerv1.Savings{Namespace: "bank", Workload: db, Pods: 1, UnknownPods: new(int64(1)), Reverts: new(int64(0)), OomKills: new(int64(0)), Authored: one, Requested: one, Saved: none, Measured: none, Used: none}
	bare := &workloadresizerv1.Savings{Namespace: "shop", Pods: 1, UnknownPods: new(int64(1)), Reverts: new(int64(0)), OomKills: new(int64(0)), Authored: one, Requested: one, Saved: none, Measured: none, Used: none}
	bank := &workloadresizerv1.Savings{Namespace: "bank", Pods: 1, UnknownPods: new(int64(1)), Reverts: new(int64(0)), OomKills: new(int64(0)), Authored: one, Requested: one, Saved: none, Measured: none, Used: none}
	shop := &workloadresizerv1.Savings{Namespace: "shop", Pods: 3, UnknownPods: new(int64(3)), Reverts: new(int64(0)), OomKills: new(int64(0)), Authored: quantities("3", "3Gi"), Requested: quantities("3250m", "3Gi"), Saved: quantities("-250m", "0"), Measured: none, Used: none}
	total := &workloadresizerv1.Savings{Pods: 4, UnknownPods: new(int64(4)), Reverts: new(int64(0)), OomKills: new(int64(0)), Authored: quantities("4", "4Gi"), Requested: quantities("4250m", "4Gi"), Saved: quantities("-250m", "0"), Measured: none, Used: none}
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.ListSavingsRequest
		want    []*workloadresizerv1.Savings
	}{
		{"by default", &workloadresizerv1.ListSavingsRequest{}, []*workloadresizerv1.Savings{ofDB, ofWeb, bare}},
		{"by workload", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", Group: workloadresizerv1.SavingsGroup_SAVINGS_GROUP_WORKLOAD}, []*workloadresizerv1.Savings{ofWeb, bare}},
		{"by namespace", &workloadresizerv1.ListSavingsRequest{Group: workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE}, []*workloadresizerv1.Savings{bank, shop}},
		{"in total", &workloadresizerv1.ListSavingsRequest{Group: workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL}, []*workloadresizerv1.Savings{total}},
		{"of an owner", &workloadresizerv1.ListSavingsRequest{Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "web-1"}}, []*workloadresizerv1.Savings{ofWeb}},
		{"of labels", &workloadresizerv1.ListSavingsRequest{LabelSelector: "app=db"}, []*workloadresizerv1.Savings{ofDB}},
		{"of nothing, by namespace", &workloadresizerv1.ListSavingsRequest{LabelSelector: "app=api", Group: workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE}, nil},
		{"of nothing, in total", &workloadresizerv1.ListSavingsRequest{LabelSelector: "app=api", Group: workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL},
			[]*workloadresizerv1.Savings{{UnknownPods: new(int64(0)), Reverts: new(int64(0)), OomKills: new(int64(0)), Authored: none, Requested: none, Saved: none, Measured: none, Used: none}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, f.savings(tc.request).GetSavings(), protocmp.Transform()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}

	f.known()
	got := f.savings(&workloadresizerv1.ListSavingsRequest{Workload: web}).GetSavings()[0]
	used := resource.MustParse(got.GetUsed().GetCpu())
	if got.GetUnknownPods() != 0 || got.GetMeasured().GetCpu() != "2250m" || used.MilliValue() < 1700 || used.MilliValue() > 1900 {
		t.Errorf("once usage is known: %v", got)
	}
}

func savingsHaveCostsWithPrices(t *testing.T) {
	layer := servertest.Layer()
	layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD", Default: policy.Price{CPU: 1, Memory: 0.5}, Types: map[string]policy.Price{"n4": {CPU: 2, Memory: 1}}}})
	f := newFixture(t, servertest.All, layer, resized)
	response := f.savings(&workloadresizerv1.ListSavingsRequest{Namespace: "shop", LabelSelector: "app=web"})
	// One pod of 1 and 0.5, and one of 2 and 1; now of 0.75 and 0.5, and of 3 and 1.
	if s := response.GetSavings()[0]; response.GetCurrency() != "USD" || s.GetAuthoredCost() != 4.5 || s.GetRequestedCost() != 5.25 || s.UsedCost == nil || s.GetUsedCost() != 0 {
		t.Errorf("%v", response)
	}
}

func pagesOfSavingsFollowEachOther(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	for _, tc := range []struct {
		group workloadresizerv1.SavingsGroup
		want  int
	}{{workloadresizerv1.SavingsGroup_SAVINGS_GROUP_WORKLOAD, 3}, {workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE, 2}, {workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL, 1}} {
		request, pages, pods := &workloadresizerv1.ListSavingsRequest{Group: tc.group, PageSize: 1}, 0, int64(0)
		for {
			response := f.savings(request)
			if pages++; len(response.GetSavings()) != 1 {
				t.Fatalf("%v", response)
			}
			pods += response.GetSavings()[0].GetPods()
			if request.PageToken = response.GetNextPageToken(); request.PageToken == "" {
				break
			}
		}
		if pages != tc.want || pods != 4 {
			t.Errorf("%v: %d pages with %d pods", tc.group, pages, pods)
		}
	}
	_, err := f.client.ListSavings(t.Context(), &workloadresizerv1.ListSavingsRequest{PageToken: "other"})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token")
}

func aCallersSavingsAreOfWhatItMaySee(t *testing.T) {
	f := newFixture(t, servertest.Only("bank"), nil)
	total := f.savings(&workloadresizerv1.ListSavingsRequest{Group: workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL}).GetSavings()
	if all := f.savings(&workloadresizerv1.ListSavingsRequest{}).GetSavings(); len(all) != 1 || all[0].GetNamespace() != "bank" || total[0].GetPods() != 1 {
		t.Errorf("%v, in total %v", all, total)
	}
	_, err := f.client.ListSavings(t.Context(), &workloadresizerv1.ListSavingsRequest{Namespace: "shop"})
	servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
}

func savingsNeedSourcesOfUsage(t *testing.T) {
	client := workloadresizerv1.NewUsageServiceClient(servertest.Connect(t, New(Config{Viewer: servertest.All})))
	_, err := client.ListSavings(t.Context(), &workloadresizerv1.ListSavingsRequest{})
	servertest.CheckError(t, err, codes.FailedPrecondition, "USAGE_DISABLED", "--usage-sources")
}
