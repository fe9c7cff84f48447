package override

import "slices"

// Page says which changes to return.
type Page struct {
	// NodeType is the only one whose changes are returned; empty is all.
	NodeType string
	// Before is the number that they are below; 0 begins with the newest.
	Before int64
	// Size is how many there may be.
	Size int
}

// Changes returns changes, the newest first, and whether there are more. The error
// says why they are not known.
func (s *Store) Changes(p Page) (page []Change, more bool, err error) {
	err = s.document.Err()
	s.mu.Lock()
	changes := s.changes
	s.mu.Unlock()
	if changes == nil {
		return nil, false, err
	}
	for _, c := range slices.Backward(changes) {
		if p.Before != 0 && c.Number >= p.Before || p.NodeType != "" && !c.Names(p.NodeType) {
			continue
		}
		if len(page) == p.Size {
			return page, true, nil
		}
		page = append(page, c)
	}
	return page, false, nil
}
