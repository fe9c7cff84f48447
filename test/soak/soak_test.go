package main

import (
	"bytes"
	"maps"
	"math"
	"runtime/pprof"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is right is itself held against numbers worked out by hand.
func TestOracle(t *testing.T) {
	for shape, want := range map[string]string{
		"guaranteed": "app: cpu 160m/160m, memory 122683392/122683392; ",                                           // 128Mi / 1.1 = 116.4Mi
		"burstable":  "app: cpu 120m/480m, memory 95420416/244318208; ",                                            // 100Mi / 1.1 = 90.9Mi; 256 × 91/100 = 232.96Mi
		"unlimited":  "app: cpu 266m/0m, memory 190840832/0; ",                                                     // 200Mi / 1.1 = 181.8Mi
		"two":        "app: cpu 96m/96m, memory 92274688/92274688; side: cpu 201m/0m, memory 73400320/146800640; ", // 87.3Mi, 70Mi
	} {
		if got := sizesFor(shapes[shape], decimal("1.25", "1.1")); got != want {
			t.Errorf("%s: %s, want %s", shape, got, want)
		}
		if got, want := sizesFor(shapes[shape], decimal("1", "1")), sizesOf(shapes[shape]); got != want {
			t.Errorf("%s: at 1 it is %s, not %s as written", shape, got, want)
		}
	}
	if got, want := sizesFor(shapes["two"], decimal("4", "2")), "app: cpu 50m/50m, memory 67108864/67108864; side: cpu 63m/0m, memory 67108864/134217728; "; got != want {
		t.Errorf("at the lower bounds it is %s, want %s", got, want)
	}
}

func TestASizeIsRightForAWhileAfterItsRatioWasReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{ratios: map[string][]inForce{}}
		one, two := map[string]ratio{"n4": decimal("1.25", "1")}, map[string]ratio{"n4": decimal("2", "1")}
		h.begin(one)
		h.done(one)
		j := &judge{history: h}
		sized := func(r ratio) *corev1.Pod {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{typeLabel: "n4", shapeLabel: "guaranteed"}}}
			pod.Spec.Containers = slices.Clone(shapes["guaranteed"])
			cpu, _ := amounts(pod.Spec.Containers[0].Resources)
			size := *pod.Spec.Containers[0].Resources.Requests.Cpu()
			size.SetMilli(cpu.want(r.cpu, cpuMin, cpuMax, nearest).request)
			pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: size, corev1.ResourceMemory: *pod.Spec.Containers[0].Resources.Requests.Memory()}
			pod.Spec.Containers[0].Resources.Limits = pod.Spec.Containers[0].Resources.Requests
			return pod
		}
		wrong := func() int { _, _, problems := j.tally(); return len(problems) }
		j.added(sized(one["n4"]))
		if wrong() != 0 {
			t.Errorf("the ratio in force is wrong: %v", j.problems)
		}
		j.added(sized(two["n4"]))
		if wrong() != 1 {
			t.Error("a ratio that is still to come is right")
		}
		h.begin(two)
		j.added(sized(two["n4"]))
		time.Sleep(2 * grace)
		j.added(sized(one["n4"]))
		if wrong() != 1 {
			t.Errorf("while a ratio is being replaced one of both is wrong: %v", j.problems)
		}
		h.done(two)
		time.Sleep(grace - time.Second)
		j.added(sized(one["n4"]))
		if wrong() != 1 {
			t.Errorf("a resize that was on its way is wrong: %v", j.problems)
		}
		time.Sleep(2 * time.Second)
		j.added(sized(one["n4"]))
		if wrong() != 2 {
			t.Error("a ratio of long ago is right")
		}
	})
}

func TestSlope(t *testing.T) {
	var samples []sample
	for i, heap := range []float64{10, 14, 12, 16} {
		samples = append(samples, sample{at: time.Unix(int64(10*i), 0), heap: heap})
	}
	if got := slope(samples, heapOf); math.Abs(got-0.16) > 1e-9 {
		t.Errorf("it is %v per second, want 0.16", got)
	}
	if got := mean(samples, heapOf); got != 13 {
		t.Errorf("the mean is %v, want 13", got)
	}
}

func TestWhatAProcessNeedsIsWrong(t *testing.T) {
	lived := func(periods int, heap float64) *life {
		l := &life{name: "it"}
		for i := range periods {
			l.samples = append(l.samples, sample{at: time.Unix(int64(10*i), 0), heap: 10*mebibyte + heap*float64(i), rss: 40 * mebibyte})
		}
		return l
	}
	led := lived(60, 0)
	for i := 30; i < 60; i++ {
		led.samples[i].leading = true
		led.samples[i].heap += mebibyte * float64(i-30)
	}
	for _, tc := range []struct {
		name  string
		lives []*life
		want  int
	}{
		{"nothing grows", []*life{lived(60, 0)}, 0},
		{"a heap that grows", []*life{lived(60, mebibyte)}, 1},
		{"a heap that grows in a process that did not live as long as others", []*life{lived(60, 0), lived(30, mebibyte)}, 1},
		{"a heap that grows while it leads", []*life{led}, 1},
		{"a process that has only started may grow", []*life{lived(60, 0), lived(10, mebibyte)}, 0},
	} {
		r := &report{}
		r.judgeMemory([]*replica{{lives: tc.lives}})
		if len(r.Problems) != tc.want {
			t.Errorf("%s: %q", tc.name, r.Problems)
		}
	}
}

func TestOneMoreGoroutineIsWrong(t *testing.T) {
	before := []quiet{{"a", true, goroutines{"lead": 2, "serve": 1}}, {"b", false, goroutines{"serve": 1}}}
	for _, tc := range []struct {
		name  string
		later quiet
		want  []string
	}{
		{"as many as the first leader", quiet{"b", true, goroutines{"lead": 2, "serve": 1}}, nil},
		{"a follower is not held against leaders", quiet{"b", false, goroutines{"lead": 1, "serve": 1}}, []string{"b has 2 goroutines, not 1 as the first in its role: +1 lead"}},
		{"a leader that has more", quiet{"b", true, goroutines{"lead": 2, "serve": 3}}, []string{"b has 5 goroutines, not 3 as the first in its role: +2 serve"}},
	} {
		r := &report{}
		r.judgeGoroutines(append(slices.Clone(before), tc.later))
		if !slices.Equal(r.Problems, tc.want) {
			t.Errorf("%s: %q", tc.name, r.Problems)
		}
	}
}

func TestGoroutinesAreToldApartByWhatStartedThem(t *testing.T) {
	var now bytes.Buffer
	stop := make(chan struct{})
	defer close(stop)
	for range 3 {
		go func() { <-stop }()
	}
	if err := pprof.Lookup("goroutine").WriteTo(&now, 1); err != nil {
		t.Fatal(err)
	}
	all := parseGoroutines(now.String())
	if got := all["github.com/workload-resizer/workload-resizer/test/soak.TestGoroutinesAreToldApartByWhatStartedThem.func1"]; got != 3 {
		t.Errorf("%d of %v, want 3", got, all)
	}
	once := goroutines{"a": 2, "b": 1}
	once.least(goroutines{"a": 1, "c": 1})
	if want := (goroutines{"a": 1}); !maps.Equal(once, want) {
		t.Errorf("what stays is %v, want %v", once, want)
	}
}
