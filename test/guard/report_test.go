package guard

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// report counts what came of the resizes.
type report struct {
	pace *pace
	mu   sync.Mutex
	rows []*row
}

// row is what came of the resizes of pods with the same fate.
type row struct {
	name string
	// pods are all of them. Of pods into which harm was injected, blocked had no room for their
	// former size at first, reverted have it, and missed do not. Of other pods, wrong were
	// reverted. A source that is asked at this interval shows the harm, or the status if it is 0.
	injected                               bool
	interval                               time.Duration
	pods, reverted, blocked, missed, wrong int
	// took is how long reverts took, and beyond how much longer than the same rounds of another client.
	took, beyond []time.Duration
}

func (r *report) row(name string, injected bool) *row {
	for _, row := range r.rows {
		if row.name == name {
			return row
		}
	}
	r.rows = append(r.rows, &row{name: name, injected: injected})
	return r.rows[len(r.rows)-1]
}

// injected adds pods into which harm was injected, some of which had no room at first.
func (r *report) injected(t *testing.T, name string, pods []course, blocked map[string]bool) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.row(name, true)
	for i := range pods {
		c := &pods[i]
		if c.what == nil || c.harmed.IsZero() {
			t.Errorf("%s was not harmed", c)
			continue
		}
		row.pods, row.interval = row.pods+1, c.what.interval
		if blocked[c.pod.Name] {
			row.blocked++
		}
		if c.back.IsZero() {
			row.missed++
			t.Errorf("%s was not reverted", c)
			continue
		}
		row.reverted++
		took := c.back.Sub(c.harmed)
		row.took, row.beyond = append(row.took, took), append(row.beyond, took-r.pace.ofRevert(c.harmed, c.back))
		if err := revertedOnce(c); err != nil {
			t.Error(err)
		}
	}
}

// kept adds pods that must keep their lower size, including those that are gone.
func (r *report) kept(t *testing.T, name string, pods []course) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.row(name, false)
	for i := range pods {
		row.pods++
		if c := &pods[i]; !untouched(c) {
			row.wrong++
			t.Errorf("%s: %s was reverted without a reason", name, c)
		}
	}
}

// judge fails the test if reverts took too long.
func (r *report) judge(t *testing.T) {
	t.Helper()
	for _, row := range r.rows {
		if p99, most := percentile(row.beyond, 99), row.interval+within; p99 > most {
			t.Errorf("%s: 99%% of the reverts took up to %v, which is up to %v longer than the same rounds of another client; want at most %v",
				row.name, percentile(row.took, 99), p99, most)
		}
	}
}

// String returns a table.
func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\nPODS\tCOUNT\tREVERTED\tBLOCKED\tMISSED\tWRONGLY REVERTED\tP50\tP99\tMAX")
	for _, row := range r.rows {
		if row.injected {
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t-\t%v\t%v\t%v\n", row.name, row.pods, row.reverted, row.blocked, row.missed,
				percentile(row.took, 50), percentile(row.took, 99), percentile(row.took, 100))
		} else {
			fmt.Fprintf(table, "%s\t%d\t-\t-\t-\t%d\t-\t-\t-\n", row.name, row.pods, row.wrong)
		}
	}
	// A strings.Builder never fails to be written.
	_ = table.Flush()
	fmt.Fprintf(&text, "\nA read, a write and a watch by another client took up to %v.\n", r.pace.slowest(time.Time{}, time.Now()).Round(time.Millisecond))
	return text.String()
}

// percentile returns the smallest of some durations that at least a percentage does not exceed.
func percentile(of []time.Duration, percent int) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Round(time.Millisecond)
}
