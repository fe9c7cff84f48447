package plans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// serve starts a PlanService for callers with the given view.
func serve(t testing.TB, p *servertest.Parts, viewer access.Viewer) workloadresizerv1.PlanServiceClient {
	t.Helper()
	return workloadresizerv1.NewPlanServiceClient(servertest.Connect(t, New(Config{Ratios: p.Store, Reconciler: p.Loop, Viewer: viewer})))
}

// shop starts a PlanService for the namespaces shop and bank.
func shop(t testing.TB, viewer access.Viewer) workloadresizerv1.PlanServiceClient {
	t.Helper()
	return serve(t, servertest.StartShop(t, servertest.Setup{}), viewer)
}

// previews receives a whole stream.
func previews(stream grpc.ServerStreamingClient[workloadresizerv1.PreviewPlansResponse], err error) (all []*workloadresizerv1.PreviewPlansResponse, _ error) {
	for err == nil {
		var m *workloadresizerv1.PreviewPlansResponse
		if m, err = stream.Recv(); err == nil {
			all = append(all, m)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return all, err
}

// podsOf returns the pods of plans, and their desired cpu requests.
func podsOf(all []*workloadresizerv1.PreviewPlansResponse) string {
	var names []string
	for _, m := range all {
		if p := m.GetPlan(); p != nil {
			names = append(names, p.GetNamespace()+"/"+p.GetPod()+"="+p.GetContainers()[0].GetDesired().GetRequests()["cpu"])
		}
	}
	return strings.Join(names, " ")
}

func boundsOf(cpuMin, cpuMax, memoryMin string) *workloadresizerv1.Bounds {
	return &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Min: cpuMin, Max: cpuMax}, Memory: &workloadresizerv1.QuantityRange{Min: memoryMin}}
}

func TestPreviewPlans(t *testing.T) {
	layer := servertest.Layer()
	layer.MaxSpeedRatio = 1000
	client := serve(t, servertest.StartShop(t, servertest.Setup{Ratios: ratios.Update{Layer: layer}}), servertest.All)
	what := func(w *workloadresizerv1.WhatIf) *workloadresizerv1.PreviewPlansRequest {
		return &workloadresizerv1.PreviewPlansRequest{Namespace: "shop", Pod: "web-y", WhatIf: w}
	}
	ratio := func(nodeType string, cpu, memory float64) []*workloadresizerv1.AssumedRatio {
		return []*workloadresizerv1.AssumedRatio{{NodeType: nodeType, CpuPerf: values.Known(cpu), MemoryPerf: values.Known(memory)}}
	}
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.PreviewPlansRequest
		want    string
	}{
		{"all pods, by namespace and name", &workloadresizerv1.PreviewPlansRequest{}, "bank/db=800m shop/bare=1 shop/web-x=1 shop/web-y=800m"},
		{"a namespace", &workloadresizerv1.PreviewPlansRequest{Namespace: "bank"}, "bank/db=800m"},
		{"a pod", &workloadresizerv1.PreviewPlansRequest{Pod: "db"}, "bank/db=800m"},
		{"a workload", &workloadresizerv1.PreviewPlansRequest{Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}}, "shop/web-x=1 shop/web-y=800m"},
		{"labels", &workloadresizerv1.PreviewPlansRequest{LabelSelector: "app in (db,bare)"}, "bank/db=800m shop/bare=1"},
		{"a node", &workloadresizerv1.PreviewPlansRequest{Node: "a"}, "shop/web-x=1"},
		{"a node type and a namespace", &workloadresizerv1.PreviewPlansRequest{NodeType: "n4", Namespace: "shop"}, "shop/bare=1 shop/web-y=800m"},
		{"an unknown node", &workloadresizerv1.PreviewPlansRequest{Node: "c"}, ""},

		{"with another ratio", what(&workloadresizerv1.WhatIf{Ratios: ratio("n4", 2, 0)}), "shop/web-y=500m"},
		{"with another memory performance only", what(&workloadresizerv1.WhatIf{Ratios: ratio("n4", 0, 2)}), "shop/web-y=800m"},
		{"on another node type, even if the node has no room", what(&workloadresizerv1.WhatIf{NodeType: "slow", Ratios: ratio("slow", 0.25, 1)}), "shop/web-y=4"},
		{"with another baseline", what(&workloadresizerv1.WhatIf{BaselineNodeType: "n4"}), "shop/web-y=1"},
		{"with a baseline from the request", what(&workloadresizerv1.WhatIf{BaselineNodeType: "new", Ratios: ratio("new", 1.125, 1)}), "shop/web-y=900m"},
		{"with another bound", what(&workloadresizerv1.WhatIf{Bounds: boundsOf("900m", "", "")}), "shop/web-y=900m"},
		{"without a bound, the others apply", what(&workloadresizerv1.WhatIf{NodeType: "huge", Ratios: ratio("huge", 1000, 1), Bounds: boundsOf("", "4", "0")}), "shop/web-y=50m"},
		{"without the last bound", what(&workloadresizerv1.WhatIf{NodeType: "huge", Ratios: ratio("huge", 1000, 1), Bounds: boundsOf("0", "", "")}), "shop/web-y=1m"},
		{"an implausible ratio", what(&workloadresizerv1.WhatIf{NodeType: "huge", Ratios: ratio("huge", 1001, 1)}), "shop/web-y=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := previews(client.PreviewPlans(t.Context(), tc.request))
			if got := podsOf(all); err != nil || got != tc.want {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// assuming is a source, the only one, by which n4 would be twice as fast if it applied, and 1.6 times if not.
type assuming struct{}

func (assuming) Assume(applies bool) (ratios.Assumed, error) {
	a := ratios.Assumed{Source: "configmap", Layer: servertest.Layer()}
	a.Layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 1.6, MemoryPerf: 1}
	if applies {
		a.Layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 2, MemoryPerf: 1}
	}
	return a, nil
}

