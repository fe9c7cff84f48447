package samples

import (
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Outcome is the outcome of adding a sample.
type Outcome int

const (
	// NotStored means that the ConfigMap could not be written; the error explains
	// why. If the error is that the caller stopped waiting, the sample may still be
	// stored.
	NotStored Outcome = iota - 1
	// Stored means that the sample is stored.
	Stored
	// Known means that the sample was stored before, by its ID. If only its time is
	// newer, by more than a day, the stored time is updated: published rows without
	// their own time count as of when they were read.
	Known
	// Old means that newer samples take its place, or that it exceeds the maximum
	// age.
	Old
	// Conflict means that a different sample has the ID.
	Conflict
)

// refreshAfter is how much newer a known sample must be to be written again.
const refreshAfter = 24 * time.Hour

// normal returns the sample in the form in which it is stored: to the second, in UTC.
func normal(s sample.Sample) sample.Sample {
	s.Time = s.Time.UTC().Truncate(time.Second)
	return s
}

// isSame reports whether two samples with the same ID are equal. When and from which feed a
// sample was read makes no difference.
func isSame(a, b sample.Sample) bool {
	a.Time, b.Time = time.Time{}, time.Time{}
	a.Source, b.Source = "", ""
	return a == b
}

// id identifies a sample in a shard.
type id struct{ nodeType, id string }

// merge adds rows to the content of a shard. It returns the new data of the ConfigMap, or nil
// if the data does not change, and the outcome of each row.
func merge(c content, add []row, l Limits, now time.Time) (data map[string]string, outcomes []Outcome) {
	rows := make([]row, 0, c.count()+len(add))
	for _, e := range c {
		rows = append(rows, e.rows...)
	}
	at := make(map[id]int, cap(rows))
	for i := range rows {
		at[id{rows[i].NodeType, rows[i].ID}] = i
	}
	outcomes = make([]Outcome, len(add))
	touched := map[id]bool{}
	for i, r := range add {
		name := id{r.NodeType, r.ID}
		known, ok := at[name]
		switch {
		case !ok:
			at[name], touched[name] = len(rows), true
			rows = append(rows, r)
		case !isSame(rows[known].Sample, r.Sample):
			outcomes[i] = Conflict
		default:
			outcomes[i] = Known
			if r.Time.Sub(rows[known].Time) > refreshAfter {
				rows[known], touched[name] = r, true
			}
		}
	}
	if len(touched) == 0 {
		return nil, outcomes
	}
	groups := l.bound(rows, now)
	kept := map[id]bool{}
	changed := false
	for _, g := range groups {
		for _, r := range g.rows {
			name := id{r.NodeType, r.ID}
			kept[name] = true
			changed = changed || touched[name]
		}
	}
	for i, r := range add {
		if outcomes[i] != Conflict && !kept[id{r.NodeType, r.ID}] {
			outcomes[i] = Old
		}
	}
	if !changed {
		return nil, outcomes
	}
	return write(groups), outcomes
}

// write returns the data of a ConfigMap.
func write(groups []group) map[string]string {
	texts := map[string]*strings.Builder{}
	for _, g := range groups {
		if len(g.rows) == 0 {
			continue
		}
		if texts[g.nodeType] == nil {
			texts[g.nodeType] = &strings.Builder{}
		}
		slices.SortFunc(g.rows, newestFirst)
		for _, r := range g.rows {
			texts[g.nodeType].WriteString(r.line)
			texts[g.nodeType].WriteByte('\n')
		}
	}
	data := make(map[string]string, len(texts))
	for nodeType, text := range texts {
		data[nodeType] = text.String()
	}
	return data
}
