package usage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestSums(t *testing.T) {
	t.Run("over containers, workloads and namespaces equal the total", sumsEqualTheTotal)
	t.Run("split what was authored into what is recommended, saved and unknown", sumsSplitWhatWasAuthored)
	t.Run("have no cost if that of a part is unknown", sumsHaveNoCostIfThatOfAPartIsUnknown)
	t.Run("have the cost of the others if a part is nothing", sumsHaveTheCostOfTheOthersIfAPartIsNothing)
	t.Run("are by namespace, also of workloads with the same name", sumsAreByNamespace)
}

// many returns recommendations of 5 namespaces with 40 workloads each, in the order of the server. Some
// amounts are no whole Mi, and some pods are unknown.
func many() *workloadresizerv1.ListRecommendationsResponse {
	random := rand.New(rand.NewPCG(1, 2))
	amounts := func() *workloadresizerv1.ResourceAmounts {
		return both(fmt.Sprintf("%dm", random.Int64N(1e7)), fmt.Sprint(random.Int64N(1e12)))
	}
	resp := &workloadresizerv1.ListRecommendationsResponse{Currency: "USD"}
	for namespace := range 5 {
		for workload := range 40 {
			for container := range 1 + random.IntN(3) {
				pods := 1 + random.Int64N(20)
				s := &workloadresizerv1.UsageSums{Pods: pods, UnknownPods: random.Int64N(pods + 1), Authored: amounts(), Requested: amounts(), AuthoredCost: new(0.0), RecommendedCost: new(0.0)}
				switch {
				case s.GetUnknownPods() == 0:
					s.Compared = s.GetAuthored()
				case s.GetUnknownPods() < pods:
					s.Compared = both("1m", "1")
				}
				if s.GetUnknownPods() < pods {
					s.Used, s.Recommended, s.AuthoredCost, s.RecommendedCost = amounts(), amounts(), new(random.Float64()), new(random.Float64())
				}
				resp.Recommendations = append(resp.Recommendations, &workloadresizerv1.Recommendation{
					Namespace: fmt.Sprint(namespace), Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: fmt.Sprint(workload)}, Container: fmt.Sprint(container), Sums: s,
				})
			}
		}
	}
	return resp
}

