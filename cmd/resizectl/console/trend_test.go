package console

import (
	"context"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// days answers with three days of savings, of which the second one was not counted.
func days() cmdtest.Script {
	day := func(n int, known time.Duration, authored, requested, used string) *workloadresizerv1.Savings {
		return &workloadresizerv1.Savings{
			Authored: both(authored, "60Gi"), Requested: both(requested, "50Gi"), Saved: both("10", "10Gi"), Measured: both(used, "20Gi"), Used: both(used, "9Gi"), AuthoredCost: new(2.0), RequestedCost: new(1.5),
			SinceTime: timestamppb.New(cmdtest.Since.AddDate(0, 0, n)), UntilTime: timestamppb.New(cmdtest.Since.AddDate(0, 0, n+1)), KnownDuration: durationpb.New(known),
		}
	}
	return cmdtest.On(func(req *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
		resp := &workloadresizerv1.ListSavingsResponse{Currency: "USD"}
		if req.GetPeriod() == workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR {
			hour := day(0, time.Hour, "30", "20", "4")
			hour.Nodes, hour.Allocatable = new(12.0), both("48", "96Gi")
			resp.Savings = []*workloadresizerv1.Savings{hour}
		}
		if req.GetSinceTime() != nil && req.GetPeriod() == workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_DAY {
			resp.Savings = []*workloadresizerv1.Savings{day(0, 24*time.Hour, "30", "20", "4"), day(1, 0, "0", "0", "0"), day(2, 6*time.Hour, "32", "22", "5")}
		}
		return resp, nil
	})
}

// chartPattern finds the data of a chart, and what it says.
var chartPattern = regexp.MustCompile(`data-chart="([^<]*)" role="img" aria-label="([^"]*)"`)

// drawn is what the browser draws.
type drawn struct {
	Along, Unit string
	At          []float64
	Lines       []struct {
		Name    string
		Dashed  bool
		Amounts []*float64
	}
}

// TestTrend checks the charts of savings over time: a day that was not counted has no amounts, and no part of what was saved.
func TestTrend(t *testing.T) {
	begun, server := time.Now(), cmdtest.Answering(scripted(), days())
	r := start(t, server.Serve(t))
	for _, path := range []string{"/", "/workloads/shop/Deployment/web"} {
		_, body := r.get(path)
		body = html.UnescapeString(body)
		found := chartPattern.FindAllStringSubmatch(body, -1)
		if len(found) != 3 {
			t.Fatalf("%s has %d charts:\n%s", path, len(found), body)
		}
		var data drawn
		if err := json.Unmarshal([]byte(found[0][1]), &data); err != nil {
			t.Fatal(err)
		}
		lines := data.Lines
		if data.Unit != "cores" || data.Along != "" || len(data.At) != 3 || data.At[1]-data.At[0] != 24*3600 || len(lines) != 3 ||
			lines[0].Name != "Authored" || !lines[0].Dashed || *lines[0].Amounts[0] != 30 || lines[1].Amounts[1] != nil || *lines[1].Amounts[2] != 22 || *lines[2].Amounts[2] != 5 {
			t.Errorf("%s draws %s", path, found[0][1])
		}
		if want := "CPU (cores, mean of each day): authored 32 on 2026-11-23, applied 22 on 2026-11-23, used 5 on 2026-11-23"; found[0][2] != want {
			t.Errorf("%s says %q, want %q", path, found[0][2], want)
		}
		if want := "Cost at the prices of the nodes (USD per hour, mean of each day): authored 2 on 2026-11-23, applied 1.5 on 2026-11-23"; found[2][2] != want {
			t.Errorf("%s says %q, want %q", path, found[2][2], want)
		}
		if want := "Saved: 300 core-hours and 300 GiB-hours of requests (authored minus applied), worth 15.00 USD at the prices of the nodes. Counted for 30 hours."; !strings.Contains(body, want) {
			t.Errorf("%s does not say %q:\n%s", path, want, body)
		}
	}
	_, body := r.get("/?days=7")
	for _, want := range []string{"Memory (GiB, mean of each hour): authored 60 at 2026-11-21 01:02 UTC, applied 50 at 2026-11-21 01:02 UTC, used 9 at 2026-11-21 01:02 UTC, allocatable 96 at 2026-11-21 01:02 UTC", "Nodes (mean of each hour): nodes 12 at 2026-11-21 01:02 UTC", `"hours":true`} {
		if !strings.Contains(html.UnescapeString(body), want) {
			t.Errorf("of a week, there is no %q:\n%s", want, body)
		}
	}
	for _, req := range server.Requests() {
		of, ok := req.(*workloadresizerv1.ListSavingsRequest)
		if !ok || of.GetSinceTime() == nil {
			continue
		}
		days, period := 30*24*time.Hour, 24*time.Hour
		if of.GetPeriod() == workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR {
			days, period = 7*24*time.Hour, time.Hour
		}
		// They were asked for before now.
		if since := of.GetSinceTime().AsTime(); !since.Equal(since.Truncate(period)) || since.Before(begun.Add(-days)) || since.After(time.Now().Add(period-days)) {
			t.Errorf("the last %v in whole periods of %v begin at %v", days, period, since)
		}
	}
	server.Follow(cmdtest.Returns(&workloadresizerv1.ListSavingsResponse{}))
	if _, body := r.get("/workloads/shop/Deployment/cart"); !strings.Contains(body, "Nothing was counted in this time.") {
		t.Errorf("without a history:\n%s", body)
	}
}

// TestDistributions checks the charts of what a container used on each type of node: how much of the time at most how much.
func TestDistributions(t *testing.T) {
	var asked atomic.Int64
	web := &workloadresizerv1.ExplainedRecommendation{Recommendation: &workloadresizerv1.Recommendation{
		Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}, Container: hostile, UnknownMessage: "too little is known",
	}}
	ruled := proto.CloneOf(web)
	ruled.Recommendation.Rule = "overrides[0]"
	server := cmdtest.Answering(scripted(), cmdtest.On(func(req *workloadresizerv1.GetUsageHistoryRequest) (*workloadresizerv1.GetUsageHistoryResponse, error) {
		if req.GetContainer() != hostile || req.GetWorkload().GetName() != "web" {
			t.Errorf("the usage of container %q of %v was asked for", req.GetContainer(), req.GetWorkload())
		}
		asked.Add(1)
		return &workloadresizerv1.GetUsageHistoryResponse{NodeTypes: []*workloadresizerv1.NodeTypeHistory{
			{NodeType: "n2d", Cpu: []*workloadresizerv1.UsageBucket{{From: 0.5, To: 1, Share: 0.25}, {From: 1, To: 2, Share: 0.75}}},
			{NodeType: hostile, Cpu: []*workloadresizerv1.UsageBucket{{From: 0.5, To: 1, Share: 1}}},
		}}, nil
	}))
	r := start(t, server.Serve(t))
	// A container under two rules has two recommendations.
	var reads atomic.Int64
	server.Follow(cmdtest.On(func(*workloadresizerv1.GetRecommendationRequest) (*workloadresizerv1.GetRecommendationResponse, error) {
		reads.Add(1)
		return &workloadresizerv1.GetRecommendationResponse{Containers: []*workloadresizerv1.ExplainedRecommendation{web, ruled}}, nil
	}))
	_, body := r.get("/workloads/shop/Deployment/web")
	// The page reads again soon.
	if n, most := asked.Load(), reads.Load(); n < 1 || n > most {
		t.Errorf("the usage of one container was asked for %d times in %d reads", n, most)
	}
	if keys := regexp.MustCompile(`<details open data-key="([^"]*)"`).FindAllStringSubmatch(body, -1); len(keys) != 2 || keys[0][1] == keys[1][1] {
		t.Errorf("the parts of a container under two rules have the keys %q", keys)
	}
	var data drawn
	var says string
	for _, found := range chartPattern.FindAllStringSubmatch(html.UnescapeString(body), -1) {
		if strings.Contains(found[2], "on each type of node") {
			if !strings.HasPrefix(found[2], "CPU ") {
				t.Errorf("there is another one, although no memory was measured: %s", found[2])
			}
			says = found[2]
			if err := json.Unmarshal([]byte(found[1]), &data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !strings.Contains(says, "on n2d, median 2 cores, 95th percentile 2") {
		t.Errorf("the chart says %q", says)
	}
	shares := func(line int) (all []float64) {
		for _, amount := range data.Lines[line].Amounts {
			all = append(all, *amount)
		}
		return all
	}
	if data.Along != "cores" || data.Unit != "%" || !slices.Equal(data.At, []float64{0.5, 1, 2}) || len(data.Lines) != 2 ||
		data.Lines[0].Name != "n2d" || !slices.Equal(shares(0), []float64{0, 25, 100}) || !slices.Equal(shares(1), []float64{0, 100, 100}) {
		t.Errorf("it draws %+v", data)
	}
	server.Follow(cmdtest.Fails("GetUsageHistory", cmdtest.WithReason(codes.NotFound, "USAGE_UNKNOWN", "nothing was measured of it")))
	if _, body := r.get("/workloads/shop/Deployment/cart"); strings.Contains(body, "on each type of node") || !strings.Contains(body, "too little is known") {
		t.Errorf("without usage:\n%s", body)
	}
	server.Follow(cmdtest.Fails("GetUsageHistory", cmdtest.WithReason(codes.InvalidArgument, "INVALID_ARGUMENT", "name one of them")))
	if _, body := r.get("/workloads/shop/Deployment/db"); !strings.Contains(body, "name one of them") || !strings.Contains(body, "too little is known") {
		t.Errorf("with usage that is refused:\n%s", body)
	}
}

// TestUnknownAmounts checks that what is not known is not drawn as nothing: cost before there were prices, and usage before anything was
// measured.
func TestUnknownAmounts(t *testing.T) {
	day := &workloadresizerv1.Savings{
		Authored: both("30", "60Gi"), Requested: both("20", "50Gi"), Measured: both("0", "0"), Used: both("0", "0"),
		SinceTime: timestamppb.New(cmdtest.Since), UntilTime: timestamppb.New(cmdtest.Since.AddDate(0, 0, 1)), KnownDuration: durationpb.New(time.Hour),
	}
	server := cmdtest.Answering(scripted(), cmdtest.Returns(&workloadresizerv1.ListSavingsResponse{Currency: "USD", Savings: []*workloadresizerv1.Savings{day}}))
	r := start(t, server.Serve(t))
	_, body := r.get("/")
	if strings.Contains(body, "Cost at the prices") || strings.Contains(body, "worth") || strings.Contains(body, "used 0") || !strings.Contains(body, "applied 20 on 2026-11-21") {
		t.Errorf("the page draws what is not known:\n%s", body)
	}
	next := proto.CloneOf(day)
	next.SinceTime, next.KnownDuration, next.Saved, next.AuthoredCost, next.RequestedCost = day.GetUntilTime(), durationpb.New(2*time.Hour), both("10", "10Gi"), new(3.0), new(2.0)
	server.Follow(cmdtest.Returns(&workloadresizerv1.ListSavingsResponse{Currency: "USD", Savings: []*workloadresizerv1.Savings{day, next}}))
	_, body = r.get("/workloads/shop/Deployment/web")
	for _, want := range []string{"worth 2.00 USD at the prices of the nodes. Counted for 3 hours. Prices were known for only 2 hours of that, and the amount of money is for these.", `"name":"Authored","dashed":true,"amounts":[null,3]`} {
		if !strings.Contains(html.UnescapeString(body), want) {
			t.Errorf("with prices since the second day, there is no %q:\n%s", want, body)
		}
	}
	next.PricedDuration = durationpb.New(30 * time.Minute)
	server.Follow(cmdtest.Returns(&workloadresizerv1.ListSavingsResponse{Currency: "USD", Savings: []*workloadresizerv1.Savings{day, next}}))
	if _, body = r.get("/workloads/shop/Deployment/db"); !strings.Contains(html.UnescapeString(body), "worth 2.00 USD at the prices of the nodes. Counted for 3 hours. Prices were known for only 30 minutes of that") {
		t.Errorf("with prices since half an hour:\n%s", body)
	}
}

// TestLastWeek checks that a calendar week is asked for as such, and named.
func TestLastWeek(t *testing.T) {
	asked := make(chan *workloadresizerv1.ListSavingsRequest, 100)
	server := cmdtest.Answering(scripted(), cmdtest.On(func(req *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
		if req.GetSinceTime() != nil {
			asked <- req
		}
		return &workloadresizerv1.ListSavingsResponse{}, nil
	}))
	r := start(t, server.Serve(t))
	_, body := r.get("/?days=last-week&namespace=shop")
	of := <-asked
	// Whole hours of UTC begin in the middle of an hour where zones differ by half hours.
	begin, end := of.GetSinceTime().AsTime().Local(), of.GetUntilTime().AsTime().Local()
	for _, at := range []*time.Time{&begin, &end} {
		*at = at.Add(time.Duration((60-at.Minute())%60) * time.Minute)
	}
	if begin.Weekday() != time.Monday || begin.AddDate(0, 0, 7) != end || end.After(time.Now()) || end.Before(time.Now().AddDate(0, 0, -8)) || of.GetPeriod() != workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR || of.GetNamespace() != "shop" {
		t.Errorf("it asks for %v", of)
	}
	for _, want := range []string{
		"Requests and savings in the week from " + begin.Format(time.DateOnly) + " to " + end.AddDate(0, 0, -1).Format(time.DateOnly) + " in shop", `<option value="last-week" selected>last week, Monday to Sunday</option>`, `<option value="7">last 7 days</option>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("it has no %s:\n%s", want, body)
		}
	}
}

// TestPlans checks that plans are made on request, with the assumptions of the address, and that what is wrong with these is said.
func TestPlans(t *testing.T) {
	server := cmdtest.Answering(scripted())
	r := start(t, server.Serve(t))
	asked := func() (n int) {
		for _, req := range server.Requests() {
			if _, of := req.(*workloadresizerv1.PreviewPlansRequest); of {
				n++
			}
		}
		return n
	}
	for _, tc := range []struct {
		path  string
		want  []string
		plans int
	}{
		{"/plans", []string{"Nothing is changed.", `<option value="apply">apply</option>`}, 0},
		{"/plans?plan=1", []string{"resizectl plan -A", `href="/pods/`, "1 to resize"}, 1},
		{"/plans?plan=1&namespace=shop&ratios=n4%3D1.08&mode=apply&production=observe&maxcpu=4&resumed=1", []string{
			"resizectl plan --what-if-ratio n4=1.08 --what-if-mode apply --what-if-production-mode observe --what-if-max-cpu 4 --what-if-resumed -n shop", `<option value="apply" selected>`, `<option value="observe" selected>`, `value="n4=1.08"`, "checked",
			"Without the changes", "Nothing: the plans of all pods have the same outcome.",
		}, 3},
		{"/plans?plan=1&ratios=n4", []string{`>Ratios: "n4": must be`, ">Ratios <input"}, 3},
		{"/plans?plan=1&mode=guess", []string{`>Mode of usage: "guess" must be one of observe, initial, apply`, ">Mode of usage <select"}, 3},
		{"/plans?plan=1&production=guess", []string{`>Mode of production: "guess" must be one of observe, apply`, ">Mode of production <select"}, 3},
		{"/plans?plan=1&maxcpu=much", []string{`>Maximum CPU per container: "much" is not a quantity`, ">Maximum CPU per container <input"}, 3},
		{"/plans?plan=1&mincpu=much", []string{`>Minimum CPU per container: "much"`, ">Minimum CPU per container <input"}, 3},
		{"/plans?plan=1&minmemory=much", []string{`>Minimum memory per container: "much"`, ">Minimum memory per container <input"}, 3},
		{"/plans?plan=1&maxmemory=-1", []string{`>Maximum memory per container: "-1" is negative`, ">Maximum memory per container <input"}, 3},
	} {
		_, body := r.get(tc.path)
		for _, want := range tc.want {
			if !strings.Contains(html.UnescapeString(body), want) {
				t.Errorf("%s has no %q:\n%s", tc.path, want, body)
			}
		}
		if got := asked(); got != tc.plans {
			t.Errorf("%s: %d previews were asked for, want %d", tc.path, got, tc.plans)
		}
	}
	if heard := r.first("/live/plans?plan=1"); !strings.HasPrefix(heard, "event: beat") || strings.Contains(heard, "tree") || asked() != 3 {
		t.Errorf("plans are live: %q, %d previews", heard, asked())
	}
	server.Follow(cmdtest.OnStream(func(_ context.Context, req *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
		with, unsteady, late := cmdtest.Web(), cmdtest.Unsteady(), cmdtest.Web()
		if late.Pod = "late"; req.GetWhatIf() != nil {
			with.Containers[0].Desired = cmdtest.Resources("700m", "1Gi", "1600m", "")
			unsteady.Decision = workloadresizerv1.Decision_DECISION_RESIZE
		}
		all := []*workloadresizerv1.Plan{cmdtest.Aligned(), with, unsteady, late}
		if req.GetWhatIf() == nil {
			all = all[:3] // The last one is created meanwhile.
		}
		for _, plan := range all {
			if err := send(cmdtest.PlanMessage(plan)); err != nil {
				return err
			}
		}
		return send(cmdtest.SummaryMessage(&workloadresizerv1.PlanSummary{Pods: int64(len(all)), Resize: 1}))
	}))
	_, diff := r.get("/plans?plan=1&ratios=n4%3D1.1")
	for _, want := range []string{"3 pods: 1 to resize", "4 pods: 1 to resize", ">0.8 → 0.7<", ">1 → 0.8<", ">skip → resize<", `href="/pods/shop/cart-0"`} {
		if !strings.Contains(diff, want) {
			t.Errorf("the diff has no %q:\n%s", want, diff)
		}
	}
	for _, no := range []string{"api-0", "/pods/default/late", "→ 50m"} {
		if strings.Contains(diff, no) {
			t.Errorf("the diff has %q, which is the same, or not known:\n%s", no, diff)
		}
	}
	server.Follow(cmdtest.Fails("PreviewPlans", cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "the pods are not read yet")))
	_, body := r.get("/plans?plan=1&ratios=n4%3D1.1")
	for _, want := range []string{`data-key="filter"`, `value="n4=1.1"`, "the pods are not read yet", `role="alert"`} {
		if !strings.Contains(body, want) {
			t.Errorf("while the server is away, there is no %q:\n%s", want, body)
		}
	}
}
