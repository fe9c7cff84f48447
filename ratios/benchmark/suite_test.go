package benchmark

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/pace"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func contract(t *testing.T, s *stored) {
	ratiotest.Run(t, func(t *testing.T) ratiotest.Source {
		s.remove(t)
		return ratiotest.Source{
			Provider: New(s.config(Config{})),
			Write: func(l *ratios.Layer) {
				p := published{NodeTypes: map[string]entry{}}
				for name, r := range l.Ratios {
					if name != "n2d" {
						p.NodeTypes[name] = entry{State: pace.State{Baseline: "n2d", Ratio: r.CPUPerf}}
					}
				}
				data, err := p.format()
				if err != nil {
					t.Fatal(err)
				}
				s.write(t, s.state(), data)
			},
			Break:      func() { s.write(t, s.state(), map[string]string{publishedKey: `{"nodeTypes": {"n4": {"ratio": -1}}}`}) },
			Remove:     func() { s.remove(t) },
			Optional:   true,
			OnlyRatios: true,
			RelativeTo: "n2d",
		}
	})
}
