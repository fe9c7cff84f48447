package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

const (
	sortRecords = 1 << 14
	sortM       = sortRecords / 1e6
)

type record struct {
	key   string
	value int
}

func compareRecords(a, b record) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value))
}

// sharedRecords returns records, which all threads read, and the same records in order.
var sharedRecords = sync.OnceValues(func() (unsorted, want []record) {
	r := random()
	unsorted = make([]record, sortRecords)
	for i := range unsorted {
		unsorted[i] = record{fmt.Sprintf("key-%08x", r.Uint32()), i}
	}
	return unsorted, slices.SortedFunc(slices.Values(unsorted), compareRecords)
})

// newSort sorts records by their keys, as merging and grouping do.
func newSort(int) Work {
	unsorted, want := sharedRecords()
	sorted := make([]record, sortRecords)
	return func() error {
		copy(sorted, unsorted)
		slices.SortFunc(sorted, compareRecords)
		if !slices.Equal(sorted, want) {
			return errWrong
		}
		return nil
	}
}
