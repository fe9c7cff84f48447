package productiontest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/ratios/production/stored"
)

// TestHostileEvidence checks that an estimate of any evidence that can be read has only numbers, if it has any.
func TestHostileEvidence(t *testing.T) {
	s := Defaults()
	s.Workloads, s.Types, s.Known, s.Moving, s.Biased, s.Biases = 12, 4, 0.5, 0.5, 0.3, Biases
	c := New(1, s)
	e := evidence.New()
	c.Run(e, 5)
	c.Apply(map[string]float64{"t1": 1.1, "t2": 1.2, "t3": 1.4})
	c.Run(e, 4)
	good := stored.Write(e)
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 3000 {
		b := bytes.Clone(good)
		for range 1 + random.IntN(20) {
			b[random.IntN(len(b))] = byte(random.IntN(256))
		}
		e, err := stored.Read(b)
		if err != nil {
			continue
		}
		read++
		r := estimate.Estimate(e, c.Baseline(), estimate.Defaults())
		for _, x := range r.Types {
			for _, i := range []estimate.Interval{x.Cluster, x.Population, x.Next} {
				if !(i.Low <= i.Ratio && i.Ratio <= i.High) || math.IsInf(i.Ratio, 0) || i.Ratio < 0 {
					t.Fatalf("%+v", x)
				}
			}
			if len(x.Doubts) == 0 && (x.Cluster.Ratio < 0.1 || x.Cluster.Ratio > 10) {
				t.Errorf("a ratio without doubts is %.3f", x.Cluster.Ratio)
			}
		}
	}
	if read < 300 {
		t.Errorf("only %d can be read: this test shows little", read)
	}
}
