package plan

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// times is a boost by a factor.
func times(n uint64) sizing.Boost { return sizing.Boost{Factor: sizing.Factor{Num: n, Den: 1}} }

// startingBy returns a table like podtest.Table with settings, some of which are turned off.
func startingBy(t testing.TB, settings policy.Settings, off ...string) *ratios.Table {
	t.Helper()
	table, err := ratios.Merge([]*ratios.Layer{{
		Baseline: "n2d",
		Ratios: map[string]ratios.Ratio{
			"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}, "big": {CPUPerf: 2, MemoryPerf: 2}, "fast": {CPUPerf: 4, MemoryPerf: 1}, "slow": {CPUPerf: 0.8, MemoryPerf: 1},
		},
		Settings: keys.Some(settings, off...),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// starting is the life of a pod that starts at second 0, on a node.
type starting struct {
	testing.TB
	planner Planner
	table   *ratios.Table
	node    *corev1.Node
	pod     *corev1.Pod
	seconds int
	demand  need.Demand
	change  func(*Snapshot)
	// resizes is how often it was resized.
	resizes int
	// keys prove with what it was created; nil if it was created as its author wrote it.
	keys *seal.Ring
}

// starts returns a pod that starts, and that is not ready.
func starts(t testing.TB, of *corev1.Pod, nodeType string, table *ratios.Table) *starting {
	of.CreationTimestamp = metav1.NewTime(podtest.At(0))
	of.Status.ContainerStatuses = nil
	for i := range of.Spec.Containers {
		of.Status.ContainerStatuses = append(of.Status.ContainerStatuses, corev1.ContainerStatus{Name: of.Spec.Containers[i].Name, ContainerID: "containerd://1",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(podtest.At(0))}}, Resources: of.Spec.Containers[i].Resources.DeepCopy()})
	}
	of.Status.QOSClass = classOf(of)
	asMadeWith(of)
	s := &starting{TB: t, planner: Planner{OwnerKinds: DefaultOwnerKinds}, table: table, node: podtest.Node(nodeType), pod: of}
	s.ready(false)
	return s
}

// ready makes the pod ready or not now.
func (s *starting) ready(ready bool) {
	s.pod = s.pod.DeepCopy()
	podtest.Readiness(ready, s.seconds)(s.pod)
	for i := range s.pod.Status.ContainerStatuses {
		s.pod.Status.ContainerStatuses[i].Ready = ready
	}
}

func (s *starting) plan() *Plan {
	s.Helper()
	snapshot := snapshotOf(s.TB, s.pod, s.node)
	snapshot.Table, snapshot.Now, snapshot.Demand, snapshot.Pod = s.table, podtest.At(s.seconds), s.demand, pod.FromProven(s.pod, s.keys)
	if s.change != nil {
		s.change(snapshot)
	}
	plan := s.planner.Plan(snapshot)
	if class := plan.classAfter(snapshot.Pod); class != plan.QOSClass {
		s.Errorf("second %d: the pod is %s and would become %s: %s", s.seconds, plan.QOSClass, class, told(plan))
	}
	return plan
}

// settle applies plans until there is nothing to do, and returns the first of them.
func (s *starting) settle() (first *Plan) {
	s.Helper()
	first = s.plan()
	for n, plan := 0, first; plan.Pending(); n, plan = n+1, s.plan() {
		if n == 4 {
			s.Fatalf("second %d: the plans never stop writing: %s", s.seconds, told(plan))
		}
		if plan.Decision == Resize {
			s.resizes++
		}
		s.pod = carriedOut(s.TB, s.pod, plan, s.seconds)
		for i := range s.pod.Status.ContainerStatuses { // The node makes it.
			s.pod.Status.ContainerStatuses[i].Resources = s.pod.Spec.Containers[i].Resources.DeepCopy()
		}
	}
	return first
}

// creates creates the pod for a node type with what is planned for it then, and returns the plan.
func (s *starting) creates(nodeType string, changes ...func(*Snapshot)) *Plan {
	s.Helper()
	s.pod.OwnerReferences[0].UID = "rs-uid"
	asked := snapshotOf(s.TB, s.pod, nil)
	asked.Pod, asked.Table, asked.Now, asked.Demand, asked.Creating = pod.BeingCreated(s.pod, "", podtest.At(0)), s.table, podtest.At(0), s.demand, true
	for _, change := range changes {
		change(asked)
	}
	asked.CreateFor(nodeType)
	made := s.planner.Plan(asked)
	annotations, record, demand := made.Creation(asked.Now)
	if record == "" {
		return made
	}
	s.keys, _ = (*seal.Ring)(nil).Renewed(podtest.At(-60))
	signed, err := s.keys.Sign(seal.SubjectOf(&s.pod.ObjectMeta, s.pod.Namespace), seal.Creation{NodeType: nodeType, At: asked.Now, Sizes: record, Demand: demand})
	if err != nil {
		s.Fatal(err)
	}
	annotations[contract.CreatedSizes] = signed
	s.pod = s.pod.DeepCopy()
	s.pod.Annotations = annotations
	for i := range made.Containers {
		c, r := &made.Containers[i].Desired, &s.pod.Spec.Containers[i].Resources
		for list, amounts := range map[*corev1.ResourceList][2]int64{&r.Requests: {c.CPU.Request, c.Memory.Request}, &r.Limits: {c.CPU.Limit, c.Memory.Limit}} {
			if amounts[0] != 0 {
				(*list)[corev1.ResourceCPU] = *resource.NewMilliQuantity(amounts[0], resource.DecimalSI)
			}
			if amounts[1] != 0 {
				(*list)[corev1.ResourceMemory] = *resource.NewQuantity(amounts[1], resource.BinarySI)
			}
		}
		s.pod.Status.ContainerStatuses[i].Resources = r.DeepCopy()
	}
	asMadeWith(s.pod)
	return made
}

func (s *starting) has() string { return podtest.SizesOf(s.pod) }

func boostOnly(by sizing.Boost) policy.Settings {
	return policy.Settings{Startup: policy.Startup{CPU: by}}
}

func TestBoost(t *testing.T) {
	guaranteed, burstable := podtest.Guaranteed, podtest.Amounts{"1", "2", "1Gi", "2Gi"}
	readySince := func(seconds int) func(*starting) {
		return func(s *starting) {
			s.seconds = seconds
			s.ready(true)
			s.seconds = 100
		}
	}
	for _, tc := range []struct {
		name     string
		size     podtest.Amounts
		node     string
		settings policy.Settings
		change   func(*starting)
		want     podtest.Amounts
		cause    Cause
		reasons  []contract.Reason
		// again is when the pod is planned again; 0 if it is not.
		again int
	}{
		{name: "multiplies what is needed", size: burstable, node: "n4", settings: boostOnly(times(3)), want: podtest.Amounts{"2400m", "4800m", "1Gi", "2Gi"}, cause: ByBoost, again: 300},
		{name: "adds to what is needed", size: burstable, node: "n4", settings: boostOnly(sizing.Boost{More: 500}), want: podtest.Amounts{"1200m", "2400m", "1Gi", "2Gi"}, cause: ByBoost, again: 300},
		{name: "raises the limit of a Guaranteed pod", size: guaranteed, node: "n2d", settings: boostOnly(times(3)), want: podtest.Amounts{"3", "3", "1Gi", "1Gi"}, cause: ByBoost, again: 300},
		{name: "may be one of the limit alone, which takes no room", size: burstable, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPULimit: times(3)}}, change: func(s *starting) { s.node = roomFor("n4", "1", "8Gi") },
			want: podtest.Amounts{"800m", "4800m", "1Gi", "2Gi"}, cause: ByBoost, again: 300},
		{name: "may raise the limit more than the request", size: burstable, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPU: times(2), CPULimit: times(3)}},
			want: podtest.Amounts{"1600m", "4800m", "1Gi", "2Gi"}, cause: ByBoost, again: 300},
		{name: "of a limit alone needs a limit", size: podtest.Amounts{"1", "", "1Gi", ""}, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPULimit: times(3)}}, want: podtest.Amounts{"800m", "", "1Gi", ""}, cause: ByRatio},
		{name: "of a limit alone is not for a Guaranteed pod", size: guaranteed, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPULimit: times(3)}}, want: podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, cause: ByRatio, reasons: []contract.Reason{contract.StartupBoost}},
		{name: "of a limit as much as of the request is for a Guaranteed pod", size: guaranteed, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPU: times(3), CPULimit: times(3)}}, want: podtest.Amounts{"2400m", "2400m", "1Gi", "1Gi"}, cause: ByBoost, again: 300},
		{name: "of a limit alone comes after what is needed", size: burstable, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPULimit: times(3)}}, change: func(s *starting) {
			s.change = func(s *Snapshot) {
				s.Around.LimitRanges = []*corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "most"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
					Type: corev1.LimitTypeContainer, MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
				}}}}}
			}
		}, want: burstable, reasons: []contract.Reason{contract.LimitRangeViolation}, again: 300},
		{name: "leaves memory to its ratio", size: guaranteed, node: "big", settings: boostOnly(times(3)), want: podtest.Amounts{"1500m", "1500m", "512Mi", "512Mi"}, cause: ByBoost, again: 300},
		{name: "needs no limit", size: podtest.Amounts{"1", "", "1Gi", ""}, node: "slow", settings: boostOnly(times(2)), want: podtest.Amounts{"2500m", "", "1Gi", ""}, cause: ByBoost, again: 300},
		{name: "ends at a bound", size: burstable, node: "n2d", settings: policy.Settings{Startup: policy.Startup{CPU: times(3)}, Bounds: policy.Bounds{CPU: sizing.Range{Max: 2000}}},
			want: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, cause: ByBoost, reasons: []contract.Reason{contract.BoundsClamped}, again: 300},
		{name: "needs a request", size: podtest.Amounts{"", "", "1Gi", ""}, node: "big", settings: boostOnly(times(3)), want: podtest.Amounts{"", "", "512Mi", ""}},
		{name: "may be too little to make up for a faster node", size: burstable, node: "fast", settings: boostOnly(times(3)), want: podtest.Amounts{"750m", "1500m", "1Gi", "2Gi"}, cause: ByBoost, again: 300},
		{name: "is nothing by default", size: burstable, node: "n4", want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio},
		{name: "is over for a ready pod", size: burstable, node: "n4", settings: boostOnly(times(3)), change: readySince(99), want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio},
		{name: "may last longer than until a pod is ready", size: burstable, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPU: times(3), AfterReady: 20 * time.Second}}, change: readySince(90),
			want: podtest.Amounts{"2400m", "4800m", "1Gi", "2Gi"}, cause: ByBoost, again: 110},
		{name: "lasts no longer than a maximum", size: burstable, node: "n4", settings: policy.Settings{Startup: policy.Startup{CPU: times(3), AfterReady: 20 * time.Second, AtMost: 105 * time.Second}}, change: readySince(90),
			want: podtest.Amounts{"2400m", "4800m", "1Gi", "2Gi"}, cause: ByBoost, again: 105},
		{name: "is over for an older pod", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) { s.seconds = 300 }, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio},
		{name: "is not for a pod that starts in the far future", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) {
			s.pod.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(podtest.At(400))
		}, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio},
		{name: "is for a pod whose node has a clock that is ahead", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) {
			s.pod.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(podtest.At(100))
		}, want: podtest.Amounts{"2400m", "4800m", "1Gi", "2Gi"}, cause: ByBoost, again: 400},
		{name: "is not what a pod gets in the end", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) { s.change = func(s *Snapshot) { s.InTheEnd = true } },
			want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio},
		{name: "is not what a pod gets on an imagined node", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) { s.change = func(s *Snapshot) { s.Imagine("n4") } },
			want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio},
		{name: "needs a time", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) { s.change = func(s *Snapshot) { s.Now = time.Time{} } },
			want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio},
		{name: "cannot be taken back if that restarts the container", size: burstable, node: "n2d", settings: boostOnly(times(3)), change: func(s *starting) { restarts(corev1.ResourceCPU)(s.pod) },
			want: burstable, reasons: []contract.Reason{contract.RestartRequired}},
		{name: "is not made at creation either then, when all else may change", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) {
			restarts(corev1.ResourceCPU)(s.pod)
			s.change = func(s *Snapshot) {
				s.Creating = true
				s.CreateFor("n4")
			}
		}, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio, reasons: []contract.Reason{contract.RestartRequired}},
		{name: "needs room", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) { s.node = roomFor("n4", "2", "8Gi") },
			want: burstable, reasons: []contract.Reason{contract.NodeCapacity}, again: 300},
		{name: "comes after what is needed", size: burstable, node: "slow", settings: boostOnly(times(3)), change: func(s *starting) { s.node = roomFor("slow", "2", "8Gi") },
			want: podtest.Amounts{"1250m", "2500m", "1Gi", "2Gi"}, cause: ByRatio, reasons: []contract.Reason{contract.NodeCapacity}, again: 300},
		{name: "comes after what is needed at creation, too", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) {
			s.change = func(s *Snapshot) {
				s.Creating = true
				s.CreateFor("n4")
				amounts, used := corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("2")}, corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("1")}
				s.Around.Quotas = []*corev1.ResourceQuota{{Spec: corev1.ResourceQuotaSpec{Hard: amounts}, Status: corev1.ResourceQuotaStatus{Hard: amounts, Used: used}}}
			}
		}, want: podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}, cause: ByRatio, reasons: []contract.Reason{contract.QuotaExceeded}, again: 300},
		{name: "needs a quota", size: burstable, node: "n4", settings: boostOnly(times(3)), change: func(s *starting) {
			s.change = func(s *Snapshot) {
				amounts := corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("2")}
				used := corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("1")}
				s.Around.Quotas = []*corev1.ResourceQuota{{Spec: corev1.ResourceQuotaSpec{Hard: amounts}, Status: corev1.ResourceQuotaStatus{Hard: amounts, Used: used}}}
			}
		}, want: burstable, reasons: []contract.Reason{contract.QuotaExceeded}, again: 300},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := starts(t, podtest.Pod(tc.size), tc.node, startingBy(t, tc.settings))
			if tc.change != nil {
				tc.change(s)
			}
			plan := s.plan()
			c, reasons := plan.Containers[0], tc.reasons
			if tc.cause == ByBoost {
				reasons = append(slices.Clip(reasons), contract.StartupBoost)
			}
			if c.Desired != tc.want.Container() || c.Causes[sizing.CPU.Index] != tc.cause || !slices.Equal(codes(plan), reasons) {
				t.Errorf("got %s, want %+v by %v, because of %v", told(plan), tc.want.Container(), tc.cause, reasons)
			}
			if want := podtest.At(tc.again); !plan.ReplanAt.Equal(want) && (tc.again != 0 || !plan.ReplanAt.IsZero()) {
				t.Errorf("it is planned again at %v, want %v", plan.ReplanAt, want)
			}
		})
	}
}

