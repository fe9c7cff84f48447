package usage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

type errCount int

func (n errCount) Error() string { return fmt.Sprintf("%d recommendations", int(n)) }

// running adapts a service to servertest.Run.
func running(s *Service) func(context.Context) error {
	return func(ctx context.Context) error {
		s.Run(ctx)
		return nil
	}
}

func TestUsage(t *testing.T) {
	t.Run("lists what is recommended per workload, on the nodes of its pods", listsWhatIsRecommendedPerWorkload)
	t.Run("pages follow each other", pagesFollowEachOther)
	t.Run("a caller sees only what it may see", aCallerSeesOnlyWhatItMaySee)
	t.Run("explains the steps to a recommendation", explainsTheStepsToARecommendation)
	t.Run("shows what pods share before they do", showsWhatPodsShareBeforeTheyDo)
	t.Run("returns distributions as measured", returnsDistributionsAsMeasured)
	t.Run("a watch gets the state and then each change", aWatchGetsTheStateAndThenEachChange)
	t.Run("a watch that ends early leaves others nothing to miss", aWatchThatEndsEarlyLeavesOthersNothingToMiss)
	t.Run("watches look at the pods once after each publication", watchesLookAtThePodsOnceAfterEachPublication)
	t.Run("the status shows sources", theStatusShowsSources)
	t.Run("says what is disabled", saysWhatIsDisabled)
}

// list returns a page of recommendations as text.
func (f *fixture) list(request *workloadresizerv1.ListRecommendationsRequest) (names []string, response *workloadresizerv1.ListRecommendationsResponse) {
	f.Helper()
	response, err := f.client.ListRecommendations(f.Context(), request)
	if err != nil {
		f.Fatal(err)
	}
	for _, r := range response.GetRecommendations() {
		names = append(names, r.GetNamespace()+"/"+r.GetWorkload().GetName())
	}
	return names, response
}

func showsWhatPodsShareBeforeTheyDo(t *testing.T) {
	layer := servertest.Layer()
	layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Observe, Policy: policy.SharedPolicy}})
	f := newFixture(t, servertest.All, layer)
	f.known()
	explained, err := f.client.GetRecommendation(t.Context(), &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}})
	if err != nil {
		t.Fatal(err)
	}
	_, listed := f.list(&workloadresizerv1.ListRecommendationsRequest{Namespace: "shop"})
	for _, r := range []*workloadresizerv1.Recommendation{explained.GetContainers()[0].GetRecommendation(), listed.GetRecommendations()[0]} {
		size := r.GetBaseline()
		// One sample is known, so that the peak is what is needed most of the time, without a margin.
		cpu := size.GetShared()["cpu"]
		if cpu.GetSteady() == "" || cpu.GetSteady() != cpu.GetPeak() || size.GetTarget().GetCpu() != cpu.GetPeak() || size.GetUncappedTarget().GetCpu() != cpu.GetPeak() || cpu.GetUnshared() == cpu.GetPeak() || cpu.GetShare() != 1 {
			t.Errorf("%v", size)
		}
		if size.GetShared()["memory"] != nil || size.GetTarget().GetMemory() == "" {
			t.Errorf("memory is not shared: %v", size)
		}
		if on := r.GetNodeTypes(); len(on) != 2 || on[0].GetSize().GetCpu() != cpu.GetPeak() && on[1].GetSize().GetCpu() != cpu.GetPeak() {
			t.Errorf("%v", on)
		}
	}
}

