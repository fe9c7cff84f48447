package signal_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/signal"
)

var settings = &policy.Guard{Enabled: true, Window: 5 * time.Minute}

// resized is a pod that was resized at a second; never at 0.
func resized(uid string, second int, changes ...func(*corev1.Pod)) *pod.Pod {
	of := podtest.Pod(podtest.Guaranteed, podtest.ManagedBy(podtest.AsMade))
	of.UID, of.Status.ContainerStatuses = types.UID(uid), []corev1.ContainerStatus{{Name: "app"}}
	if second != 0 {
		podtest.Annotated("original-cpu.app", "2", "original-cpu-limit.app", "2", "applied-instance-type", "n4", "applied-sizes", "app 3 cpu 2/2>1/1 memory 1Gi/1Gi")(of)
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(second, "app"), podtest.Managed(contract.FieldManager, "", second, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app"))(of)
	}
	for _, change := range changes {
		change(of)
	}
	return pod.From(of)
}

// restarts makes the container have restarted.
func restarts(count int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = count }
}

// deferred makes the node have the cpu before the resize.
func deferred(p *corev1.Pod) {
	r := podtest.Amounts{"2", "2", "1Gi", "1Gi"}.Requirements()
	p.Status.ContainerStatuses[0].Resources, p.Status.ContainerStatuses[0].AllocatedResources = &r, r.Requests
}

// deferredMemory makes the node have the memory before another resize.
func deferredMemory(p *corev1.Pod) {
	podtest.Annotated("original-memory.app", "2Gi", "original-memory-limit.app", "2Gi", "applied-sizes", "app 3 cpu 1/1 memory 2Gi/2Gi>1Gi/1Gi")(p)
	r := podtest.Amounts{"1", "1", "2Gi", "2Gi"}.Requirements()
	p.Status.ContainerStatuses[0].Resources, p.Status.ContainerStatuses[0].AllocatedResources = &r, r.Requests
}

// minute returns a sample of the minute that ends at a second.
func minute(second int, of guard.Strain) *signal.Sample {
	return &signal.Sample{At: podtest.At(second), Length: time.Minute, Strain: of}
}

func throttled(share float64) guard.Strain { return guard.Strain{Throttled: guard.Of(share)} }

// take takes a sample when it arrives.
func take(s *signal.Signals, of *pod.Pod, sample *signal.Sample) bool {
	return s.Take(of, "app", sample, settings, sample.At.Add(time.Second))
}

// check checks how much a container was throttled before the resize and since then; -1 means unknown.
func check(t *testing.T, s *signal.Signals, of *pod.Pod, before, since float64) {
	t.Helper()
	got := s.Of(of, "app")
	for _, v := range []struct {
		name string
		got  guard.Value
		want float64
	}{{"before", got.Before.Throttled, before}, {"since", got.Since.Throttled, since}} {
		if want := (guard.Value{N: v.want, Known: true}); v.want < 0 && v.got.Known || v.want >= 0 && (!v.got.Known || v.got.N-want.N > 1e-6 || want.N-v.got.N > 1e-6) {
			t.Errorf("%s: %+v, want %v", v.name, v.got, v.want)
		}
	}
}