func sumsEqualTheTotal(t *testing.T) {
	resp := many()
	all, err := reportOf(resp)
	if err != nil {
		t.Fatal(err)
	}
	// An addition of its own, in whole millicores and bytes.
	type totals struct {
		containers, unknown int64
		amounts             [5][2]int64
		cost                [2]float64
	}
	var want totals
	number := func(text string, scale resource.Scale) int64 {
		if text == "" {
			return 0
		}
		q := resource.MustParse(text)
		return q.ScaledValue(scale)
	}
	for _, r := range resp.GetRecommendations() {
		s := r.GetSums()
		want.containers, want.unknown = want.containers+s.GetPods(), want.unknown+s.GetUnknownPods()
		for i, a := range []*workloadresizerv1.ResourceAmounts{s.GetAuthored(), s.GetRequested(), s.GetCompared(), s.GetUsed(), s.GetRecommended()} {
			want.amounts[i][0] += number(a.GetCpu(), resource.Milli)
			want.amounts[i][1] += number(a.GetMemory(), 0)
		}
		want.cost[0], want.cost[1] = want.cost[0]+s.GetAuthoredCost(), want.cost[1]+s.GetRecommendedCost()
	}
	if len(all.rows[byWorkload]) != 200 || len(all.rows[byNamespace]) != 5 || len(all.rows[byContainer]) != len(resp.GetRecommendations()) {
		t.Fatalf("%d workloads, %d namespaces, %d containers", len(all.rows[byWorkload]), len(all.rows[byNamespace]), len(all.rows[byContainer]))
	}
	for name, rows := range map[string][]*row{"containers": all.rows[byContainer], "workloads": all.rows[byWorkload], "namespaces": all.rows[byNamespace], "total": {all.total}} {
		var got totals
		for _, r := range rows {
			got.containers, got.unknown = got.containers+r.sums.pods, got.unknown+r.sums.unknownPods
			for i, a := range []amounts{r.sums.authored, r.sums.requested, r.sums.compared, r.sums.used, r.sums.recommended} {
				got.amounts[i][0] += a.cpu.MilliValue()
				got.amounts[i][1] += a.memory.Value()
			}
			if r.sums.cost.authored == nil || r.sums.cost.changed == nil {
				t.Fatalf("%s: no cost in %+v", name, r)
			}
			got.cost[0], got.cost[1] = got.cost[0]+*r.sums.cost.authored, got.cost[1]+*r.sums.cost.changed
		}
		for i := range got.cost {
			if math.Abs(got.cost[i]-want.cost[i]) > 1e-9*want.cost[i] {
				t.Errorf("%s: costs %v, want %v", name, got.cost, want.cost)
			}
		}
		got.cost = want.cost // The order of an addition changes the last digits.
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func sumsSplitWhatWasAuthored(t *testing.T) {
	all, err := reportOf(many())
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]*row{all.rows[byContainer], all.rows[byWorkload], all.rows[byNamespace], {all.total}} {
		for _, r := range rows {
			sum := r.sums.unknown()
			sum.add(r.sums.recommended)
			sum.add(r.sums.saved)
			if sum.cpu.Cmp(r.sums.authored.cpu) != 0 || sum.memory.Cmp(r.sums.authored.memory) != 0 {
				t.Fatalf("%v, want %v, of %+v", sum.fields(), r.sums.authored.fields(), r)
			}
		}
	}
}

func sumsHaveNoCostIfThatOfAPartIsUnknown(t *testing.T) {
	resp := many()
	resp.Recommendations[len(resp.Recommendations)-1].Sums = &workloadresizerv1.UsageSums{Pods: 1, Authored: both("1", "1Gi"), Compared: both("1", "1Gi"), Recommended: both("1", "1Gi")}
	all, err := reportOf(resp)
	if err != nil {
		t.Fatal(err)
	}
	if all.total.sums.cost.saved() != nil || all.rows[byNamespace][4].sums.cost.saved() != nil || all.rows[byNamespace][3].sums.cost.saved() == nil {
		t.Error("a cost that is not known is 0 in the total, or affects other namespaces")
	}
}

// A container whose pods are all unknown, and a workload that has no pods, may have no cost in the API.
func sumsHaveTheCostOfTheOthersIfAPartIsNothing(t *testing.T) {
	known := &workloadresizerv1.Recommendation{Sums: &workloadresizerv1.UsageSums{Pods: 1, AuthoredCost: new(2.0), RecommendedCost: new(1.5)}}
	unknown := &workloadresizerv1.Recommendation{Sums: &workloadresizerv1.UsageSums{Pods: 1, UnknownPods: 1}}
	saved := &workloadresizerv1.Savings{Pods: 1, AuthoredCost: new(2.0), RequestedCost: new(1.5)}
	killed := &workloadresizerv1.Savings{OomKills: new(int64(1))}
	for name, tc := range map[string]struct {
		all  *workloadresizerv1.ListRecommendationsResponse
		some *workloadresizerv1.ListSavingsResponse
		want *float64
	}{
		"unknown last":             {all: &workloadresizerv1.ListRecommendationsResponse{Recommendations: []*workloadresizerv1.Recommendation{known, unknown}}, want: new(0.5)},
		"unknown first":            {all: &workloadresizerv1.ListRecommendationsResponse{Recommendations: []*workloadresizerv1.Recommendation{unknown, known}}, want: new(0.5)},
		"nothing last":             {some: &workloadresizerv1.ListSavingsResponse{Savings: []*workloadresizerv1.Savings{saved, {}}}, want: new(0.5)},
		"kills without a cost":     {some: &workloadresizerv1.ListSavingsResponse{Savings: []*workloadresizerv1.Savings{saved, killed}}},
		"kills without one before": {some: &workloadresizerv1.ListSavingsResponse{Savings: []*workloadresizerv1.Savings{killed, saved}}},
	} {
		of, err := reportOf(tc.all)
		if tc.some != nil {
			of, err = savingsOf(tc.some)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := of.total.sums.cost.saved(); (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
			t.Errorf("%s: saved %v, want %v", name, got, tc.want)
		}
	}
}

func sumsAreByNamespace(t *testing.T) {
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	of := func(namespace string) *workloadresizerv1.Recommendation {
		return &workloadresizerv1.Recommendation{Namespace: namespace, Workload: web, Sums: &workloadresizerv1.UsageSums{Pods: 1}}
	}
	all, err := reportOf(&workloadresizerv1.ListRecommendationsResponse{Recommendations: []*workloadresizerv1.Recommendation{of("default"), of("shop"), of("shop")}})
	if err != nil {
		t.Fatal(err)
	}
	workloads := all.rows[byWorkload]
	if len(workloads) != 2 || workloads[0].namespace != "default" || workloads[1].namespace != "shop" || workloads[1].sums.pods != 2 {
		t.Errorf("got %d workloads", len(workloads))
	}
}

func TestBoundsForPeople(t *testing.T) {
	for _, tc := range []struct{ upper, cores, bytes string }{
		{"330m", "200m to 330m", ""},
		{"512Mi", "", "320Mi to 512Mi"},
		{"100G", "200m to any amount", "320Mi to 93.1Gi"},
		{"100T", "200m to any amount", "320Mi to any amount"},
	} {
		if got := boundsText(print.CPU, "200m", tc.upper); tc.cores != "" && got != tc.cores {
			t.Errorf("cpu up to %s is %s, want %s", tc.upper, got, tc.cores)
		}
		if got := boundsText(print.Memory, "320Mi", tc.upper); tc.bytes != "" && got != tc.bytes {
			t.Errorf("memory up to %s is %s, want %s", tc.upper, got, tc.bytes)
		}
	}
}
