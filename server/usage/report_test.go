package usage

import (
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/push"
)

func TestReport(t *testing.T) {
	t.Run("an invalid usage does not affect the others", anInvalidUsageDoesNotAffectTheOthers)
	t.Run("a caller that is bound to a node reports only its pods", aCallerThatIsBoundToANodeReportsOnlyItsPods)
	t.Run("how a node fares counts only from itself", howANodeFaresCountsOnlyFromItself)
	t.Run("a container that was restarted has the usage from before", aContainerThatWasRestartedHasTheUsageFromBefore)
	t.Run("only validates if told so", onlyValidatesIfToldSo)
	t.Run("knows who is about to be killed even if there is no room", knowsWhoIsAboutToBeKilledEvenIfThereIsNoRoom)
	t.Run("refuses what cannot be counted", refusesWhatCannotBeCounted)
	t.Run("compares times with those of the demands", comparesTimesWithThoseOfTheDemands)
}

// The store of usage must agree about what is in the future.
func comparesTimesWithThoseOfTheDemands(t *testing.T) {
	later := time.Now().Add(14 * 24 * time.Hour)
	u := used("shopweb-x", 1, 300)
	u.EndTime = timestamppb.New(later)
	if wrong := faultOf(u, later); wrong != nil {
		t.Errorf("a usage of now: %v", wrong)
	}
	if wrong := faultOf(u, later.Add(-time.Hour)); wrong == nil || wrong.field != "end_time" {
		t.Errorf("a usage of an hour later: %v", wrong)
	}
}

func anInvalidUsageDoesNotAffectTheOthers(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	type usage = workloadresizerv1.ContainerUsage
	odd := []struct {
		field string
		wrong func(*usage)
	}{
		{"pod_uid", func(u *usage) { u.PodUid = "" }},
		{"pod_uid", func(u *usage) { u.PodUid = string(make([]byte, 1000)) }},
		{"pod_uid", func(u *usage) { u.PodUid = "unknown" }},
		{"container", func(u *usage) { u.Container = "" }},
		{"container", func(u *usage) { u.ContainerId = "0123" }},
		{"container", func(u *usage) { u.Container = "other" }},
		{"container", func(u *usage) { u.Container, u.ContainerId = "", "0123" }},
		{"end_time", func(u *usage) { u.EndTime = nil }},
		{"end_time", func(u *usage) { u.EndTime = &timestamppb.Timestamp{Nanos: -1} }},
		{"end_time", func(u *usage) { u.EndTime = timestamppb.New(time.Now().Add(time.Hour)) }},
		{"end_time", func(u *usage) { u.EndTime = timestamppb.New(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)) }},
		{"measure_duration", func(u *usage) { u.MeasureDuration = nil }},
		{"measure_duration", func(u *usage) { u.MeasureDuration = durationpb.New(0) }},
		{"measure_duration", func(u *usage) { u.MeasureDuration = durationpb.New(time.Hour) }},
		{"cpu_cores", func(u *usage) { u.CpuCores, u.MemoryPeakBytes = nil, nil }},
		{"cpu_cores", func(u *usage) { *u.CpuCores = math.NaN() }},
		{"cpu_cores", func(u *usage) { *u.CpuCores = math.Inf(1) }},
		{"cpu_cores", func(u *usage) { *u.CpuCores = -1 }},
		{"cpu_cores", func(u *usage) { *u.CpuCores = 1e308 }},
		{"cpu_cores", func(u *usage) { *u.CpuCores = 8.1 }},                     // The node has 4.
		{"memory_peak_bytes", func(u *usage) { *u.MemoryPeakBytes = 33 << 30 }}, // The node has 16Gi.
		{"memory_peak_bytes", func(u *usage) { *u.MemoryPeakBytes = -1 }},
		{"memory_peak_bytes", func(u *usage) { *u.MemoryPeakBytes = math.MaxInt64 }},
		{"memory_charged_bytes", func(u *usage) { u.MemoryChargedBytes = new(int64(-1)) }},
		{"memory_charged_bytes", func(u *usage) { u.MemoryChargedBytes = new(int64(math.MaxInt64)) }},
		{"throttled", func(u *usage) { u.Throttled = new(math.NaN()) }},
		{"cpu_pressure", func(u *usage) { u.CpuPressure = new(1.5) }},
		{"memory_pressure", func(u *usage) { u.MemoryPressure = new(-0.1) }},
		{"memory_limit_events", func(u *usage) { u.MemoryLimitEvents = new(int64(-1)) }},
	}
	all := []*usage{used("shopweb-x", 1, 300)}
	for _, o := range odd {
		u := used("shopweb-x", 1, 300)
		o.wrong(u)
		all = append(all, u)
	}
	all = append(all, used("bankdb", 4.1, 300))
	got := f.report(all...)
	if got.GetAccepted() != 2 || got.GetRejected() != int64(len(odd)) || len(got.GetErrors()) != len(odd) {
		t.Fatalf("%v", got)
	}
	for i, e := range got.GetErrors() {
		if e.GetIndex() != int64(i+1) || e.GetField() != odd[i].field || e.GetMessage() == "" || len(e.GetMessage()) > 500 {
			t.Errorf("%v, want %s", e, odd[i].field)
		}
	}
}

