package ratiotest

import (
	"errors"
	"maps"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios"
)

func TestMemory(t *testing.T) {
	t.Run("keeps the contract of providers", keepsTheContractOfProviders)
	t.Run("keeps the contract as a relative source", keepsTheContractAsARelativeSource)
}

func keepsTheContractOfProviders(t *testing.T) {
	Run(t, func(*testing.T) Source {
		m := NewMemory("memory", ratios.Update{Err: errors.New("missing")})
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

func keepsTheContractAsARelativeSource(t *testing.T) {
	Run(t, func(*testing.T) Source {
		m := NewMemory("memory", ratios.Update{Layer: &ratios.Layer{RelativeTo: "n2d"}})
		return Source{
			Provider: m, Optional: true, RelativeTo: "n2d",
			Write: func(l *ratios.Layer) {
				ratio := ratios.Ratio{CPUPerf: l.Ratios["n4"].CPUPerf, Provenance: ratios.Provenance{Source: "memory"}}
				m.Set(ratios.Update{Layer: &ratios.Layer{RelativeTo: "n2d", Ratios: map[string]ratios.Ratio{"n4": ratio}}})
			},
			Break:  func() { m.Set(ratios.Update{Err: errors.New("bad")}) },
			Remove: func() { m.Set(ratios.Update{Err: errors.New("gone")}) },
		}
	})
}
