package main

import (
	"bytes"
	"maps"
	"runtime/pprof"
	"slices"
	"testing"
)

// TestOracle checks the expected sizes against numbers calculated by hand.
func TestOracle(t *testing.T) {
	for shape, want := range map[string]string{
		"guaranteed": "app: cpu 160m/160m, memory 117Mi/117Mi; ",                                   // 128Mi / 1.1 = 116.4Mi
		"burstable":  "app: cpu 120m/480m, memory 91Mi/232Mi; ",                                    // 100Mi / 1.1 = 90.9Mi; 256 / 1.1 = 232.7Mi, but at most 256 × 91/100 = 232.96Mi
		"unlimited":  "app: cpu 266m/0m, memory 182Mi/0; ",                                         // 200Mi / 1.1 = 181.8Mi
		"two":        "app: cpu 96m/96m, memory 88Mi/88Mi; side: cpu 201m/0m, memory 70Mi/140Mi; ", // 87.3Mi, 70Mi
	} {
		if got := sizesFor(shapes[shape], decimal("1.25", "1.1")); got != want {
			t.Errorf("%s: %s, want %s", shape, got, want)
		}
		if got, want := sizesFor(shapes[shape], decimal("1", "1")), sizesOf(shapes[shape]); got != want {
			t.Errorf("%s: at ratio 1, got %s, want %s as written", shape, got, want)
		}
	}
	if got, want := sizesFor(shapes["two"], decimal("4", "2")), "app: cpu 50m/50m, memory 64Mi/64Mi; side: cpu 63m/0m, memory 64Mi/77Mi; "; got != want {
		t.Errorf("at the lower bounds: got %s, want %s", got, want)
	}
}

func TestSoak(t *testing.T) {
	t.Run("one more goroutine is a problem", oneMoreGoroutineIsAProblem)
}

func oneMoreGoroutineIsAProblem(t *testing.T) {
	before := []quiet{{"a", true, goroutines{"lead": 2, "serve": 1}}, {"b", false, goroutines{"serve": 1}}, {"c", true, goroutines{"lead": 2}}}
	for _, tc := range []struct {
		name  string
		later quiet
		want  []string
	}{
		{"as many as the first leader", quiet{"b", true, goroutines{"lead": 2, "serve": 1}}, nil},
		{"a follower is not compared to leaders", quiet{"b", false, goroutines{"lead": 1, "serve": 1}}, []string{"b has 2 goroutines, the first process in its role had 1: +1 lead"}},
		{"more than it had before, but not more than the first", quiet{"c", true, goroutines{"lead": 2, "serve": 1}}, []string{"c has 3 goroutines, before it had 2: +1 serve"}},
		{"a leader with more than the first leader", quiet{"b", true, goroutines{"lead": 2, "serve": 3}}, []string{"b has 5 goroutines, the first process in its role had 3: +2 serve"}},
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
		t.Errorf("least keeps %v, want %v", once, want)
	}
}