// A pod gets more cpu when it starts, keeps that while it starts, and has what it needs after that.
func TestBoostedLife(t *testing.T) {
	amounts := podtest.Amounts{"1", "2", "1Gi", "2Gi"}
	three := boostOnly(times(3))
	sizes := func(a podtest.Amounts) string { return podtest.SizesOf(podtest.Pod(a)) }
	boosted, after := sizes(podtest.Amounts{"2400m", "4800m", "1Gi", "2Gi"}), sizes(podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"})
	boosts := func(t *testing.T, settings policy.Settings, off ...string) *starting {
		s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, settings, off...))
		s.seconds = 10
		if first := s.settle(); s.has() != boosted || first.Paced() || !strings.Contains(first.Outcome()[0].Message, "app: cpu is boosted until its pod has started, and until 2026-11-21T00:05:00Z at most") {
			t.Fatalf("it has %s: %s; says %v", s.has(), told(first), first.Outcome())
		}
		return s
	}
	// ends plans the end of a boost, which waits for nothing.
	ends := func(s *starting, want string) *Plan {
		s.Helper()
		first := s.settle()
		if s.has() != want || first.Paced() || len(first.Claims) > 0 || first.Containers[0].Causes[sizing.CPU.Index] != ByBoost {
			s.Errorf("it has %s, want %s: %s", s.has(), want, told(first))
		}
		return first
	}
	t.Run("ends when the pod is ready", func(t *testing.T) {
		s := boosts(t, three)
		s.seconds = 20
		s.ready(true)
		s.seconds = 21
		if first := ends(s, after); !strings.Contains(first.Outcome()[0].Message, "app: cpu is no longer boosted") {
			t.Errorf("says %v", first.Outcome())
		}
	})
	t.Run("ends although the pod is never ready", func(t *testing.T) {
		s := boosts(t, three)
		for s.seconds = 20; s.seconds < 300; s.seconds += 20 {
			if plan := s.settle(); s.has() != boosted || !plan.ReplanAt.Equal(podtest.At(300)) {
				t.Fatalf("second %d: %s", s.seconds, told(plan))
			}
		}
		s.seconds = 300
		ends(s, after)
	})
	t.Run("happens once, however often the pod becomes unready", func(t *testing.T) {
		s := boosts(t, three)
		for s.seconds = 20; s.seconds < 290; s.seconds += 20 {
			s.ready(s.seconds%40 == 20)
			if s.settle(); s.has() != after {
				t.Fatalf("second %d: it has %s", s.seconds, s.has())
			}
		}
		if s.resizes != 2 {
			t.Errorf("it was resized %d times", s.resizes)
		}
	})
	t.Run("begins again for no pod that was resized without it", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, policy.Settings{}))
		s.seconds = 10
		s.settle()
		s.table, s.seconds = startingBy(t, three), 20
		if s.settle(); s.has() != after {
			t.Errorf("it has %s", s.has())
		}
	})
	t.Run("ends when it is no longer configured", func(t *testing.T) {
		s := boosts(t, three)
		s.table = startingBy(t, policy.Settings{})
		ends(s, after)
	})
	t.Run("stays as it is if another boost is configured", func(t *testing.T) {
		s := boosts(t, three)
		s.table = startingBy(t, boostOnly(times(2)))
		if s.settle(); s.has() != boosted {
			t.Errorf("it has %s", s.has())
		}
	})
	t.Run("ends at a new bound", func(t *testing.T) {
		s := boosts(t, three)
		s.table = startingBy(t, policy.Settings{Startup: three.Startup, Bounds: policy.Bounds{CPU: sizing.Range{Max: 1600}}})
		if s.settle(); s.has() != sizes(podtest.Amounts{"1600m", "3200m", "1Gi", "2Gi"}) {
			t.Errorf("it has %s", s.has())
		}
		s.seconds = 300
		ends(s, after)
	})
	t.Run("ends outside of a schedule, and nothing else changes", func(t *testing.T) {
		s := boosts(t, three)
		days, err := schedule.ParseDays("Sun")
		if err != nil {
			t.Fatal(err)
		}
		sundays, err := schedule.New(days, 0, 24*60, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		closed := policy.Settings{Startup: three.Startup, Guard: policy.Guard{Schedule: schedule.Schedule{sundays}}, Bounds: policy.Bounds{Memory: sizing.Range{Min: 2 << 30}}}
		s.table, s.seconds = startingBy(t, closed), 300
		first := ends(s, after)
		if plan := s.plan(); first.Partial != contract.OutsideSchedule || plan.Decision != Skip || plan.Reasons[0].Code != contract.OutsideSchedule {
			t.Errorf("it ends by %s; then: %s", told(first), told(plan))
		}
	})
	t.Run("ends although a breaker is open", func(t *testing.T) {
		s := boosts(t, three)
		s.change, s.seconds = func(s *Snapshot) { s.Degraded = &Stop{Reason: "a breaker is open"} }, 300
		ends(s, after)
	})
	t.Run("begins neither outside of a schedule nor while a breaker is open", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, three))
		s.change = func(s *Snapshot) { s.Degraded = &Stop{Reason: "a breaker is open"} }
		if plan := s.plan(); plan.Decision != Skip || plan.Reasons[0].Code != contract.Degraded {
			t.Errorf("%s", told(plan))
		}
	})
	t.Run("ends without a trial, unless the size hurt another pod", func(t *testing.T) {
		hurt := podtest.Pod(podtest.Amounts{"1", "2", "1Gi", "2Gi"}, podtest.Annotated("reverted", `[{"at":"2026-11-21T00:00:50Z","container":"app","resource":"cpu","hurt":"800m/1600m","back":"1/2","times":1,"harm":"CPUPressure","message":"slow"}]`),
			podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(51, "app"), podtest.Managed(contract.FieldManager, "", 52, contract.Reverts)))
		hurt.Name, hurt.UID = "hurt", "hurt"
		well := hurt.DeepCopy()
		well.Annotations = nil
		for other, want := range map[*corev1.Pod]string{well: after, hurt: sizes(amounts)} {
			s := boosts(t, three)
			s.change = func(s *Snapshot) {
				all := []*pod.Pod{pod.From(other), s.Pod}
				node := s.Around.Node
				s.Siblings, s.NodeOf = func() []*pod.Pod { return all }, func(*pod.Pod) *corev1.Node { return node }
			}
			s.seconds = 300
			first := s.settle()
			if s.has() != want || first.Containers[0].Causes[sizing.CPU.Index] != ByBoost {
				t.Errorf("it has %s, want %s: %s", s.has(), want, told(first))
			}
		}
	})
	t.Run("ends immediately where sizes are lowered in steps: these begin where it began", func(t *testing.T) {
		s := boosts(t, policy.Settings{Startup: three.Startup, Guard: policy.Guard{MaxChange: 0.1, MaxUnproven: policy.AllPods}})
		s.change = func(s *Snapshot) { s.Siblings = func() []*pod.Pod { return nil } }
		s.seconds = 300
		ends(s, sizes(podtest.Amounts{"900m", "1800m", "1Gi", "2Gi"}))
		s.seconds = 1000
		if s.settle(); s.has() != sizes(podtest.Amounts{"810m", "1620m", "1Gi", "2Gi"}) {
			t.Errorf("it has %s", s.has())
		}
	})
	t.Run("ends by what usage shows, or without knowing it", func(t *testing.T) {
		for name, tc := range map[string]struct {
			starts, ends need.Demand
			boosted      podtest.Amounts
			want         podtest.Amounts
		}{
			"usage shows less":            {showing(), showing(), podtest.Amounts{"1200m", "2400m", "1Gi", "2Gi"}, podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}},
			"too little is known":         {tooLittle(), tooLittle(), podtest.Amounts{"2400m", "4800m", "1Gi", "2Gi"}, podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}},
			"nothing is known":            {need.Unknown{}, need.Unknown{}, podtest.Amounts{"2400m", "4800m", "1Gi", "2Gi"}, podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}},
			"nothing is known any longer": {showing(), need.Unknown{}, podtest.Amounts{"1200m", "2400m", "1Gi", "2Gi"}, podtest.Amounts{"800m", "1600m", "1Gi", "2Gi"}},
		} {
			s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, three))
			s.seconds, s.demand = 10, tc.starts
			first := s.settle()
			if s.has() != sizes(tc.boosted) {
				t.Errorf("%s: it has %s, want %s: %s", name, s.has(), sizes(tc.boosted), told(first))
			}
			s.seconds, s.demand = 300, tc.ends
			if first = s.settle(); s.has() != sizes(tc.want) {
				t.Errorf("%s: it has %s in the end, want %s: %s", name, s.has(), sizes(tc.want), told(first))
			}
		}
	})
	t.Run("is the same after a crash before the record was written", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, three))
		s.seconds = 10
		plan := s.plan()
		for _, w := range actionsAt(plan, podtest.At(10))[:2] {
			subresource := ""
			if w.Step.Resizes() {
				subresource = contract.ResizeSubresource
			}
			after := patched(t, s.pod, plan.Patch(w, plan.ResourceVersion))
			after.ManagedFields = owning(s.pod, after, contract.FieldManager, subresource, 10)
			s.pod = after
		}
		if s.settle(); s.has() != boosted || !pod.From(s.pod).HasBoost() {
			t.Fatalf("it has %s, %v", s.has(), s.pod.Annotations)
		}
		s.seconds = 300
		ends(s, after)
	})
	t.Run("is no size that the guard reverts to, nor compares with", func(t *testing.T) {
		s := boosts(t, three)
		s.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		s.seconds = 60
		s.ready(true)
		s.settle()
		changes := guard.Changes(pod.From(s.pod), 5*time.Minute)
		if len(changes) != 1 || !changes[0].Unboosts || changes[0].From != (sizing.Amount{Request: 1000, Limit: 2000}) || changes[0].To != (sizing.Amount{Request: 800, Limit: 1600}) {
			t.Fatalf("the guard sees %+v", changes)
		}
		strained := guard.Fared{Before: guard.Strain{Throttled: guard.Of(0), CPUPressure: guard.Of(0)}, Since: guard.Strain{Throttled: guard.Of(0.9), CPUPressure: guard.Of(0.9)}}
		s.change = func(s *Snapshot) { s.Signals = guard.Signals{Of: func(string) guard.Fared { return strained }} }
		s.seconds = 100
		if plan := s.plan(); plan.Pending() {
			t.Errorf("a pod that waits for cpu after its boost: %s", told(plan))
		}
		// It is blamed for what other resizes are blamed for, and then gets what its author wrote.
		s.ready(false)
		s.seconds = 170
		if plan := s.settle(); plan.Kind != Revert || s.has() != sizes(amounts) {
			t.Errorf("a pod that becomes unready after its boost has %s: %s", s.has(), told(plan))
		}
		s.seconds = 180
		if plan := s.settle(); s.has() != sizes(amounts) {
			t.Errorf("after a revert, it has %s: %s", s.has(), told(plan))
		}
	})
	t.Run("that ends at the size before it is nothing to observe", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n2d", startingBy(t, three))
		s.seconds = 10
		s.settle()
		s.seconds = 300
		ends(s, sizes(amounts))
		if changes := guard.Changes(pod.From(s.pod), 5*time.Minute); len(changes) > 0 {
			t.Errorf("the guard sees %+v", changes)
		}
	})
	t.Run("is over when a pod whose size it is needs as much", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n2d", startingBy(t, boostOnly(sizing.Boost{Factor: sizing.Factor{Num: 5, Den: 4}})))
		s.seconds = 10
		s.settle()
		s.node, s.seconds = podtest.Node("slow"), 300
		if s.settle(); s.has() != sizes(podtest.Amounts{"1250m", "2500m", "1Gi", "2Gi"}) || pod.From(s.pod).HasBoost() {
			t.Errorf("it has %s, %v", s.has(), s.pod.Annotations)
		}
	})
	t.Run("may begin at the creation of a pod", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, three))
		made := s.creates("n4")
		if _, record, _ := made.Creation(podtest.At(0)); record != "app 0 cpu 1/2>2400m/4800m+boost memory 1Gi/2Gi" {
			t.Fatalf("recorded as %q: %s", record, told(made))
		}
		s.seconds = 10
		said := func(p *Plan) Reason { return p.AtCreation(pod.FromProven(s.pod, s.keys)) }
		if first := s.settle(); s.has() != boosted || !strings.Contains(said(first).Message, "at its creation, for node type n4") || !strings.Contains(said(first).Message, "cpu is boosted until") || !first.ReplanAt.Equal(podtest.At(300)) {
			t.Errorf("it has %s: %s; says %v", s.has(), told(first), said(first))
		}
		s.ready(true)
		s.seconds = 11
		ends(s, after)
		s.ready(false)
		if s.settle(); s.has() != after {
			t.Errorf("unready again, it has %s", s.has())
		}
	})
	t.Run("ends although the ratio of its node type is missing by then", func(t *testing.T) {
		for _, created := range []bool{false, true} {
			s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, three))
			if created {
				s.creates("n4")
			}
			s.seconds = 10
			s.settle()
			s.node.Labels["cloud.google.com/machine-family"] = "c3"
			if plan := s.settle(); s.has() != boosted || !plan.ReplanAt.Equal(podtest.At(300)) {
				t.Errorf("while it starts, it has %s: %s", s.has(), told(plan))
			}
			s.seconds = 300
			first := ends(s, sizes(amounts))
			if plan := s.plan(); !slices.Contains(codes(first), contract.UnknownNodeType) || plan.Decision != Skip || plan.Pending() || pod.FromProven(s.pod, s.keys).HasBoost() {
				t.Errorf("it ends by %s; then %s", told(first), told(plan))
			}
		}
	})
	t.Run("may be the size that a pod has, which is new when it ends", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, boostOnly(sizing.Boost{Factor: sizing.Factor{Num: 5, Den: 4}})))
		s.seconds = 10
		if plan := s.plan(); plan.Pending() || plan.Decision != Align || !plan.ReplanAt.Equal(podtest.At(300)) {
			t.Errorf("%s", told(plan))
		}
		s.ready(true)
		if plan := s.settle(); s.has() != after || !plan.Begins() {
			t.Errorf("it has %s: %s", s.has(), told(plan))
		}
	})
	t.Run("ends without a turn, even if more than cpu changes then", func(t *testing.T) {
		s := boosts(t, three)
		s.table, s.seconds = startingBy(t, policy.Settings{Startup: three.Startup, Bounds: policy.Bounds{Memory: sizing.Range{Min: 2 << 30}}}), 300
		ends(s, sizes(podtest.Amounts{"800m", "1600m", "2Gi", "2049Mi"}))
	})
	t.Run("stays where it fits although memory does not", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n2d", startingBy(t, three))
		more := showing()
		more.needs["app"].CPU.Target, more.needs["app"].CPU.Lower, more.needs["app"].CPU.Upper = 1500, 1400, 1600
		more.needs["app"].Memory.Target, more.needs["app"].Memory.Lower, more.needs["app"].Memory.Upper = 4<<30, 3<<30, 5<<30
		s.demand, s.node, s.seconds = more, roomFor("n2d", "8", "2Gi"), 10
		if first := s.settle(); s.has() != sizes(podtest.Amounts{"4500m", "9", "1Gi", "2Gi"}) {
			t.Errorf("it has %s: %s", s.has(), told(first))
		}
	})
	t.Run("does not outlast a restore", func(t *testing.T) {
		s := boosts(t, three)
		s.change = func(s *Snapshot) { s.Restore = true }
		if s.settle(); s.has() != sizes(amounts) || pod.From(s.pod).Marked() {
			t.Errorf("it has %s, %v", s.has(), s.pod.Annotations)
		}
	})
}