func TestProductionMode(t *testing.T) {
	const apply, observe = workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY, workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE
	of := servertest.StartShop(t, servertest.Setup{})
	client := workloadresizerv1.NewPlanServiceClient(servertest.Connect(t, New(Config{Ratios: of.Store, Production: assuming{}, Reconciler: of.Loop, Viewer: servertest.All})))
	for _, tc := range []struct {
		name string
		what *workloadresizerv1.WhatIf
		want string
	}{
		{"applied", &workloadresizerv1.WhatIf{ProductionMode: apply}, "shop/web-y=500m"},
		{"observed", &workloadresizerv1.WhatIf{ProductionMode: observe}, "shop/web-y=625m"},
		{"applied, with another bound", &workloadresizerv1.WhatIf{ProductionMode: apply, Bounds: boundsOf("600m", "", "")}, "shop/web-y=600m"},
		{"applied, with a ratio that takes precedence", &workloadresizerv1.WhatIf{ProductionMode: apply, Ratios: []*workloadresizerv1.AssumedRatio{{NodeType: "n4", CpuPerf: new(4.0)}}}, "shop/web-y=250m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := previews(client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{Namespace: "shop", Pod: "web-y", WhatIf: tc.what}))
			if got := podsOf(all); err != nil || got != tc.want {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestPlans(t *testing.T) {
	t.Run("names the field that is invalid", namesTheFieldThatIsInvalid)
	t.Run("a caller cannot choose the sizes of a dry run", aCallerCannotChooseTheSizesOfADryRun)
	t.Run("a stream sends progress and a summary", aStreamSendsProgressAndASummary)
	t.Run("a long stream sends progress about every second", aLongStreamSendsProgressAboutEverySecond)
	t.Run("a caller sees only pods that it may get", aCallerSeesOnlyPodsThatItMayGet)
	t.Run("a stream sends the same plan as PreviewPod", aStreamSendsTheSamePlanAsPreviewPod)
	t.Run("a slot is taken until the work ends", aSlotIsTakenUntilTheWorkEnds)
}

func namesTheFieldThatIsInvalid(t *testing.T) {
	client := shop(t, servertest.All)
	type wanted struct{ fields, message string }
	ratios := func(all ...*workloadresizerv1.AssumedRatio) *workloadresizerv1.WhatIf {
		return &workloadresizerv1.WhatIf{Ratios: all}
	}
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.PreviewPlansRequest
		what    *workloadresizerv1.WhatIf
		want    wanted
	}{
		{"a selector", &workloadresizerv1.PreviewPlansRequest{LabelSelector: "app=(web"}, nil, wanted{"label_selector", "is not a label selector"}},
		{"a workload's kind", &workloadresizerv1.PreviewPlansRequest{Workload: &workloadresizerv1.Workload{Name: "web"}}, nil, wanted{"workload.kind", "must be set"}},
		{"a workload's name", &workloadresizerv1.PreviewPlansRequest{Workload: &workloadresizerv1.Workload{Kind: "Job"}}, nil, wanted{"workload.name", "must be set"}},
		{"a baseline", nil, &workloadresizerv1.WhatIf{BaselineNodeType: "c3"}, wanted{"what_if.baseline_node_type", `"c3" has no ratio`}},
		{"a mode of a source that is not used", nil, &workloadresizerv1.WhatIf{ProductionMode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY}, wanted{"what_if.production_mode", "--ratio-sources"}},
		{"a node type", nil, &workloadresizerv1.WhatIf{NodeType: "c3"}, wanted{"what_if.node_type", `"c3" has no ratio`}},
		{"a missing performance", nil, ratios(&workloadresizerv1.AssumedRatio{NodeType: "n4"}, &workloadresizerv1.AssumedRatio{NodeType: "c3", CpuPerf: new(1.0)}), wanted{"what_if.ratios[1].memory_perf", "must be set"}},
		{"a performance below 0", nil, ratios(&workloadresizerv1.AssumedRatio{NodeType: "n4", CpuPerf: new(-1.0)}), wanted{"what_if.ratios[0].cpu_perf", "must be greater than 0"}},
		{"a ratio without a type", nil, ratios(&workloadresizerv1.AssumedRatio{CpuPerf: new(1.0)}), wanted{"what_if.ratios[0].node_type", "must be set"}},
		{"a duplicate node type", nil, ratios(&workloadresizerv1.AssumedRatio{NodeType: "n4"}, &workloadresizerv1.AssumedRatio{NodeType: "n4"}), wanted{"what_if.ratios[1].node_type", "is duplicated"}},
		{"quantities", nil, &workloadresizerv1.WhatIf{Bounds: boundsOf("many", "-1", "1e99999999")}, wanted{"what_if.bounds.cpu.min what_if.bounds.cpu.max what_if.bounds.memory.min", `"many" is not a quantity`}},
		{"a minimum above the maximum of the table", nil, &workloadresizerv1.WhatIf{Bounds: boundsOf("17", "", "")}, wanted{"what_if.bounds.cpu", "min 17 is above max 16"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			request := tc.request
			if request == nil {
				request = &workloadresizerv1.PreviewPlansRequest{WhatIf: tc.what}
			}
			_, err := previews(client.PreviewPlans(t.Context(), request))
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", tc.want.message)
			if got := strings.Join(servertest.FieldsOf(err), " "); got != tc.want.fields {
				t.Errorf("names %q, want %q", got, tc.want.fields)
			}
			if tc.what == nil {
				return
			}
			_, err = client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: "web-y", WhatIf: tc.what})
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", tc.want.message)
		})
	}
}

func aCallerCannotChooseTheSizesOfADryRun(t *testing.T) {
	client := shop(t, servertest.All)
	for _, what := range []*workloadresizerv1.WhatIf{{}, {NodeType: "n2d"}, {BaselineNodeType: "n4"}, {Bounds: boundsOf("900m", "", "")}} {
		_, stream := previews(client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{ServerSide: true, WhatIf: what}))
		_, pod := client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: "web-y", ServerSide: true, WhatIf: what})
		for _, err := range []error{stream, pod} {
			servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "cannot be combined with what_if")
			if got := strings.Join(servertest.FieldsOf(err), " "); got != "server_side" {
				t.Errorf("names %q, want server_side", got)
			}
		}
	}
}

