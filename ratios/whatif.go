package ratios

import (
	"errors"
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
)

// Assumed is a layer that replaces the current one of a source. The source "" takes precedence over all others. A nil layer is empty.
type Assumed struct {
	Source string
	Layer  *Layer
}

// WhatIf returns the table that would result from layers of different sources. The error describes what the merged layers would lack.
func (s *Store) WhatIf(assumed ...Assumed) (*Table, error) {
	layers, err := s.layersWith(assumed)
	if err != nil {
		return nil, err
	}
	t, err := Merge(layers)
	if err != nil {
		return nil, errors.Join(errors.New("these ratios are not valid"), err)
	}
	return t, nil
}

// WithDemandMode returns the table that would result if all rules had this mode, and demand came from usage.
func (t *Table) WithDemandMode(mode string) *Table {
	assumed := *t
	assumed.profiles = make([]*Profile, len(t.profiles))
	for i, p := range t.profiles {
		profile := *p
		profile.Demand.From, profile.Demand.Mode = policy.FromUsage, mode
		assumed.profiles[i] = &profile
	}
	assumed.Revision = revision(assumed.profiles)
	return &assumed
}

// layersWith returns the layers with those replaced that are assumed. Layers never change, so the
// caller can merge them without the lock, which sources need to report.
func (s *Store) layersWith(assumed []Assumed) ([]*Layer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table.Load() == nil {
		return nil, s.problems()
	}
	above, layers := []*Layer{}, make([]*Layer, len(s.sources))
	for i := range s.sources {
		layers[i] = s.sources[i].layer
	}
	for _, a := range assumed {
		if a.Source == "" {
			above = append(above, a.Layer)
			continue
		}
		i := slices.IndexFunc(s.providers, func(p Provider) bool { return p.Name() == a.Source })
		if i < 0 {
			return nil, fmt.Errorf("ratio source %s is not used", a.Source)
		}
		layers[i] = a.Layer
	}
	return append(above, layers...), nil
}

// LookupWithout returns the ratio that a node type would have if the source were empty, from
// the first other source that names the node type; false if none does. It needs no table: the
// remaining sources may lack a baseline.
func (s *Store) LookupWithout(source, nodeType string) (Ratio, bool) {
	return s.lookupIn(nodeType, func(of int, _ *Layer) bool { return s.providers[of].Name() != source })
}

// LookupBelow returns the ratio that a relative source starts from and returns to: as LookupWithout, but
// also without the relative sources of higher precedence. These start from this source and return to it. If
// it returned to them, both could end on their way to each other.
func (s *Store) LookupBelow(source, nodeType string) (Ratio, bool) {
	own := slices.IndexFunc(s.providers, func(p Provider) bool { return p.Name() == source })
	return s.lookupIn(nodeType, func(of int, l *Layer) bool { return of > own || of < own && !l.isRelative() })
}

// lookupIn returns the ratio of a node type from the layers that has selects.
func (s *Store) lookupIn(nodeType string, has func(of int, l *Layer) bool) (Ratio, bool) {
	s.mu.Lock()
	layers := make([]*Layer, len(s.sources))
	for i, src := range s.sources {
		if has(i, src.layer) {
			layers[i] = src.layer
		}
	}
	s.mu.Unlock()
	return lookup(absolute(layers), nodeType)
}
