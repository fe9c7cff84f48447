package estimate

import "testing"

// Two benchmarks are needed, and two were published: n4 is 1.1 times as fast by publishers, and 1.2
// times by its own agents.
func TestOnlyTheBestSource(t *testing.T) {
	for _, tc := range []struct {
		name string
		own  []string
		want float64
	}{
		{"as many benchmarks of the node agent as are needed", []string{"a", "b"}, 1.2},
		{"too few of them", []string{"a"}, 1.1},
		{"none", nil, 1.1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			samples := append(sized("n2d", map[int]float64{8: 100}), sized("n4", map[int]float64{8: 110})...)
			for _, benchmark := range tc.own {
				samples = append(samples, batch{"n2d", benchmark, 100, []int{2, 1}}.samples()...)
				samples = append(samples, batch{"n4", benchmark, 120, []int{2, 1}}.samples()...)
			}
			e := estimates(samples, "n2d", lenient())["n4"]
			if own := tc.want == 1.2; !near(e.Ratio, tc.want, 1e-9) || e.Own != own {
				t.Errorf("ratio %v, own %v", e.Ratio, e.Own)
			}
		})
	}
}
