package pages

import (
	"net/http"
	"strconv"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/rows"
)

// window is the part of a long table that a page shows.
type window struct {
	// First and Last are the numbers of its rows, as people count, and Count is how many rows the table has.
	First, Last, Count int
	// Before and After are the addresses of the windows before and after this one; empty if there are none.
	Before, After string
}

// windowOf returns the window with as many rows after so many others, of a table with count rows. at returns the address of a window.
func windowOf(from, shown, count int, at func(from int) string) window {
	w := window{First: from + min(1, shown), Last: from + shown, Count: count}
	if from > 0 {
		w.Before = at(max(0, from-rows.Most))
	}
	if w.Last < count {
		w.After = at(w.Last)
	}
	return w
}

// windowIn returns the rows of a table in the window that the address of a page names.
func windowIn[T any](r *http.Request, all []T) ([]T, window) {
	begin, end := rows.Bounds(rows.From(r.URL.Query()), len(all))
	return all[begin:end], windowOf(begin, end-begin, len(all), func(from int) string {
		values := r.URL.Query()
		if values.Del(rows.FromKey); from > 0 {
			values.Set(rows.FromKey, strconv.Itoa(from))
		}
		return path(r.URL.Path, values)
	})
}
