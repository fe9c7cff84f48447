package ratios

import (
	"errors"
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/policy"
)

// WhatIf returns the table that would result if this layer replaced the source's current one.
// The source "" takes precedence over all others. A nil layer is empty. The error describes
// what the merged layers would lack.
func (s *Store) WhatIf(source string, layer *Layer) (*Table, error) {
	layers, err := s.layersWith(source, layer)
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

// layersWith returns the layers with the source's layer replaced. Layers never change, so the
// caller can merge them without the lock, which sources need to report.
func (s *Store) layersWith(source string, layer *Layer) ([]*Layer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table.Load() == nil {
		return nil, s.problems()
	}
	var layers []*Layer
	found := source == ""
	if found {
		layers = append(layers, layer)
	}
	for i := range s.sources {
		if source != "" && s.providers[i].Name() == source {
			layers, found = append(layers, layer), true
			continue
		}
		layers = append(layers, s.sources[i].layer)
	}
	if !found {
		return nil, fmt.Errorf("ratio source %s is not used", source)
	}
	return layers, nil
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
