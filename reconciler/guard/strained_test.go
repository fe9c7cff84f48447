package guard_test

import (
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// strict are settings whose thresholds are easy to read.
var strict = func() *policy.Guard {
	s := settings
	s.Throttling, s.CPUPressure, s.MemoryPressure, s.MemoryUse = 0.5, 0.6, 0.2, 0.95
	return &s
}()

// fared is how the container fared before and since the resize: shares, and memory in MiB. Negative
// values are unknown.
type fared struct{ throttled, cpu, memory, used, events float64 }

func (f fared) strain() guard.Strain {
	value := func(n float64) guard.Value {
		if n < 0 {
			return guard.Value{}
		}
		return guard.Of(n)
	}
	return guard.Strain{Throttled: value(f.throttled), CPUPressure: value(f.cpu), MemoryPressure: value(f.memory), Memory: value(f.used * (1 << 20)), LimitEvents: value(f.events)}
}

// unknown is how a container fared that was not measured.
var unknown = fared{-1, -1, -1, -1, -1}

// case returns the case of a pod.
func caseOf(of *corev1.Pod, before, since fared) *guard.Case {
	return &guard.Case{Pod: pod.From(of), Node: nodeReady(corev1.ConditionTrue, 0), Settings: strict, Now: podtest.At(100), Signals: guard.Signals{Of: func(container string) guard.Fared {
		if container != "app" {
			return guard.Fared{}
		}
		return guard.Fared{Before: before.strain(), Since: since.strain()}
	}}}
}

// keptLimits makes the resize lower the requests alone.
func keptLimits(p *corev1.Pod) {
	p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "1", "512Mi", "1Gi"}.Requirements()
	record("app 3 cpu 1/1>500m/1 memory 1Gi/1Gi>512Mi/1Gi")(p)
}

