package size

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestLike(t *testing.T) {
	for _, tc := range []struct {
		old    string
		m      *sizing.Measure
		amount int64
		want   string
	}{
		{"0.5", sizing.CPU, 250, "0.25"}, {"0.5", sizing.CPU, 1000, "1"}, {"1.50", sizing.CPU, 264, "0.264"}, {".5", sizing.CPU, 1250, "1.25"},
		{"500m", sizing.CPU, 1000, "1000m"}, {"1", sizing.CPU, 2000, "2"}, {"1", sizing.CPU, 264, "264m"}, {"1e3m", sizing.CPU, 264, "264m"}, {"2k", sizing.CPU, 264, "264m"},
		{"1Gi", sizing.Memory, 2 << 30, "2Gi"}, {"1Gi", sizing.Memory, 3 << 29, "1536Mi"}, {"0.5Gi", sizing.Memory, 3 << 29, "1.5Gi"}, {"0.5Gi", sizing.Memory, 333 << 20, "333Mi"},
		{"1024Mi", sizing.Memory, 2 << 30, "2048Mi"}, {"512M", sizing.Memory, 256e6, "256M"}, {"512M", sizing.Memory, 256 << 20, "256Mi"}, {"1048576", sizing.Memory, 2 << 20, "2097152"},
		{"1e9", sizing.Memory, 256 << 20, "256Mi"}, {"", sizing.Memory, 12884901889, "12884901889"}, {"", sizing.CPU, 1500, "1500m"}, {"1000m", sizing.Memory, 1 << 20, "1Mi"},
	} {
		got := Like(tc.old, tc.m, tc.amount)
		if n, err := tc.m.Parse(got); got != tc.want || err != nil || n != tc.amount {
			t.Errorf("%d like %q is %q (%d, %v), want %q", tc.amount, tc.old, got, n, err, tc.want)
		}
	}
}

// TestWhole checks that new amounts of memory are whole Mi, unless a bound forbids it, and that others stay as written.
func TestWhole(t *testing.T) {
	for _, tc := range []struct {
		name       string
		has        Pair
		target     string
		bound      int64
		guaranteed bool
		want       Pair
	}{
		{"a request alone", Pair{Request: "128Mi"}, "305245249", 0, false, Pair{Request: "292Mi"}},
		{"a limit that follows", Pair{"128Mi", "256Mi"}, "305245249", 0, false, Pair{"292Mi", "584Mi"}},
		{"a Guaranteed pod", Pair{"128Mi", "128Mi"}, "305245249", 0, true, Pair{"292Mi", "292Mi"}},
		{"up to a bound", Pair{"128Mi", "128Mi"}, "4Gi", 305245249, true, Pair{"305245249", "305245249"}},
		{"what the author wrote", Pair{"300000000", "600000000"}, "305245249", 0, false, Pair{"300000000", "600000000"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, needs := tc.has, Need{Target: tc.target, Bounds: sizing.Range{Max: tc.bound}}
			changes, _, err := Of(sizing.Memory, tc.has, &needs, tc.guaranteed, &Rules{MinChange: 0.1})
			for _, c := range changes {
				if c.Limit {
					got.Limit = c.To
				} else {
					got.Request = c.To
				}
			}
			if got != tc.want || err != nil {
				t.Errorf("%+v (%v), want %+v", got, err, tc.want)
			}
		})
	}
}

// TestClass checks that no change moves a pod out of its class, or a limit below its request.
func TestClass(t *testing.T) {
	amounts := []string{"", "64Mi", "256Mi", "1Gi"}
	for _, request := range amounts {
		for _, limit := range amounts {
			for _, target := range []string{"16Mi", "256Mi", "700Mi", "4Gi"} {
				for _, keeps := range []string{"", "unknown"} {
					has := Pair{request, limit}
					from, err := has.amounts(sizing.Memory)
					if err != nil || from.Limit > 0 && from.Request > from.Limit {
						continue
					}
					guaranteed := from.Limit > 0 && from.Request == from.Limit
					rules := Rules{MinChange: 0.1}
					for range 2 {
						changes, _, err := Of(sizing.Memory, has, &Need{Target: target, Keeps: keeps}, guaranteed, &rules)
						if err != nil {
							t.Fatal(err)
						}
						for _, c := range changes {
							if c.Limit {
								has.Limit = c.To
							} else {
								has.Request = c.To
							}
							if keeps != "" && c.New < c.Old {
								t.Errorf("%+v: %s is lowered to %s", has, c.From, c.To)
							}
						}
					}
					again, _, err := Of(sizing.Memory, has, &Need{Target: target, Keeps: keeps}, guaranteed, &rules)
					to, _ := has.amounts(sizing.Memory)
					if err != nil || len(again) > 0 {
						t.Errorf("%+v changes again: %+v, %v", has, again, err)
					}
					if to.Limit > 0 && to.Request > to.Limit || guaranteed != (to.Limit > 0 && to.Request == to.Limit) && guaranteed || (limit == "") != (has.Limit == "") {
						t.Errorf("%s/%s became %+v", request, limit, has)
					}
				}
			}
		}
	}
}
