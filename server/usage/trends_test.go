package usage

import (
	"errors"
	"math"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

const (
	byWorkload  = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_WORKLOAD
	byNamespace = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE
	inTotal     = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL
	perDay      = workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_DAY
	perHour     = workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR
)

var errNothing = errors.New("nothing is known yet")

// summedUp returns a fixture that has counted savings.
func summedUp(t *testing.T, viewer access.Viewer) *fixture {
	t.Helper()
	f := newFixture(t, viewer, nil, resized)
	localcluster.Eventually(t, "savings over time", func() error {
		if all := f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), Group: inTotal}).GetSavings(); len(all) != 1 || all[0].GetKnownDuration().AsDuration() == 0 {
			return errNothing
		}
		return nil
	})
	return f
}

func ago(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(time.Now().Add(-d)) }

func TestSavingsOverTime(t *testing.T) {
	f := summedUp(t, servertest.All)
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.ListSavingsRequest
		// sums is how many sums there are, and pods how many pods they have together, in the newest period.
		sums int
		pods int64
	}{
		{"of workloads", &workloadresizerv1.ListSavingsRequest{}, 2, 3},
		{"of a workload", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}}, 1, 2},
		{"of namespaces", &workloadresizerv1.ListSavingsRequest{Group: byNamespace}, 2, 4},
		{"of all", &workloadresizerv1.ListSavingsRequest{Group: inTotal}, 1, 4},
		{"of all in a namespace", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", Group: inTotal}, 1, 3},
		{"of an unknown namespace", &workloadresizerv1.ListSavingsRequest{Namespace: "other", Group: inTotal}, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.request.SinceTime = ago(30 * time.Minute)
			all, pods := f.savings(tc.request).GetSavings(), int64(0)
			for _, s := range all {
				if pods += s.GetPods(); !s.GetSinceTime().AsTime().Before(s.GetUntilTime().AsTime()) || s.UnknownPods != nil || s.Reverts != nil || s.OomKills != nil {
					t.Errorf("%v", s)
				}
			}
			if len(all) != tc.sums || pods != tc.pods {
				t.Errorf("%d sums of %d pods: %v", len(all), pods, all)
			}
		})
	}

	web := f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Minute), Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}}).GetSavings()[0]
	if web.GetAuthored().GetCpu() != "2" || web.GetRequested().GetCpu() != "2250m" || web.GetSaved().GetCpu() != "-250m" {
		t.Errorf("%v", web)
	}
	total := f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Minute), Group: inTotal}).GetSavings()[0]
	if total.Nodes == nil || total.GetNodes() < 1 || total.GetAllocatable().GetCpu() == "0" {
		t.Errorf("without nodes: %v", total)
	}
}

func TestPeriods(t *testing.T) {
	f := summedUp(t, servertest.All)
	for _, tc := range []struct {
		request *workloadresizerv1.ListSavingsRequest
		length  time.Duration
		// of is how many subjects there are.
		of int
	}{
		{&workloadresizerv1.ListSavingsRequest{Period: perDay}, 24 * time.Hour, 2},
		{&workloadresizerv1.ListSavingsRequest{Period: perHour, Group: byNamespace}, time.Hour, 2},
		{&workloadresizerv1.ListSavingsRequest{Period: perHour, Group: inTotal}, time.Hour, 1},
		{&workloadresizerv1.ListSavingsRequest{Period: perDay, Group: inTotal, Namespace: "shop"}, 24 * time.Hour, 1},
	} {
		tc.request.SinceTime, tc.request.PageSize = ago(3*tc.length), 1
		var all []*workloadresizerv1.Savings
		for {
			page := f.savings(tc.request)
			all = append(all, page.GetSavings()...)
			if tc.request.PageToken = page.GetNextPageToken(); tc.request.PageToken == "" {
				break
			}
		}
		if n := len(all); n != 4*tc.of && n != 5*tc.of { // An hour may end meanwhile.
			t.Errorf("%v: %d sums", tc.request, n)
		}
		for i, s := range all {
			length := s.GetUntilTime().AsTime().Sub(s.GetSinceTime().AsTime())
			if last := time.Since(s.GetSinceTime().AsTime()) < tc.length; length > tc.length || !last && length != tc.length { // It ends now.
				t.Errorf("%v: %v", tc.request, s)
			}
			if i > 0 && s.GetNamespace() == all[i-1].GetNamespace() && !s.GetSinceTime().AsTime().After(all[i-1].GetSinceTime().AsTime()) {
				t.Errorf("%v: %v follows %v", tc.request, s, all[i-1])
			}
		}
	}
}

func TestTrendsOfCallers(t *testing.T) {
	f := summedUp(t, servertest.Only("bank"))
	since := ago(time.Minute)
	total := f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: since, Group: inTotal}).GetSavings()[0]
	if all := f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: since}).GetSavings(); len(all) != 1 || all[0].GetNamespace() != "bank" || total.GetPods() != 1 || total.Nodes != nil {
		t.Errorf("%v, in total %v", all, total)
	}
	_, err := f.client.ListSavings(t.Context(), &workloadresizerv1.ListSavingsRequest{SinceTime: since, Namespace: "shop"})
	servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
}

