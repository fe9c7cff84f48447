package samples

import (
	"slices"
	"strconv"
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

// normal returns the sample in the form in which it is stored: its time to the second, in UTC, and
// its scores to six digits. Machines and runs differ by about 1%, and more digits would take half
// of the space.
func normal(s sample.Sample) sample.Sample {
	s.Time = s.Time.UTC().Truncate(time.Second)
	s.Score, s.SingleThread, s.OtherLoad = sixDigits(s.Score), sixDigits(s.SingleThread), sixDigits(s.OtherLoad)
	return s
}

// sixDigits rounds a number to six significant digits.
func sixDigits(f float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
	if err != nil {
		return f // Out of range.
	}
	return rounded
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
func merge(c content, add []row, l Limits, now time.Time) (data map[string]string, outcomes []Outcome, err error) {
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
		return nil, outcomes, nil
	}
	l = l.orDefault()
	for ; ; l.Bytes -= l.Bytes / 8 {
		groups := l.bound(rows, now)
		kept, changed := map[id]bool{}, false
		for _, g := range groups {
			for _, r := range g.rows {
				name := id{r.NodeType, r.ID}
				kept[name] = true
				changed = changed || touched[name]
			}
		}
		if data = nil; changed {
			data, err = write(c, groups)
			switch {
			case err != nil:
				return nil, nil, err
			case bytesOf(data) > maxBytes:
				continue // Such samples take more space than most.
			}
		}
		for i, r := range add {
			if outcomes[i] != Conflict && !kept[id{r.NodeType, r.ID}] {
				outcomes[i] = Old
			}
		}
		return data, outcomes, nil
	}
}

// write returns the data of a ConfigMap whose content is c. It keeps the text of node types whose
// rows do not change, unless it is in the format of an earlier release.
func write(c content, groups []group) (map[string]string, error) {
	rows := map[string][]row{}
	for _, g := range groups {
		rows[g.nodeType] = append(rows[g.nodeType], g.rows...)
	}
	data := make(map[string]string, len(rows))
	p := packer{}
	for nodeType, rows := range rows {
		if len(rows) == 0 {
			continue
		}
		slices.SortFunc(rows, inOrder)
		if before := c[nodeType]; before != nil && before.packed && slices.Equal(before.rows, rows) {
			data[nodeType] = before.text
			continue
		}
		text, err := p.pack(rows)
		if err != nil {
			return nil, err
		}
		data[nodeType] = text
	}
	return data, nil
}

// bytesOf returns the size of the data of a ConfigMap, as the API server counts it.
func bytesOf(data map[string]string) int {
	bytes := 0
	for key, text := range data {
		bytes += len(key) + len(text)
	}
	return bytes
}