func TestSignals(t *testing.T) {
	t.Run("the time before a resize is the last 5 to 10 minutes", func(t *testing.T) {
		for _, tc := range []struct {
			at, resized int
			want        float64
		}{{1200, 1200, 0.5}, {1200, 1260, 0.5}, {1200, 1790, 0.5}, {1200, 1801, -1}, {1200, 1190, -1}} {
			s := signal.New()
			take(s, resized("a", 0), minute(tc.at, throttled(0.5)))
			check(t, s, resized("a", tc.resized), tc.want, -1)
		}
	})
	t.Run("a sample that ends in the second of the resize is of the time before", func(t *testing.T) {
		s, of := signal.New(), resized("a", 1200)
		sample := minute(1200, throttled(0.5))
		sample.At = sample.At.Add(900 * time.Millisecond)
		take(s, of, sample)
		take(s, of, minute(1270, throttled(0.7)))
		check(t, s, of, 0.5, 0.7)
	})
	t.Run("a sample of the time before may arrive after one of the time since then", func(t *testing.T) {
		s, of := signal.New(), resized("a", 1200)
		take(s, of, minute(1270, throttled(0.7)))
		if !take(s, of, minute(1190, throttled(0.5))) {
			t.Error("the plan does not change")
		}
		check(t, s, of, 0.5, 0.7)
	})
	t.Run("the highest values count", func(t *testing.T) {
		s := signal.New()
		for i, share := range []float64{0.9, 0.1, 0.3, 0.2} { // The first one is too old.
			take(s, resized("a", 0), minute(300*i+10, throttled(share)))
		}
		check(t, s, resized("a", 920), 0.3, -1)
		of := resized("a", 920)
		for i, share := range []float64{0.7, 0.8, 0.6} {
			take(s, of, minute(980+60*i, throttled(share)))
		}
		check(t, s, of, 0.3, 0.8)
	})
	t.Run("a sample of a time with the resize in it does not count", func(t *testing.T) {
		s, of := signal.New(), resized("a", 620)
		take(s, resized("a", 0), minute(600, throttled(0.1)))
		if take(s, of, minute(679, throttled(0.9))) {
			t.Error("the plan may differ")
		}
		check(t, s, of, 0.1, -1)
		if !take(s, of, minute(680, throttled(0.9))) || take(s, of, minute(740, throttled(0.8))) {
			t.Error("the plan may differ after the second sample instead of the first")
		}
		check(t, s, of, 0.1, 0.9)
	})
	t.Run("a sample of the time before counts if it arrives after the resize", func(t *testing.T) {
		s, of := signal.New(), resized("a", 620)
		take(s, of, minute(610, throttled(0.1)))
		check(t, s, of, 0.1, -1)
	})
	t.Run("values that were not measured stay unknown, and zero is known", func(t *testing.T) {
		s, of := signal.New(), resized("a", 620)
		take(s, resized("a", 0), minute(600, guard.Strain{CPUPressure: guard.Of(0), Memory: guard.Of(5 << 20), LimitEvents: guard.Of(0)}))
		got := s.Of(of, "app").Before
		memory := got.Memory
		got.Memory = guard.Value{}
		if want := (guard.Strain{CPUPressure: guard.Of(0), LimitEvents: guard.Of(0)}); got != want || !memory.Known {
			t.Errorf("%+v and %+v of memory", got, memory)
		}
	})
	t.Run("memory is at least what was used, and little more", func(t *testing.T) {
		for _, used := range []float64{0, 1, 4096, 4097, 5 << 20, 123_456_789, 1 << 30, 1 << 43} {
			s, of := signal.New(), resized("a", 620)
			take(s, resized("a", 0), minute(600, guard.Strain{Memory: guard.Of(used)}))
			if got := s.Of(of, "app").Before.Memory; !got.Known || got.N < used || got.N > 1.0004*(used+4096) {
				t.Errorf("%v of %v bytes", got, used)
			}
		}
	})
	t.Run("what is usual counts whenever the numbers of slots start again", func(t *testing.T) {
		// Slot 1<<16 of these begins at a number of 0.
		const again = 1 << 16 * 300
		first := int(again - podtest.At(0).Unix()%again)
		for _, second := range []int{first - 600, first - 300, first, first + 300} {
			s, of := signal.New(), resized("a", second+20)
			take(s, resized("a", 0), minute(second, throttled(0.1)))
			check(t, s, of, 0.1, -1)
		}
	})
	t.Run("of a few seconds, only memory counts", func(t *testing.T) {
		s, of := signal.New(), resized("a", 620)
		all := guard.Strain{Throttled: guard.Of(1), CPUPressure: guard.Of(1), MemoryPressure: guard.Of(1), Memory: guard.Of(4096), LimitEvents: guard.Of(3)}
		if !take(s, of, &signal.Sample{At: podtest.At(630), Length: 5 * time.Second, Strain: all}) {
			t.Error("the plan cannot differ")
		}
		if got, want := s.Of(of, "app").Since, (guard.Strain{Memory: guard.Of(4096), LimitEvents: guard.Of(3)}); got != want {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a second resize is compared with the time before the first while that is observed", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0), minute(600, throttled(0.1)))
		take(s, resized("a", 610), minute(680, throttled(0.9)))
		second := resized("a", 700)
		check(t, s, second, 0.1, -1)
		take(s, second, minute(690, throttled(0.9))) // It is late.
		take(s, second, minute(770, throttled(0.8)))
		check(t, s, second, 0.1, 0.8)
	})
	t.Run("a resize after that is compared with the time since the first", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0), minute(600, throttled(0.1)))
		take(s, resized("a", 610), minute(680, throttled(0.9)))
		take(s, resized("a", 610), minute(1000, throttled(0.4)))
		check(t, s, resized("a", 1010), 0.4, -1)
		take(s, resized("a", 1010), minute(1075, throttled(0.6)))
		check(t, s, resized("a", 1010), 0.4, 0.6)
	})
	t.Run("a resize after a long window is compared with the time since the one before", func(t *testing.T) {
		long := &policy.Guard{Enabled: true, Window: 20 * time.Minute}
		s := signal.New()
		of := resized("a", 610)
		for at := 660; at < 1810; at += 60 {
			sample := minute(at, throttled(0.2))
			s.Take(of, "app", sample, long, sample.At.Add(time.Second))
		}
		next := resized("a", 1811) // As the next step of a size that is lowered in steps.
		check(t, s, next, 0.2, -1)
		sample := minute(1880, throttled(0.9))
		s.Take(next, "app", sample, long, sample.At.Add(time.Second))
		check(t, s, next, 0.2, 0.9)
		sample = minute(3600, throttled(0.9))
		s.Take(next, "app", sample, long, sample.At.Add(time.Second))
		check(t, s, resized("a", 3600), 0.9, -1) // The time before the window is too old by then.
		check(t, s, resized("a", 5400), -1, -1)
	})
	t.Run("a container that starts again is throttled because of that", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0, restarts(3)), minute(600, throttled(0.1)))
		take(s, resized("a", 610, restarts(3)), minute(670, throttled(0.2)))
		again := resized("a", 610, restarts(4))
		if take(s, again, minute(730, throttled(0.9))) || take(s, again, minute(790, throttled(0.8))) { // It began before the restart was known.
			t.Error("the plan may differ")
		}
		check(t, s, again, 0.1, 0.2)
		take(s, again, minute(851, throttled(0.7)))
		check(t, s, again, 0.1, 0.7)
		if got := s.Of(again, "app").Since.Memory; got.Known {
			t.Errorf("%+v", got)
		}
		take(s, resized("a", 610, restarts(5)), minute(900, guard.Strain{Throttled: guard.Of(1), Memory: guard.Of(4096)}))
		if got := s.Of(again, "app").Since; got.Memory != guard.Of(4096) || got.Throttled != guard.Of(0.7) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("how a pod fares while it starts is not usual", func(t *testing.T) {
		s := signal.New()
		started := func(p *corev1.Pod) {
			at := metav1.NewTime(podtest.At(605))
			p.CreationTimestamp, p.Status.StartTime = metav1.NewTime(podtest.At(600)), &at
		}
		all := throttled(0.9)
		all.Memory = guard.Of(4096)
		take(s, resized("a", 0, started), minute(660, all))
		take(s, resized("a", 0, started), minute(720, all))
		check(t, s, resized("a", 781, started), 0.9, -1) // It is all that is known.
		if got := s.Of(resized("a", 781, started), "app").Before.Memory; got != guard.Of(4096) {
			t.Errorf("%+v", got)
		}
		take(s, resized("a", 0, started), minute(790, throttled(0.1)))
		take(s, resized("a", 0, started), minute(720, all)) // It arrives again.
		check(t, s, resized("a", 791, started), 0.1, -1)
		if got := s.Of(resized("a", 791, started), "app").Before.Memory; got != guard.Of(4096) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a restart before the first sample since the resize", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0, restarts(3)), minute(600, throttled(0.1)))
		again := resized("a", 610, restarts(4))
		take(s, again, minute(670, throttled(0.9)))
		check(t, s, again, 0.1, -1)
	})
	t.Run("while the node has not made the resize, nothing that happens comes from it", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0), minute(600, throttled(0.1)))
		take(s, resized("a", 610, deferred), minute(671, throttled(0.9)))
		take(s, resized("a", 610, deferred), minute(731, throttled(0.9)))
		made := resized("a", 610)
		s.Take(resized("a", 610, deferred), "app", minute(671, throttled(0.9)), settings, podtest.At(733)) // It arrives again.
		s.Take(made, "app", minute(780, throttled(0.8)), settings, podtest.At(800))                        // Of which a part is of the time before.
		check(t, s, made, 0.1, -1)
		take(s, made, minute(852, throttled(0.7)))
		check(t, s, made, 0.1, 0.7)
		all := guard.Strain{Throttled: guard.Of(1), MemoryPressure: guard.Of(1), Memory: guard.Of(4096), LimitEvents: guard.Of(3)}
		take(s, resized("b", 610, deferredMemory), minute(671, all))
		if got, want := s.Of(resized("b", 610), "app").Since, (guard.Strain{Throttled: guard.Of(1), Memory: guard.Of(4096)}); got != want {
			t.Errorf("%+v", got)
		}
	})
	t.Run("pods, containers and disabled guards are kept apart", func(t *testing.T) {
		s, of := signal.New(), resized("a", 620)
		take(s, of, minute(700, throttled(0.9)))
		check(t, s, resized("b", 620), -1, -1)
		if s.Of(of, "proxy").Since.Throttled.Known {
			t.Error("another container is known")
		}
		if s.Take(of, "app", minute(760, throttled(1)), &policy.Guard{Window: time.Hour}, podtest.At(761)) {
			t.Error("the plan may differ")
		}
	})
	t.Run("an old sample does not count", func(t *testing.T) {
		s, of := signal.New(), resized("a", 0)
		s.Take(of, "app", minute(600, throttled(1)), settings, podtest.At(600+16*60))
		check(t, s, resized("a", 601), -1, -1)
	})
	t.Run("containers that are gone are forgotten", func(t *testing.T) {
		s := signal.New()
		take(s, resized("a", 0), minute(600, throttled(1)))
		take(s, resized("b", 600), minute(660, throttled(1)))
		if all, observed := s.Len(); all != 1 || observed != 1 {
			t.Errorf("%d, of which %d are observed", all, observed)
		}
		take(s, resized("c", 0), minute(3000, throttled(1)))
		if all, observed := s.Len(); all != 1 || observed != 0 {
			t.Errorf("%d, of which %d are observed", all, observed)
		}
	})
}
