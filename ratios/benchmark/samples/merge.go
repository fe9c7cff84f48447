package samples

import (
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Outcome is what became of an added sample.
type Outcome int

const (
	// NotStored: its ConfigMap could not be written; the error says why. It may
	// be stored all the same if that is that the caller did not wait.
	NotStored Outcome = iota - 1
	// Stored: it is kept.
	Stored
	// Known: it was kept before, by its id. Where only its time is newer, by more
	// than a day, it has that time now: published rows without a time of their
	// own are as of when they were read.
	Known
	// Old: newer ones fill the place, or it is older than what is kept.
	Old
	// Conflict: another sample has the id.
	Conflict
)

// refreshAfter is by how much a known sample must be newer to be written again.
const refreshAfter = 24 * time.Hour

// normal is the sample as it is kept: to the second, in UTC.
func normal(s sample.Sample) sample.Sample {
	s.Time = s.Time.UTC().Truncate(time.Second)
	return s
}

// isSame tells whether a sample is the one that is known by its id. When it was
// read, and by which feed, makes no other.
func isSame(a, b sample.Sample) bool {
	a.Time, b.Time = time.Time{}, time.Time{}
	a.Source, b.Source = "", ""
	return a == b
}

// id identifies a sample in a shard.
type id struct{ nodeType, id string }

// merge adds rows to what a shard says. It returns what became of each, and the
// data that the ConfigMap is to have, nil if that need not change.
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

// write makes the data of a ConfigMap.
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
