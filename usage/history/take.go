package history

import "maps"

// Take moves all that another history has to h, and replaces what h has of the same containers. It
// takes no longer for long histories, so that they can be read while h is in use.
func (h *History) Take(other *History) {
	maps.Copy(h.containers, other.containers)
	if h.newest.Before(other.newest) {
		h.newest = other.newest
	}
	clear(other.containers)
}