// bound returns a caller whose token is bound to a node.
func bound(node string) access.Caller {
	return access.Caller{Name: "agent", Extra: map[string][]string{"authentication.kubernetes.io/node-name": {node}}}
}

func aCallerThatIsBoundToANodeReportsOnlyItsPods(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	r := f.service.newReport(bound("a"))
	if err := r.take(&workloadresizerv1.ReportUsageRequest{Usages: []*workloadresizerv1.ContainerUsage{used("shopweb-x", 1, 300), used("shopweb-y", 1, 300), used("unknown", 1, 300)}}); err != nil {
		t.Fatal(err)
	}
	e := r.response.GetErrors()
	if r.response.GetAccepted() != 1 || len(e) != 2 || e[0].GetCode() != workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_CONTAINER_UNKNOWN || e[0].GetCode() != e[1].GetCode() {
		t.Errorf("%v", &r.response)
	}
	// The API server reports that the token is bound to a pod, but not to which node.
	r = f.service.newReport(access.Caller{Extra: map[string][]string{"authentication.kubernetes.io/pod-name": {"agent-1"}}})
	if err := r.take(&workloadresizerv1.ReportUsageRequest{Usages: []*workloadresizerv1.ContainerUsage{used("shopweb-x", 1, 300)}}); err != nil {
		t.Fatal(err)
	}
	if e := r.response.GetErrors(); len(e) != 1 || e[0].GetCode() != workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_NODE_NOT_YOURS {
		t.Errorf("%v", &r.response)
	}
}

func howANodeFaresCountsOnlyFromItself(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	source := push.New()
	f.service.config.Push = source
	for _, tc := range []struct {
		by       access.Caller
		load     float64
		validate bool
	}{{bound("a"), 3, false}, {bound("b"), 4, true}, {access.Caller{}, 5, false}, {bound(""), 6, false}} {
		request := &workloadresizerv1.ReportUsageRequest{NodeUsage: &workloadresizerv1.NodeUsage{VcpuLoad: &tc.load}, ValidateOnly: tc.validate}
		if err := f.service.newReport(tc.by).take(request); err != nil {
			t.Fatal(err)
		}
	}
	got, err := source.ReadNodes(t.Context())
	if err != nil || len(got) != 1 || got[0].At.IsZero() || got[0] != (usagestore.NodeUsage{Node: "a", At: got[0].At, Load: usagestore.ValueOf(3)}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func aContainerThatWasRestartedHasTheUsageFromBefore(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	pods, _ := servertest.ShopPods()
	pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", ContainerID: "containerd://2", LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ContainerID: "containerd://1", Reason: "OOMKilled"},
	}}}
	r := f.service.newReport(access.Caller{})
	r.pods = map[types.UID]*pod.Pod{pods[0].UID: pod.From(&pods[0])}
	var all []*workloadresizerv1.ContainerUsage
	for _, id := range []string{"1", "2", "3"} {
		u := used(string(pods[0].UID), 1, 300)
		u.Container, u.ContainerId = "", id
		all = append(all, u)
	}
	if err := r.take(&workloadresizerv1.ReportUsageRequest{Usages: all}); err != nil {
		t.Fatal(err)
	}
	if e := r.response.GetErrors(); r.response.GetAccepted() != 2 || len(e) != 1 || e[0].GetIndex() != 2 {
		t.Errorf("%v", &r.response)
	}
}

