package override

import "slices"

// Page selects the changes to return.
type Page struct {
	// NodeType limits the result to changes to one node type; empty means all.
	NodeType string
	// Before limits the result to changes with a lower number; 0 starts with the
	// newest change.
	Before int64
	// Size is the maximum number of changes.
	Size int
}

// Changes returns changes, newest first, and whether there are more. The error explains why the
// changes are not known.
func (s *Store) Changes(p Page) (page []Change, more bool, err error) {
	now, err := s.current()
	if err != nil {
		return nil, false, err
	}
	for _, c := range slices.Backward(now.changes) {
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