func TestBadTimes(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	for name, tc := range map[string]struct {
		request *workloadresizerv1.ListSavingsRequest
		field   string
	}{
		"an end without a beginning":   {&workloadresizerv1.ListSavingsRequest{UntilTime: ago(0)}, "until_time"},
		"a period without a beginning": {&workloadresizerv1.ListSavingsRequest{Period: perDay}, "period"},
		"an end before the beginning":  {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(0), UntilTime: ago(time.Hour)}, "until_time"},
		"labels":                       {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), LabelSelector: "app=web"}, "label_selector"},
		"hours of workloads":           {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), Period: perHour, Group: byWorkload}, "period"},
		"the namespaces of a workload": {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), Group: byNamespace, Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}}, "group"},
		"a page of the savings of now": {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), PageToken: "other"}, "page_token"},
		"a period that does not exist": {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), Period: 77}, "period"},
		"a time that does not exist":   {&workloadresizerv1.ListSavingsRequest{SinceTime: &timestamppb.Timestamp{Seconds: math.MinInt64}}, "since_time"},
		"an end that does not exist":   {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), UntilTime: &timestamppb.Timestamp{Seconds: math.MaxInt64}}, "until_time"},
		"the future":                   {&workloadresizerv1.ListSavingsRequest{SinceTime: ago(-time.Hour), Group: inTotal}, "since_time"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.client.ListSavings(t.Context(), tc.request)
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", tc.field)
		})
	}
}

// TestOldTimes asks for what is not kept any longer, and for more than that.
func TestOldTimes(t *testing.T) {
	f := summedUp(t, servertest.All)
	for _, group := range []workloadresizerv1.SavingsGroup{byWorkload, byNamespace, inTotal} {
		if all := f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: ago(2000 * 24 * time.Hour), UntilTime: ago(100 * 24 * time.Hour), Group: group}).GetSavings(); len(all) != 0 {
			t.Errorf("%v: %v", group, all)
		}
		for _, s := range f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: ago(2000 * 24 * time.Hour), Group: group}).GetSavings() {
			if from := time.Since(s.GetSinceTime().AsTime()); from > 92*24*time.Hour || s.GetKnownDuration().AsDuration() == 0 {
				t.Errorf("%v: %v", group, s)
			}
		}
	}
	// The total of no namespace is about the same time as others.
	none := f.savings(&workloadresizerv1.ListSavingsRequest{SinceTime: ago(time.Hour), Namespace: "other", Group: inTotal, Period: perDay}).GetSavings()
	if len(none) == 0 || none[len(none)-1].GetUntilTime().AsTime().After(time.Now()) || none[0].GetKnownDuration().AsDuration() != 0 {
		t.Errorf("%v", none)
	}
}

// TestCostsOverTime checks that time before there were prices has no costs, rather than those of nothing. Where nothing was requested, nothing
// is what it cost.
func TestCostsOverTime(t *testing.T) {
	requested := trend.Resources{CPU: 3000, Memory: 1 << 30}
	const known = 8 * time.Hour
	for name, tc := range map[string]struct {
		of     trend.Amounts
		priced bool
		want   bool
		had    time.Duration
	}{
		"with prices":              {trend.Amounts{Authored: requested, AuthoredCost: 2, SavedCost: 0.5, Priced: 1}, true, true, known},
		"with prices for a part":   {trend.Amounts{Authored: requested, AuthoredCost: 2, SavedCost: 0.5, Priced: 0.25, Unpriced: 0.75}, true, true, known / 4},
		"with prices that are 0":   {trend.Amounts{Authored: requested, Priced: 1}, true, true, known},
		"without prices now":       {trend.Amounts{Authored: requested, AuthoredCost: 2, SavedCost: 0.5, Priced: 1}, false, false, 0},
		"before there were prices": {trend.Amounts{Authored: requested, Unpriced: 1}, true, false, 0},
		"of nothing":               {trend.Amounts{}, true, true, known},
	} {
		m := overTimeMessage(&demand.Trend{Sum: trend.Sum{Known: known, Amounts: tc.of}}, tc.priced)
		if (m.AuthoredCost != nil) != tc.want || (m.RequestedCost != nil) != tc.want || m.GetAuthoredCost()-m.GetRequestedCost() != map[bool]float64{true: tc.of.SavedCost}[tc.want] {
			t.Errorf("%s: %v", name, m)
		}
		if (m.PricedDuration != nil) != tc.priced || m.GetPricedDuration().AsDuration() != tc.had {
			t.Errorf("%s: prices were known for %v, want %v", name, m.GetPricedDuration(), tc.had)
		}
	}
}

// TestHugeAmounts checks that sums of amounts that nobody has stay within what a message has.
func TestHugeAmounts(t *testing.T) {
	sum, one := &demand.Trend{}, trend.Amounts{Authored: trend.Resources{CPU: 1000, Memory: math.MaxInt64}, Saved: trend.Resources{Memory: -math.MaxInt64}}
	for range 3 {
		sum.Add(&one, 1)
	}
	m := overTimeMessage(sum, false)
	if a, s := m.GetAuthored().GetMemory(), m.GetSaved().GetMemory(); a[0] == '-' || s != "-"+a || m.GetAuthored().GetCpu() != "3" {
		t.Errorf("authored %s, saved %s", a, s)
	}
}