func onlyValidatesIfToldSo(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	f.service.config.DryRun = true
	r := f.service.newReport(access.Caller{})
	request := &workloadresizerv1.ReportUsageRequest{Usages: []*workloadresizerv1.ContainerUsage{used("shopweb-x", 1, 300)}, ValidateOnly: true}
	pushed := &counting{}
	f.service.config.Push = pushed
	if err := r.take(request); err != nil || r.response.GetAccepted() != 1 || pushed.n != 0 {
		t.Errorf("%v, %v, %d samples", &r.response, err, pushed.n)
	}
	request.ValidateOnly = false
	request.NodeUsage = &workloadresizerv1.NodeUsage{}
	r.node = "a"
	if servertest.CheckError(t, r.take(request), codes.FailedPrecondition, "READ_ONLY", "--dry-run"); pushed.nodes != 0 {
		t.Errorf("%d nodes", pushed.nodes)
	}
	f.service.config.DryRun = false
	if err := r.take(request); err != nil || pushed.n != 2 {
		t.Errorf("%v, %d samples", err, pushed.n)
	}
	pushed.err = push.ErrFull
	servertest.CheckError(t, r.take(request), codes.ResourceExhausted, "TOO_MUCH_USAGE", "again later")
}

// Others may fill the source.
func knowsWhoIsAboutToBeKilledEvenIfThereIsNoRoom(t *testing.T) {
	resized := int(time.Since(podtest.Start)/time.Second) - 5
	f := newFixture(t, servertest.All, nil, podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(resized, "app")))
	f.service.config.Push = &counting{err: push.ErrFull}
	urgent := used("shopweb-x", 0, 300)
	urgent.CpuCores, urgent.MeasureDuration = nil, durationpb.New(time.Second)
	err := f.service.newReport(access.Caller{}).take(&workloadresizerv1.ReportUsageRequest{Usages: []*workloadresizerv1.ContainerUsage{urgent}})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MUCH_USAGE", "again later")
	demands := f.parts.Loop.Demands
	if got := demands.Signals(demands.PodsOn("a")["shopweb-x"]).Of("app"); got.Since.Memory.N != 300<<20 {
		t.Errorf("%+v", got)
	}
}

// counting counts what is pushed.
type counting struct {
	n, nodes int
	err      error
}

func (c *counting) PushNode(usagestore.NodeUsage) { c.nodes++ }

func (c *counting) Push(_ string, samples []usagestore.Sample) error {
	if c.err == nil {
		c.n += len(samples)
	}
	return c.err
}

func refusesWhatCannotBeCounted(t *testing.T) {
	f := newFixture(t, servertest.All, nil)
	r := f.service.newReport(access.Caller{})
	r.received = mostUsages
	err := r.take(&workloadresizerv1.ReportUsageRequest{Usages: []*workloadresizerv1.ContainerUsage{used("shopweb-x", 1, 300)}})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "another stream")
	if fields := servertest.FieldsOf(err); !slices.Equal(fields, []string{"usages"}) {
		t.Errorf("%v", fields)
	}
}