func listsWhatIsRecommendedPerWorkload(t *testing.T) {
	layer := servertest.Layer()
	layer.Cluster = keys.Some(policy.Cluster{Prices: &policy.Prices{Currency: "USD", Default: policy.Price{CPU: 1, Memory: 1}}})
	f := newFixture(t, servertest.All, layer)
	f.known()
	names, response := f.list(&workloadresizerv1.ListRecommendationsRequest{})
	if want := []string{"bank/db", "shop/web"}; !slices.Equal(names, want) {
		t.Fatalf("%v, want %v", names, want)
	}
	web := response.GetRecommendations()[1]
	sums := web.GetSums()
	if sums.GetPods() != 2 || sums.GetUnknownPods() != 0 || sums.GetAuthored().GetCpu() != "2" || sums.GetCompared().GetMemory() != "2Gi" || sums.GetAuthoredCost() != 4 || sums.RecommendedCost == nil || response.GetCurrency() != "USD" {
		t.Errorf("%v", sums)
	}
	// Each pod needs a core of a n2d, which is 800m of a n4, plus the margin and a bucket.
	if target := web.GetBaseline().GetTarget().GetCpu(); !strings.HasPrefix(target, "1") || len(target) != len("1200m") {
		t.Errorf("target %s", target)
	}
	if on := web.GetNodeTypes(); len(on) != 2 || on[0].GetNodeType() != "n2d" || on[1].GetNodeType() != "n4" || on[0].GetSize().GetCpu() != web.GetBaseline().GetTarget().GetCpu() || on[1].GetPods() != 1 {
		t.Errorf("%v", on)
	}
	if web.GetDemandFrom() != "author" || web.GetBaseline().GetCpuMayDecrease() || web.GetBaseline().GetCpuDecreaseMessage() == "" {
		t.Errorf("%v", web)
	}
	for request, want := range map[*workloadresizerv1.ListRecommendationsRequest]string{
		{Namespace: "bank"}: "bank/db", {LabelSelector: "app=web"}: "shop/web",
		{Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "web-1"}}: "shop/web",
	} {
		if names, _ := f.list(request); len(names) != 1 || names[0] != want {
			t.Errorf("%v: %v", request, names)
		}
	}
}

func pagesFollowEachOther(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.known()
	first, response := f.list(&workloadresizerv1.ListRecommendationsRequest{PageSize: 1})
	second, last := f.list(&workloadresizerv1.ListRecommendationsRequest{PageSize: 1, PageToken: response.GetNextPageToken()})
	if got := slices.Concat(first, second); !slices.Equal(got, []string{"bank/db", "shop/web"}) || last.GetNextPageToken() != "" {
		t.Errorf("%v", got)
	}
	_, err := f.client.ListRecommendations(t.Context(), &workloadresizerv1.ListRecommendationsRequest{PageToken: "other"})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token")
}

func aCallerSeesOnlyWhatItMaySee(t *testing.T) {
	f := newFixture(t, servertest.Only("bank"), nil)
	f.known()
	if names, _ := f.list(&workloadresizerv1.ListRecommendationsRequest{}); !slices.Equal(names, []string{"bank/db"}) {
		t.Errorf("%v", names)
	}
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	_, err := f.client.ListRecommendations(t.Context(), &workloadresizerv1.ListRecommendationsRequest{Namespace: "shop"})
	servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
	_, err = f.client.GetRecommendation(t.Context(), &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: web})
	servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
	_, err = f.client.GetUsageHistory(t.Context(), &workloadresizerv1.GetUsageHistoryRequest{Namespace: "shop", Workload: web, Container: "app"})
	servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", "shop")
	stream, err := f.client.WatchRecommendations(t.Context(), &workloadresizerv1.WatchRecommendationsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if m.GetType() == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK {
			break
		}
		if m.GetRecommendation().GetNamespace() != "bank" {
			t.Errorf("%v", m)
		}
	}
}

func explainsTheStepsToARecommendation(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.known()
	response, err := f.client.GetRecommendation(t.Context(), &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}})
	if err != nil || len(response.GetContainers()) != 1 {
		t.Fatalf("%v, %v", response, err)
	}
	e := response.GetContainers()[0]
	if last := e.GetSteps()[len(e.GetSteps())-1]; last.GetAmounts().GetCpu() != e.GetRecommendation().GetBaseline().GetTarget().GetCpu() || last.GetMessage() == "" {
		t.Errorf("the last step is %v, and the target %v", last, e.GetRecommendation().GetBaseline())
	}
	if m := e.GetMeasured(); len(m) != 2 || m[1].GetNodeType() != "n4" || m[1].GetCpuSpeed() != 1.25 || m[1].GetSamples() != 1 {
		t.Errorf("measured %v", m)
	}
	_, err = f.client.GetRecommendation(t.Context(), &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "api"}})
	servertest.CheckError(t, err, codes.NotFound, "USAGE_UNKNOWN", "shop/Deployment/api")

	// Their pods may exist, and count for a different workload or for none.
	for kind, why := range map[string]string{"Job": "value of their label app.kubernetes.io/name", "ReplicaSet": "name its owner"} {
		_, err = f.client.GetRecommendation(t.Context(), &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: kind, Name: "web"}})
		servertest.CheckError(t, err, codes.NotFound, "USAGE_UNKNOWN", "shop/"+kind+"/web")
		if text := status.Convert(err).Message(); !strings.Contains(text, why) {
			t.Errorf("a %s that no pod counts for: %q does not name the reason %q", kind, text, why)
		}
	}
}

