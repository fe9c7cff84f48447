package backtest

import (
	"cmp"
	"container/heap"
	"iter"

	"github.com/workload-resizer/workload-resizer/usage/trace"
)

// inOrder returns the rows of all machines in the order of time, each with the index of its machine.
// Of rows with the same time, the first machine's is first.
func inOrder(machines []*trace.Machine) iter.Seq2[int, trace.Row] {
	return func(yield func(int, trace.Row) bool) {
		next := make(unread, len(machines))
		for i, m := range machines {
			next[i] = rest{i, m.Rows}
		}
		heap.Init(&next)
		for len(next) > 0 {
			first := &next[0]
			if !yield(first.machine, first.rows[0]) {
				return
			}
			if first.rows = first.rows[1:]; len(first.rows) > 0 {
				heap.Fix(&next, 0)
			} else {
				heap.Pop(&next)
			}
		}
	}
}

// rest is what is left of a machine's rows.
type rest struct {
	machine int
	rows    []trace.Row
}

// unread are the machines with rows that are left, as a heap.
type unread []rest

func (u unread) Len() int { return len(u) }

func (u unread) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(u[i].rows[0].At, u[j].rows[0].At), cmp.Compare(u[i].machine, u[j].machine)) < 0
}

func (u unread) Swap(i, j int) { u[i], u[j] = u[j], u[i] }

func (u *unread) Push(any) { panic("no machine begins later") }

func (u *unread) Pop() any {
	*u = (*u)[:len(*u)-1]
	return nil
}