func aStreamSendsProgressAndASummary(t *testing.T) {
	all, err := previews(shop(t, servertest.All).PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{}))
	if err != nil || len(all) != 6 {
		t.Fatalf("%d messages, %v", len(all), err)
	}
	want := &workloadresizerv1.PlanProgress{Total: 4}
	if diff := cmp.Diff(want, all[0].GetProgress(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	summary := &workloadresizerv1.PlanSummary{Pods: 4, Resize: 2, Aligned: 1, Skip: 1, RequestDelta: map[string]string{"cpu": "-400m"}, Codes: map[string]int64{"AlreadyAligned": 1, "NotOwned": 1}}
	if diff := cmp.Diff(summary, all[5].GetSummary(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// sent is a stream that keeps the messages that are sent.
type sent struct {
	grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]
	ctx context.Context
	all []*workloadresizerv1.PreviewPlansResponse
}

func (s *sent) Context() context.Context { return s.ctx }

func (s *sent) Send(m *workloadresizerv1.PreviewPlansResponse) error {
	s.all = append(s.all, m)
	return nil
}

func aLongStreamSendsProgressAboutEverySecond(t *testing.T) {
	r := servertest.StartShop(t, servertest.Setup{})
	at := time.Unix(0, 0)
	service := New(Config{Ratios: r.Store, Reconciler: r.Loop, Viewer: servertest.All})
	service.now = func() time.Time {
		at = at.Add(600 * time.Millisecond) // As long as each plan takes.
		return at
	}
	stream := &sent{ctx: access.NewContext(t.Context(), access.Caller{Local: true})}
	if err := service.PreviewPlans(&workloadresizerv1.PreviewPlansRequest{}, stream); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range stream.all {
		switch {
		case m.GetProgress() != nil:
			got = append(got, fmt.Sprintf("%d/%d", m.GetProgress().GetDone(), m.GetProgress().GetTotal()))
		case m.GetPlan() != nil:
			got = append(got, "plan")
		}
	}
	if want := "0/4 plan 1/4 plan plan 3/4 plan"; strings.Join(got, " ") != want {
		t.Errorf("sent %q, want %s", got, want)
	}
}

func aCallerSeesOnlyPodsThatItMayGet(t *testing.T) {
	client := shop(t, servertest.Only("bank"))
	all, err := previews(client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{}))
	if got := podsOf(all); err != nil || got != "bank/db=800m" {
		t.Errorf("the caller sees %q, %v", got, err)
	}
	if got := all[0].GetProgress().GetTotal(); got != 1 {
		t.Errorf("the total is %d", got)
	}
	if got := all[len(all)-1].GetSummary(); got.GetPods() != 1 || len(got.GetCodes()) > 0 || !got.GetIncomplete() {
		t.Errorf("summary %v", got)
	}
	// The same pods are hidden, whether or not filters match them.
	for _, pod := range []string{"db", "web-x", "none"} {
		all, err = previews(client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{Pod: pod}))
		if got := all[len(all)-1].GetSummary(); err != nil || !got.GetIncomplete() {
			t.Errorf("pod %s: summary %v, %v", pod, got, err)
		}
	}
	all, err = previews(client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{Namespace: "bank"}))
	if got := all[len(all)-1].GetSummary(); err != nil || got.GetPods() != 1 || got.GetIncomplete() {
		t.Errorf("summary of a visible namespace %v, %v", got, err)
	}
	_, err = previews(client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{Namespace: "shop"}))
	servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `namespace "shop"`)
	// The error does not reveal whether the pod exists.
	for _, pod := range []string{"web-x", "none"} {
		_, err = client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: pod})
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `namespace "shop"`)
	}
	if got, err := client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "bank", Pod: "db"}); err != nil || got.GetPlan().GetPod() != "db" {
		t.Errorf("%v, %v", got, err)
	}
}