func returnsDistributionsAsMeasured(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.known()
	request := &workloadresizerv1.GetUsageHistoryRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}, Container: "app"}
	response, err := f.client.GetUsageHistory(t.Context(), request)
	if err != nil || len(response.GetNodeTypes()) != 2 {
		t.Fatalf("%v, %v", response, err)
	}
	if on := response.GetNodeTypes()[1]; on.GetNodeType() != "n4" || len(on.GetCpu()) != 1 || on.GetCpu()[0].GetFrom() > 0.8 || on.GetCpu()[0].GetTo() < 0.8 || on.GetCpu()[0].GetShare() != 1 || len(on.GetMemory()) != 1 {
		t.Errorf("%v", on)
	}
	request.Container = "other"
	_, err = f.client.GetUsageHistory(t.Context(), request)
	servertest.CheckError(t, err, codes.NotFound, "USAGE_UNKNOWN", "other")
}

func aWatchGetsTheStateAndThenEachChange(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.known()
	stream, err := f.client.WatchRecommendations(t.Context(), &workloadresizerv1.WatchRecommendationsRequest{Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}})
	if err != nil {
		t.Fatal(err)
	}
	next := func() *workloadresizerv1.WatchRecommendationsResponse {
		t.Helper()
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first, bookmark := next(), next()
	if first.GetType() != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED || first.GetRecommendation().GetWorkload().GetName() != "web" || bookmark.GetType() != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK || bookmark.GetResumeToken() == "" {
		t.Fatalf("%v, then %v", first, bookmark)
	}
	layer := servertest.Layer()
	layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 2, MemoryPerf: 1}
	f.parts.Source.Set(ratios.Update{Layer: layer})
	for {
		m := next()
		if m.GetType() != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED {
			continue
		}
		if before, after := first.GetRecommendation().GetBaseline().GetTarget().GetCpu(), m.GetRecommendation().GetBaseline().GetTarget().GetCpu(); before != after {
			return
		}
	}
}

func aWatchThatEndsEarlyLeavesOthersNothingToMiss(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.known()
	l := newLog(f.parts.Loop.Demands)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	defer l.begin(canceled, everything)()
	defer l.begin(t.Context(), everything)()
	if known := l.followed[everything].known; len(known) != 2 {
		t.Errorf("%v", known)
	}
}

func watchesLookAtThePodsOnceAfterEachPublication(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.known()
	l := newLog(f.parts.Loop.Demands)
	l.begin(t.Context(), everything)()
	all := l.followed[everything]
	all.known = nil
	l.begin(t.Context(), everything)()
	if all.known != nil {
		t.Errorf("again without a publication: %v", all.known)
	}
	l.followed[everything] = all
	go l.run(t.Context())
	localcluster.Eventually(t, "a publication", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if all.current {
			return errCount(len(all.known))
		}
		return nil
	})
	defer l.begin(t.Context(), everything)()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(all.known) != 2 {
		t.Errorf("after a publication: %v", all.known)
	}
}

func theStatusShowsSources(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.known()
	localcluster.Eventually(t, "the counts", func() error {
		response, err := f.client.GetUsageStatus(t.Context(), &workloadresizerv1.GetUsageStatusRequest{})
		if err != nil {
			return err
		}
		if len(response.GetSources()) != 1 || response.GetContainers() != 2 || response.GetRecommendations() != 2 || !response.GetCollecting() || response.GetStorage() != nil {
			return fmt.Errorf("%v", response)
		}
		if s := response.GetSources()[0]; s.GetName() != "push" || s.GetCounted() != 6 || s.GetReadTime() == nil || s.GetSampleTime() == nil || s.BackfillProgress != nil {
			return fmt.Errorf("%v", s)
		}
		return nil
	})
}

func saysWhatIsDisabled(t *testing.T) {
	s := New(Config{Viewer: servertest.All})
	client := workloadresizerv1.NewUsageServiceClient(servertest.Connect(t, s))
	_, err := client.GetUsageStatus(t.Context(), &workloadresizerv1.GetUsageStatusRequest{})
	servertest.CheckError(t, err, codes.FailedPrecondition, "USAGE_DISABLED", "--usage-sources")
	f := newFixture(t, servertest.All, nil)
	f.service.config.Push = nil
	stream, err := f.client.ReportUsage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.CloseAndRecv()
	servertest.CheckError(t, err, codes.FailedPrecondition, "PUSH_DISABLED", "--usage-sources=push")
	if errors.Is(err, io.EOF) {
		t.Error(err)
	}
}
