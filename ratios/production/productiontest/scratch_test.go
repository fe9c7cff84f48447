package productiontest

import (
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

func TestScratchLong(t *testing.T) {
	for _, renew := range []int{0, 1} {
		s := live()
		c := New(1, s)
		e := evidence.New()
		c.Run(e, 7)
		ratios := map[string]float64{}
		for k, x := range c.types {
			ratios[x.name] = math.Exp(c.Population(k))
		}
		c.Apply(ratios)
		for day := 0; day < 168; day += 7 {
			for range 7 {
				if renew == 1 { // Workloads are replaced by others over 40 days.
					for i := range c.Workloads {
						if (i+day)%40 < 7 {
							w := c.workload(uint64(1+day), 1000+i)
							w.Namespace = c.Workloads[i].Namespace
							w.Key = evidence.KeyOf("again", string(rune(i)), string(rune(day)))
							c.Workloads[i] = w
						}
					}
				}
				c.Run(e, 1)
			}
			for _, x := range estimate.Estimate(e, c.Baseline(), estimate.Defaults()).Types {
				var codes []estimate.Code
				for _, d := range x.Doubts {
					codes = append(codes, d.Code)
				}
				t.Logf("renew %d day %d %s: %.3f (%.3f to %.3f) truth %.3f, %d workloads, %v %v", renew, day+14, x.NodeType, x.Cluster.Ratio, x.Cluster.Low, x.Cluster.High, math.Exp(c.Mean(number(x.NodeType))), x.Workloads, codes, x.Held)
			}
		}
	}
}