// A pod that is being created with a boost ends with what it would have without.
func TestBoostAtCreation(t *testing.T) {
	amounts := podtest.Amounts{"1", "2", "1Gi", "2Gi"}
	size := func(cpu, limit string) string {
		return podtest.SizesOf(podtest.Pod(podtest.Amounts{cpu, limit, "1Gi", "2Gi"}))
	}
	quota := func(most string) func(*Snapshot) {
		return func(s *Snapshot) {
			hard, used := corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse(most)}, corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("1")}
			s.Around.Quotas = []*corev1.ResourceQuota{{Spec: corev1.ResourceQuotaSpec{Hard: hard}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}}}
		}
	}
	// initially returns settings by which usage sizes pods only when they are created.
	initially := func(by sizing.Boost) policy.Settings {
		return policy.Settings{Startup: policy.Startup{CPU: by}, Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial}}
	}
	cpuOnly := func() *shown {
		d := showing()
		d.needs["app"].Memory = need.Recommendation{Rules: d.needs["app"].Memory.Rules}
		return d
	}
	t.Run("a part of a boost is none", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n2d", startingBy(t, boostOnly(times(3))))
		if made := s.creates("n2d", quota("2500m")); s.has() != size("1", "2") {
			t.Errorf("created with %s: %s", s.has(), told(made))
		}
	})
	t.Run("no node has room for it", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "n4", startingBy(t, boostOnly(times(3))))
		s.creates("n4")
		s.pod.Spec.NodeName, s.pod.Status.Phase = "", corev1.PodPending
		s.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.NewTime(podtest.At(2))}}
		s.seconds = 12
		if plan := s.settle(); s.has() != size("1", "2") {
			t.Errorf("it has %s: %s", s.has(), told(plan))
		}
	})
	t.Run("outlasts the revert of memory, and ends then", func(t *testing.T) {
		for _, created := range []bool{true, false} {
			s := starts(t, podtest.Pod(amounts), "big", startingBy(t, boostOnly(times(3))))
			s.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			if created {
				s.creates("big")
			}
			s.seconds = 10
			if s.settle(); s.has() != podtest.SizesOf(podtest.Pod(podtest.Amounts{"1500m", "3", "512Mi", "1Gi"})) {
				t.Fatalf("it has %s", s.has())
			}
			s.pod.Status.ContainerStatuses[0].RestartCount = 1
			s.pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(podtest.At(40))}
			s.pod.Status.StartTime = new(metav1.NewTime(podtest.At(0)))
			s.seconds = 60
			if first := s.settle(); first.Kind != Revert || s.has() != size("1500m", "3") {
				t.Errorf("it has %s: %s", s.has(), told(first))
			}
			for s.seconds = 70; s.seconds < 300; s.seconds += 50 {
				if plan := s.settle(); s.has() != size("1500m", "3") || plan.ReplanAt.After(podtest.At(300)) {
					t.Errorf("second %d: it has %s: %s", s.seconds, s.has(), told(plan))
				}
			}
			s.seconds = 300
			if plan := s.settle(); s.has() != size("500m", "1") || plan.Paced() {
				t.Errorf("then, it has %s: %s", s.has(), told(plan))
			}
		}
	})
	t.Run("a size that it needs when the boost ends is no longer recorded as boosted, and nothing is written", func(t *testing.T) {
		s := starts(t, podtest.Pod(amounts), "slow", startingBy(t, boostOnly(sizing.Boost{Factor: sizing.Factor{Num: 5, Den: 4}})))
		s.creates("n2d")
		s.seconds = 300
		if s.settle(); s.has() != size("1250m", "2500m") || s.plan().Pending() {
			t.Errorf("it has %s: %s", s.has(), told(s.plan()))
		}
	})
	for _, tc := range []struct {
		name     string
		settings policy.Settings
		node     string
		change   func(*shown)
		created  []func(*Snapshot)
		// has is what it is created with, starts what it has while it starts, and ends what it has then.
		has, starts, ends string
	}{
		{"usage for new pods only", initially(times(3)), "n4", nil, nil, size("1200m", "2400m"), size("1200m", "2400m"), size("400m", "800m")},
		{"whose boost is what the author wrote", initially(times(2)), "n2d", nil, nil, size("500m", "1"), size("1", "2"), size("500m", "1")},
		{"whose boost is what the author wrote, scaled", initially(times(2)), "n4", nil, nil, size("800m", "1600m"), size("800m", "1600m"), size("400m", "800m")},
		{"whose boost has no room in the quota when it is created", initially(times(3)), "n2d", nil, []func(*Snapshot){quota("1200m")}, size("500m", "1"), size("1500m", "3"), size("500m", "1")},
		{"of which too little is known", initially(times(3)), "n4", func(d *shown) { d.needs["app"].CPU.Keeps = "too little is known" }, nil, size("2400m", "4800m"), size("2400m", "4800m"), size("800m", "1600m")},
		{"of which too little is known, for all pods", boostOnly(times(3)), "n4", func(d *shown) { d.needs["app"].CPU.Keeps = "too little is known" }, nil, size("2400m", "4800m"), size("2400m", "4800m"), size("800m", "1600m")},
		{"whose limit stays", policy.Settings{Startup: policy.Startup{CPU: times(3)}, Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial, CPU: policy.ResourceDemand{Limit: "keep"}}}, "n2d", func(d *shown) {
			d.needs["app"].CPU.Rules.Limits.CPU = need.Keep
		}, nil, size("1500m", "3"), size("1500m", "3"), size("500m", "2")},
		{"of which too little is known, next to a bound", policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Max: 600}}, Startup: policy.Startup{CPULimit: times(3)}, Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial, CPU: policy.ResourceDemand{Limit: "keep"}}}, "n2d", func(d *shown) {
			d.needs["app"].CPU.Rules.Limits.CPU, d.needs["app"].CPU.Keeps = need.Keep, "too little is known"
		}, nil, size("600m", "6"), size("600m", "6"), size("600m", "2")},
		{"which needs as much as its author wrote, without a boost", policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Max: 1000}}, Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial}}, "n4", func(d *shown) {
			d.needs["app"].CPU.Target = 2000
		}, nil, size("1", "2"), size("1", "2"), size("1", "2")},
		{"which needs as much here as its author wrote for the baseline", policy.Settings{Startup: policy.Startup{CPU: times(3)}, Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Initial, CPU: policy.ResourceDemand{Limit: "keep"}}}, "n4", func(d *shown) {
			d.needs["app"].CPU.Rules.Limits.CPU, d.needs["app"].CPU.Target = need.Keep, 1250
		}, nil, size("3", "6"), size("3", "6"), size("1", "2")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, shows := starts(t, podtest.Pod(amounts), tc.node, startingBy(t, tc.settings)), cpuOnly()
			if tc.change != nil {
				tc.change(shows)
			}
			s.demand = shows
			if made := s.creates(tc.node, tc.created...); s.has() != tc.has {
				t.Errorf("created with %s, want %s: %s", s.has(), tc.has, told(made))
			}
			if s.seconds = 10; tc.settings.Demand.Mode == policy.Initial {
				s.demand = nil
			}
			if plan := s.settle(); s.has() != tc.starts {
				t.Errorf("while it starts, it has %s, want %s: %s", s.has(), tc.starts, told(plan))
			}
			for _, s.seconds = range []int{300, 1000} {
				if plan := s.settle(); s.has() != tc.ends {
					t.Errorf("second %d: it has %s, want %s: %s", s.seconds, s.has(), tc.ends, told(plan))
				}
			}
		})
	}
}