func aStreamSendsTheSamePlanAsPreviewPod(t *testing.T) {
	client := shop(t, servertest.All)
	one, err := client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "shop", Pod: "web-y"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := previews(client.PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{Namespace: "shop", Pod: "web-y"}))
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	if diff := cmp.Diff(one.GetPlan(), all[1].GetPlan(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	size := func(cpu, limit string) *workloadresizerv1.Resources {
		return &workloadresizerv1.Resources{Requests: map[string]string{"cpu": cpu, "memory": "1Gi"}, Limits: map[string]string{"cpu": limit, "memory": "1Gi"}}
	}
	want := &workloadresizerv1.ContainerPlan{Name: "app", Original: size("1", "2"), Current: size("1", "2"), Desired: size("800m", "1600m")}
	if diff := cmp.Diff(want, all[1].GetPlan().GetContainers()[0], protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

// If a caller ends a call early, the next call must not begin while the work of the first
// continues.
func aSlotIsTakenUntilTheWorkEnds(t *testing.T) {
	slots := limits.NewSlots(1)
	ctx := servertest.As(t, "ann")
	release, err := slots.Take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	working := make(chan struct{})
	ended := make(chan struct{})
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := (&streams.Call{SendWithin: sendWithin}).Run(gone, func(context.Context) error {
		defer close(ended)
		defer release()
		<-working
		return nil
	}); err == nil {
		t.Error("a canceled call succeeded")
	}
	if _, err := slots.Take(ctx); err == nil {
		t.Error("another call began during the work of the first")
	}
	close(working)
	<-ended
	if _, err := slots.Take(ctx); err != nil {
		t.Error(err)
	}
}