// TestStrained judges pods whose cpu was lowered from 1 to 500m, and whose memory from 1Gi to 512Mi.
func TestStrained(t *testing.T) {
	for _, tc := range []struct {
		name          string
		pod           *corev1.Pod
		before, since fared
		cpu, memory   contract.Harm
		says          string
	}{
		{name: "nothing"},
		{name: "throttled above the threshold", since: fared{throttled: 0.51}, cpu: contract.Throttled, says: "throttled in 51% of its CPU periods, 0% before the resize"},
		{name: "throttled at the threshold", since: fared{throttled: 0.5}},
		{name: "throttled half as much again as before", before: fared{throttled: 0.4}, since: fared{throttled: 0.61}, cpu: contract.Throttled},
		{name: "throttled almost as much before", before: fared{throttled: 0.42}, since: fared{throttled: 0.61}},
		{name: "as throttled before", before: fared{throttled: 0.9}, since: fared{throttled: 0.9}},
		{name: "throttled with the same limit as before", pod: resized(keptLimits), since: fared{throttled: 0.9}},
		{name: "throttled, and nobody knows how it was before", before: unknown, since: fared{throttled: 0.9}},
		{name: "throttled before, and nobody knows how it is now", before: fared{}, since: unknown},
		{name: "waiting for cpu above the threshold", since: fared{cpu: 0.7}, cpu: contract.CPUPressure, says: "waited for cpu 70% of the time, 0% before the resize"},
		{name: "waiting for cpu with the same limit as before", pod: resized(keptLimits), since: fared{cpu: 0.7}, cpu: contract.CPUPressure},
		{name: "waiting for cpu as long before", before: fared{cpu: 0.6}, since: fared{cpu: 0.7}},
		{name: "waiting for cpu, and nobody knows how it was before", before: unknown, since: fared{cpu: 0.7}},
		{name: "throttled and waiting because of that", since: fared{throttled: 0.8, cpu: 0.7}, cpu: contract.Throttled},
		{name: "waiting for memory above the threshold", since: fared{memory: 0.3}, memory: contract.MemoryPressure, says: "waited for memory 30% of the time, 0% before the resize"},
		{name: "waiting for memory as long before", before: fared{memory: 0.3}, since: fared{memory: 0.3}},
		{name: "near the limit", before: fared{used: 400}, since: fared{used: 500}, memory: contract.NearLimit, says: "uses 98% of its memory limit, 39% before the resize"},
		{name: "not near the limit", since: fared{used: 480}},
		{name: "near the limit with the same limit as before", pod: resized(keptLimits), since: fared{used: 1000}},
		{name: "near the limit before, too", before: fared{used: 1000}, since: fared{used: 500}},
		{name: "near the limit of a new pod", before: unknown, since: fared{used: 500}, memory: contract.NearLimit, says: "uses 98% of its memory limit, which are 49% of the limit before the resize"},
		{name: "near the limit of a new pod that needs more than it had", pod: resized(record("app 3 memory 520Mi/520Mi>512Mi/512Mi")), before: unknown, since: fared{used: 500}},
		{name: "at the limit for the first time", since: fared{used: 420, events: 1}, memory: contract.NearLimit, says: "reached its memory limit, and uses 82% of its memory limit, 0% before the resize"},
		{name: "at the limit because of its page cache", since: fared{used: 400, events: 1}},
		{name: "at the limit for the first time, but no nearer than before", before: fared{used: 860}, since: fared{used: 420, events: 1}},
		{name: "at the limit, and nobody knows how much it used before", before: fared{used: -1}, since: fared{used: 420, events: 1}},
		{name: "at the limit before, too", before: fared{events: 1}, since: fared{used: 420, events: 1}},
		{name: "at the limit, and nobody knows how it was before", before: unknown, since: fared{used: 420, events: 1}},
		{name: "everything", since: fared{0.9, 0.9, 0.9, 511, 1}, cpu: contract.Throttled, memory: contract.NearLimit},
		{name: "everything, but only cpu was lowered", pod: resized(record("app 3 cpu 1/1>500m/500m memory 256Mi/256Mi>512Mi/512Mi")), since: fared{0.9, 0.9, 0.9, 511, 1}, cpu: contract.Throttled},
		{name: "everything, but the node has deferred the resize", pod: resized(has("1", "1Gi")), since: fared{0.9, 0.9, 0.9, 511, 1}},
		{name: "killed is surer than near the limit", pod: resized(killed(40)), since: fared{used: 511}, memory: contract.OOMKilled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.pod == nil {
				tc.pod = resized()
			}
			found, again := guard.Judge(caseOf(tc.pod, tc.before, tc.since))
			var cpu, memory contract.Harm
			said := ""
			for _, h := range found {
				said += h.Message
				if h.Measure.Name == "cpu" {
					cpu = h.Kind
				} else {
					memory = h.Kind
				}
			}
			if cpu != tc.cpu || memory != tc.memory || tc.says != "" && said != tc.says || !again.IsZero() {
				t.Errorf("got %q and %q: %q, again %v; want %q and %q: %q", cpu, memory, said, again, tc.cpu, tc.memory, tc.says)
			}
		})
	}
	t.Run("nothing with thresholds of 1", func(t *testing.T) {
		c := caseOf(resized(), fared{}, fared{1, 1, 1, 512, 9})
		off := *strict
		off.Throttling, off.CPUPressure, off.MemoryPressure, off.MemoryUse = 1, 1, 1, 1
		c.Settings = &off
		if found, _ := guard.Judge(c); len(found) > 0 {
			t.Errorf("got %v", found)
		}
		if text := guard.Unmeasured(c); text != "" {
			t.Errorf("not measured: %s", text)
		}
	})
	t.Run("restarts after memory was reverted because of its limit do not blame cpu", func(t *testing.T) {
		for _, harm := range []string{"NearLimit", "MemoryPressure"} {
			of := resized(restarts(6, 137), killed(40), memoryReverted)
			of.Annotations[contract.Reverts] = strings.Replace(of.Annotations[contract.Reverts], "OOMKilled", harm, 1)
			if found, _ := guard.Judge(caseOf(of, fared{}, fared{})); len(found) > 0 {
				t.Errorf("after %s: %v", harm, found)
			}
		}
	})
}

