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
	for {
		groups := l.bound(rows, now)
		kept, changed, counted := map[id]bool{}, false, 0
		for _, g := range groups {
			counted += g.bytes
			for _, r := range g.rows {
				name := id{r.NodeType, r.ID}
				kept[name] = true
				changed = changed || touched[name]
			}
		}
		if data = nil; changed {
			var unpacked int
			data, unpacked, err = write(c, groups)
			if err != nil {
				return nil, nil, err
			}
			// Some samples take much more space than most, packed or unpacked.
			if excess := max(float64(bytesOf(data))/maxBytes, float64(unpacked)/maxUnpacked); excess > 1 {
				l.Bytes = below(l.Bytes, int(float64(min(l.Bytes, counted))/excess))
				continue
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

// below returns a lower limit of bytes, near a target. From the same limit, it is always one of the same
// few values: otherwise, a feed that is read again in parts would be cut at a different place each time.
func below(limit, target int) int {
	for {
		limit -= max(1, limit/8)
		if limit <= 1 || limit-limit/8 <= target {
			return max(1, limit)
		}
	}
}

// write returns the data of a ConfigMap whose content is c, and its size unpacked. It keeps the text
// of node types whose rows do not change, unless it is in the format of an earlier release.
func write(c content, groups []group) (data map[string]string, unpacked int, err error) {
	rows := map[string][]row{}
	for _, g := range groups {
		rows[g.nodeType] = append(rows[g.nodeType], g.rows...)
	}
	data = make(map[string]string, len(rows))
	p := packer{}
	for nodeType, rows := range rows {
		if len(rows) == 0 {
			continue
		}
		slices.SortFunc(rows, inOrder)
		if before := c[nodeType]; before != nil && before.packed && slices.Equal(before.rows, rows) {
			data[nodeType], unpacked = before.text, unpacked+before.unpacked
			continue
		}
		text, size, err := p.pack(rows)
		if err != nil {
			return nil, 0, err
		}
		data[nodeType], unpacked = text, unpacked+size
	}
	return data, unpacked, nil
}

// bytesOf returns the size of the data of a ConfigMap, as the API server counts it.
func bytesOf(data map[string]string) int {
	bytes := 0
	for key, text := range data {
		bytes += len(key) + len(text)
	}
	return bytes
}
