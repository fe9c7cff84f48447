package samples

import queue "container/heap"

// shrink drops the last rows of the largest groups until all fit.
func shrink(groups []group, bytes int) {
	h := make(bySize, len(groups))
	total := 0
	for i := range groups {
		h[i] = sized{&groups[i], i}
		total += groups[i].bytes
	}
	queue.Init(&h)
	for total > bytes {
		largest := h[0].group
		last := len(largest.rows) - 1
		size := largest.rows[last].bytes()
		if last == 0 {
			size = largest.bytes
		}
		largest.rows = largest.rows[:last]
		largest.bytes -= size
		total -= size
		queue.Fix(&h, 0)
	}
}

// sized is a group and its position, so that the order of groups with equal size is
// deterministic.
type sized struct {
	*group
	place int
}

// bySize is a heap with the largest group at the front: a feed may have so many groups that a
// linear search for each removal would take hours.
type bySize []sized

func (h bySize) Len() int      { return len(h) }
func (h bySize) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h bySize) Less(i, j int) bool {
	if h[i].bytes != h[j].bytes {
		return h[i].bytes > h[j].bytes
	}
	return h[i].place < h[j].place
}

// Push and Pop implement queue.Interface; shrink never adds or removes groups.
func (h *bySize) Push(x any) { *h = append(*h, x.(sized)) }
func (h *bySize) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
