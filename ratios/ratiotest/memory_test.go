package ratiotest

import (
	"errors"
	"maps"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	Run(t, func(*testing.T) Source {
		m := NewMemory("memory", ratios.Update{Err: errors.New("not there")})
		return Source{
			Provider: m,
			Write: func(l *ratios.Layer) {
				named := *l
				named.Ratios = maps.Clone(l.Ratios)
				for nodeType, r := range named.Ratios {
					r.Provenance.Source = "memory"
					named.Ratios[nodeType] = r
				}
				m.Set(ratios.Update{Layer: &named})
			},
			Break:  func() { m.Set(ratios.Update{Err: errors.New("bad")}) },
			Remove: func() { m.Set(ratios.Update{Err: errors.New("gone")}) },
		}
	})
}
