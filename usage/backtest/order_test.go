package backtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/trace"
)

func TestInOrder(t *testing.T) {
	machine := func(times ...int64) *trace.Machine {
		m := &trace.Machine{}
		for _, at := range times {
			m.Rows = append(m.Rows, trace.Row{At: at})
		}
		return m
	}
	machines := []*trace.Machine{machine(1, 3, 3, 9), machine(0, 3, 4), machine(3), machine(9, 10)}
	want := []string{"1 at 0", "0 at 1", "0 at 3", "0 at 3", "1 at 3", "2 at 3", "1 at 4", "0 at 9", "3 at 9", "3 at 10"}
	var got []string
	for i, row := range inOrder(machines) {
		got = append(got, fmt.Sprintf("%d at %d", i, row.At))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for i := range inOrder(machines) {
		if i != 1 {
			t.Errorf("machine %d", i)
		}
		break
	}
	t.Run("takes no longer per row for a workload of thousands of replicas", func(t *testing.T) {
		pass := func(n int) time.Duration {
			var many []*trace.Machine
			times := make([]int64, 200_000/n)
			for i := range times {
				times[i] = int64(i)
			}
			for range n {
				many = append(many, machine(times...))
			}
			began := time.Now()
			for range inOrder(many) {
				continue
			}
			return time.Since(began)
		}
		if few, many := pass(10), pass(5000); many > 50*few {
			t.Errorf("%v with 5,000 replicas, and %v with 10", many, few)
		}
	})
}
