package stored

import (
	"fmt"
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// TestSlope restarts once a day, which must not lose how the difference of the day grows with load.
func TestSlope(t *testing.T) {
	const began, days = 480_000, 10 // A day begins there.
	for _, restart := range []int{3, 12, 15, 22} {
		t.Run(fmt.Sprintf("a restart in hour %d", restart), func(t *testing.T) {
			e := evidence.New()
			for at := range 24 * days {
				if at%24 == restart {
					var err error
					if e, err = Read(Write(e)); err != nil {
						t.Fatal(err)
					}
				}
				x := math.Sin(float64(at) * 2 * math.Pi / 24)
				e.Add(loaded(began+int64(at), x))
			}
			e, err := Read(Write(e))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range e.Workloads {
				if s := w.Cells[0].Slope; math.Abs(s.Mean-0.5) > 0.01 || s.Days < days-2 || s.Days > 2*days {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

// loaded returns an hour with a load, in which two types differ by half of it.
func loaded(at int64, load float64) evidence.Hour {
	h := evidence.Hour{Workload: 1, At: at}
	for i := range 4 {
		h.Replicas = append(h.Replicas, evidence.Replica{
			Node: evidence.KeyOf(fmt.Sprint(i)), NodeType: [...]string{"n2d", "n4"}[i/2], Zone: "a",
			CPU: math.Exp(load + [...]float64{-load / 4, load / 4}[i/2]), Request: 1, Busy: math.NaN(), Whole: true,
		})
	}
	return h
}