// An objective that was broken before is not broken by the resize, nor is one of which something is not known.
func TestMissed(t *testing.T) {
	for _, tc := range []struct {
		name, want, unmeasured string
		outcome                guard.Answer
	}{
		{name: "met", outcome: guard.Answer{Before: guard.Of(0.1), Since: guard.Of(0.5)}},
		{name: "broken", outcome: guard.Answer{Before: guard.Of(0.1), Since: guard.Of(0.75)}, want: "objective errors: 0.75 is above 0.5, 0.1 before the resize"},
		{name: "broken before, too", outcome: guard.Answer{Before: guard.Of(0.6), Since: guard.Of(0.75)}},
		{name: "broken, and without a value before", outcome: guard.Answer{Before: guard.Of(math.NaN()), Since: guard.Of(0.75)}, want: "objective errors: 0.75 is above 0.5, nothing before the resize"},
		{name: "without a value", outcome: guard.Answer{Before: guard.Of(0.1), Since: guard.Of(math.NaN())}},
		{name: "broken, and nobody knows how it was", outcome: guard.Answer{Since: guard.Of(0.75), Unknown: "Prometheus is down"}, unmeasured: "objective errors (Prometheus is down)"},
		{name: "not asked", outcome: guard.Answer{Name: "another"}, unmeasured: "objective errors (this replica has not asked since the resize, and only the leader asks)"},
	} {
		c := caseOf(resized(), fared{}, fared{})
		with := *strict
		with.Objectives = []policy.Objective{{Name: "errors", Above: new(0.5)}}
		c.Settings = &with
		if tc.outcome.Name == "" {
			tc.outcome.Name = "errors"
		}
		c.Signals.Objectives = []guard.Answer{tc.outcome}
		found, _ := guard.Judge(c)
		if len(found) != 0 && tc.want == "" || tc.want != "" && (len(found) != 2 || found[0].Kind != contract.Objective || found[0].Message != tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, found, tc.want)
		}
		if got := guard.Unmeasured(c); got != tc.unmeasured {
			t.Errorf("%s: not measured: %q, want %q", tc.name, got, tc.unmeasured)
		}
	}
	// While a container is down because of its memory, nothing is known of what its cpu is good for. Nor is
	// another container to blame.
	with := *strict
	with.Objectives = []policy.Objective{{Name: "errors", Above: new(0.5)}}
	sidecar := func(p *corev1.Pod) {
		kill := p.Status.ContainerStatuses[0]
		kill.Name = "proxy"
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, kill)
		p.Spec.Containers = append(p.Spec.Containers, p.Spec.Containers[0])
		p.Spec.Containers[1].Name = "proxy"
		p.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{}
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want int
	}{
		"killed for lack of memory":               {resized(restarts(4, 137), killed(40)), 1},
		"reverted because of that":                {resized(restarts(4, 137), killed(55), memoryReverted), 0},
		"another container was killed for memory": {resized(restarts(4, 137), killed(40), sidecar), 0},
		"killed shortly before the resize":        {resized(killed(9)), 0},
		"killed long before the resize":           {resized(killed(-290)), 2},
	} {
		c := caseOf(tc.pod, fared{}, fared{})
		c.Settings, c.Signals.Objectives = &with, []guard.Answer{{Name: "errors", Before: guard.Of(0), Since: guard.Of(1)}}
		found, _ := guard.Judge(c)
		if len(found) != tc.want || tc.want == 1 && found[0].Kind != contract.OOMKilled {
			t.Errorf("%s: got %v, want %d harms", name, found, tc.want)
		}
	}
	c := caseOf(resized(), fared{}, fared{})
	with.Objectives = []policy.Objective{{Name: "requests", Below: new(100.)}}
	c.Settings, c.Signals.Objectives = &with, []guard.Answer{{Name: "requests", Before: guard.Of(100), Since: guard.Of(99)}}
	if found, _ := guard.Judge(c); len(found) != 2 || found[0].Message != "objective requests: 99 is below 100, 100 before the resize" {
		t.Errorf("got %v", found)
	}
}

// Unknown values are named, and only those of resources that were lowered.
func TestUnmeasured(t *testing.T) {
	nothing := func(guard.Signals) guard.Signals { return guard.Signals{} }
	follower := func(guard.Signals) guard.Signals { return guard.Signals{Unknown: "another replica knows it"} }
	for _, tc := range []struct {
		name          string
		pod           *corev1.Pod
		before, since fared
		signals       func(guard.Signals) guard.Signals
		want          string
	}{
		{name: "everything is known"},
		{name: "no source", before: unknown, since: unknown, want: "throttling of container app, pressure of cpu of container app, pressure of memory of container app, use of memory of container app (no source of usage shows it)"},
		{name: "without a cluster", before: unknown, since: unknown, signals: nothing},
		{name: "on another replica", before: unknown, since: unknown, signals: follower, want: "throttling of container app, pressure of cpu of container app, pressure of memory of container app, use of memory of container app (another replica knows it)"},
		{name: "a stale source", since: unknown, pod: resized(record("app 3 cpu 1/1>500m/500m")), want: "throttling of container app, pressure of cpu of container app (it has not been measured since the resize)"},
		{name: "a new pod", before: unknown, want: "throttling of container app, pressure of cpu of container app, pressure of memory of container app (it was not measured before the resize)"},
		{name: "a source without pressure", before: fared{cpu: -1, memory: -1}, since: fared{cpu: -1, memory: -1}, want: "pressure of cpu of container app, pressure of memory of container app (no source of usage shows it)"},
		{name: "requests without limits", pod: resized(keptLimits), before: fared{throttled: -1, used: -1}, since: fared{throttled: -1, used: -1}},
		{name: "an increase", pod: resized(record("app 3 cpu 250m/250m>500m/500m")), before: unknown, since: unknown},
		{name: "a resize that the node has deferred", pod: resized(has("1", "1Gi")), before: unknown, since: unknown},
	} {
		if tc.pod == nil {
			tc.pod = resized()
		}
		c := caseOf(tc.pod, tc.before, tc.since)
		if tc.signals != nil {
			c.Signals = tc.signals(c.Signals)
		}
		if got := guard.Unmeasured(c); got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, got, tc.want)
		}
		if found, _ := guard.Judge(c); len(found) > 0 {
			t.Errorf("%s: %v", tc.name, found)
		}
	}
}