// tooLittle returns that the container app needs 500m and 1Gi, as far as is known of its cpu.
func tooLittle() *shown {
	d := showing()
	d.needs["app"].CPU.Keeps = "too little is known"
	return d
}

// After its boost, a pod has exactly what it would have without: compared with a pod of the same life that gets none.
func TestBoostedLives(t *testing.T) {
	const lives = 600
	boosted, ended := 0, 0
	for seed := range lives {
		a := arbitrary{rand.New(rand.NewPCG(uint64(seed), 101))}
		settings := policy.Settings{}
		if a.oneIn(3) {
			settings.Bounds = policy.Bounds{CPU: a.bounds(4000), Memory: a.bounds(4 << 30)}
		}
		without := startingBy(t, settings, "guard.enabled")
		settings.Startup = policy.Startup{
			CPU:        at(a, times(3), times(2), sizing.Boost{Factor: sizing.Factor{Num: 1500, Den: 1000}}, sizing.Boost{More: 500}, sizing.Boost{More: 1}, sizing.Boost{More: 64_000}),
			CPULimit:   at(a, sizing.Boost{}, sizing.Boost{}, times(4), sizing.Boost{More: 2000}),
			AfterReady: at(a, 0, 0, 20*time.Second), AtMost: at(a, time.Minute, 4*time.Minute),
		}
		created, nodeType := a.smallPod(), at(a, "n2d", "n4", "big", "fast", "slow")
		s, twin := starts(t, created.DeepCopy(), nodeType, startingBy(t, settings, "guard.enabled")), starts(t, created.DeepCopy(), nodeType, without)
		if a.oneIn(2) {
			demand := a.demand(0).(*shown)
			demand.resized = need.Resized{}
			s.demand, twin.demand = demand, demand
		}
		changes := map[string]int{}
		for range 3 + a.IntN(15) {
			by, ready, plans := 1+a.IntN(30), a.oneIn(2), a.oneIn(2)
			s.seconds, twin.seconds = s.seconds+by, twin.seconds+by
			if a.oneIn(3) {
				s.ready(ready)
				twin.ready(ready)
			}
			if !plans {
				continue
			}
			plan := s.plan()
			for i := range plan.Containers {
				if c := &plan.Containers[i]; c.Desired.CPU != c.Current.CPU {
					changes[c.Name]++
				}
			}
			if plan.causedBy(ByBoost) {
				boosted++
			}
			if s.demand == nil && plan.Pending() {
				s.pod = partly(t, a, s.pod, plan, s.seconds)
			} else {
				s.settle()
			}
			twin.settle()
		}
		later := 240 + a.IntN(50) // The pod is new until second 300, as it was when it was sized first.
		s.seconds, twin.seconds = max(s.seconds, later), max(twin.seconds, later)
		if plan := s.settle(); plan.causedBy(ByBoost) {
			ended++
		}
		twin.settle()
		if !slices.Equal(sizesOf(s.pod), sizesOf(twin.pod)) {
			t.Errorf("seed %d: on %s, by %+v: it has %s in the end, and without a boost %s; %v", seed, nodeType, settings.Startup, s.has(), twin.has(), s.pod.Annotations)
		}
		if was, is := originalsOf(twin.pod), originalsOf(s.pod); s.resizes > 0 && twin.resizes > 0 && !maps.Equal(was, is) {
			t.Errorf("seed %d: the originals are %v, and without a boost %v", seed, is, was)
		}
		for name, n := range changes {
			if s.demand != nil && n > 2 {
				t.Errorf("seed %d: the cpu of %s changed %d times", seed, name, n)
			}
		}
		if s.plan().Pending() || pod.From(s.pod).HasBoost() {
			t.Errorf("seed %d: by %+v, it is never over: %s; %s, %v", seed, settings.Startup, s.has(), told(s.plan()), s.pod.Annotations)
		}
		s.change = func(s *Snapshot) { s.Restore = true }
		s.settle()
		if !slices.Equal(sizesOf(s.pod), sizesOf(created)) {
			t.Errorf("seed %d: it has %s after a restore, and had %s", seed, s.has(), podtest.SizesOf(created))
		}
		if t.Failed() {
			return
		}
	}
	if boosted < lives/2 || ended < lives/20 {
		t.Errorf("of %d lives, %d plans boost, and %d end that last", lives, boosted, ended)
	}
}

