package ratios

import (
	"errors"
	"fmt"
)

// WhatIf returns the table that there would be if the source said this instead
// of what it says now; the source "" decides before all others. A nil layer says
// nothing. The error says what the layers would lack together.
func (s *Store) WhatIf(source string, layer *Layer) (*Table, error) {
	layers, err := s.layersWith(source, layer)
	if err != nil {
		return nil, err
	}
	t, err := Merge(layers)
	if err != nil {
		return nil, errors.Join(errors.New("these ratios cannot be"), err)
	}
	return t, nil
}

// layersWith returns the layers with that of the source replaced. Nobody changes
// a layer, so they can be merged without the lock, which sources report under.
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

// LookupWithout returns what the sources other than this one say of a node type,
// the first that names it, as if the source did not say anything; false if none
// does. It needs no table: what is left without a source may lack a baseline.
func (s *Store) LookupWithout(source, nodeType string) (Ratio, bool) {
	s.mu.Lock()
	layers := make([]*Layer, len(s.sources))
	for i, src := range s.sources {
		if s.providers[i].Name() != source {
			layers[i] = src.layer
		}
	}
	s.mu.Unlock()
	return lookup(absolute(layers), nodeType)
}
