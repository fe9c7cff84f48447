package kernel

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	sortRecords = 1 << 14
	sortM       = sortRecords / 1e6
)

type record struct {
	key   string
	value int
}

// newSort sorts records by their keys, as merging and grouping do.
func newSort(int) Work {
	r := random()
	unsorted := make([]record, sortRecords)
	for i := range unsorted {
		unsorted[i] = record{fmt.Sprintf("key-%08x", r.Uint32()), i}
	}
	compare := func(a, b record) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value)) }
	want := slices.SortedFunc(slices.Values(unsorted), compare)
	sorted := make([]record, sortRecords)
	return func() error {
		copy(sorted, unsorted)
		slices.SortFunc(sorted, compare)
		if !slices.Equal(sorted, want) {
			return errWrong
		}
		return nil
	}
}