// After its boost, a pod that was created with one, or without because of a quota, has what it would have without.
func TestBoostedCreations(t *testing.T) {
	const lives = 600
	boosted := 0
	for seed := range lives {
		a := arbitrary{rand.New(rand.NewPCG(uint64(seed), 102))}
		settings := policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: at(a, policy.Observe, policy.Initial, policy.Apply), CPU: policy.ResourceDemand{Limit: at(a, "follow", "keep")}}}
		if a.oneIn(3) {
			settings.Bounds = policy.Bounds{CPU: a.bounds(4000)}
		}
		without := startingBy(t, settings, "guard.enabled")
		settings.Startup = policy.Startup{CPU: at(a, times(3), times(2), sizing.Boost{More: 500}, sizing.Boost{More: 64_000}), CPULimit: at(a, sizing.Boost{}, times(4)), AfterReady: at(a, 0, 20*time.Second), AtMost: time.Minute}
		created, planned, nodeType := a.smallPod(), at(a, "n2d", "n4", "slow", "fast"), at(a, "n2d", "n4", "slow", "fast")
		created.Annotations = nil
		if settings.Demand.Mode != policy.Observe {
			planned = nodeType // Without a boost, it may keep a size for another type.
		}
		s, twin := starts(t, created.DeepCopy(), nodeType, startingBy(t, settings, "guard.enabled")), starts(t, created.DeepCopy(), nodeType, without)
		if settings.Demand.Mode != policy.Observe {
			demand := a.demand(0).(*shown)
			demand.resized = need.Resized{}
			for _, c := range demand.needs {
				c.CPU.Rules.Limits.CPU = map[string]need.LimitMode{"follow": need.Follow, "keep": need.Keep}[settings.Demand.CPU.Limit]
			}
			s.demand, twin.demand = demand, demand
		}
		limited := func(*Snapshot) {}
		if a.oneIn(3) {
			hard := corev1.ResourceList{corev1.ResourceRequestsCPU: *resource.NewMilliQuantity(int64(a.IntN(4000)), resource.DecimalSI)}
			limited = func(s *Snapshot) {
				s.Around.Quotas = []*corev1.ResourceQuota{{Spec: corev1.ResourceQuotaSpec{Hard: hard}, Status: corev1.ResourceQuotaStatus{Hard: hard}}}
			}
		}
		made, plain := s.creates(planned, limited), twin.creates(planned, limited)
		if made.Boosts() {
			boosted++
		}
		if settings.Demand.Mode == policy.Initial {
			s.demand, twin.demand = nil, nil
		}
		for _, second := range []int{10, 30, 70, 290, 1000} {
			s.seconds, twin.seconds = second, second
			if a.oneIn(3) {
				s.ready(true)
				twin.ready(true)
			}
			plan := s.plan()
			if second < 70 && a.oneIn(2) && plan.Pending() {
				s.pod = partly(t, a, s.pod, plan, second) // The process may end before the last write.
			} else {
				plan = s.settle()
			}
			twin.settle()
			if second >= 70 && !slices.Equal(sizesOf(s.pod), sizesOf(twin.pod)) {
				t.Errorf("seed %d, second %d: for %s on %s, %+v: it has %s, and without a boost %s; %s\ncreated %s\nwithout %s", seed, second, planned, nodeType, settings, s.has(), twin.has(), told(plan), told(made), told(plain))
				break
			}
		}
		if t.Failed() {
			return
		}
	}
	if boosted < lives/3 {
		t.Errorf("%d of %d pods are created with a boost", boosted, lives)
	}
}

// sizesOf returns the sizes of a pod; a resize writes memory in whole bytes.
func sizesOf(p *corev1.Pod) (all []sizing.Container) {
	for i := range p.Spec.Containers {
		all = append(all, sizing.FromResources(p.Spec.Containers[i].Resources))
	}
	return all
}

func originalsOf(p *corev1.Pod) map[string]string {
	all := maps.Clone(p.Annotations)
	maps.DeleteFunc(all, func(key, _ string) bool { return !contract.IsOriginal(key) })
	return all
}
