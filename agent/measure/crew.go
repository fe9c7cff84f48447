package measure

import (
	"runtime"
	"sync"
)

// crew is one thread per vCPU.
type crew struct {
	orders []chan func()
	done   sync.WaitGroup
}

// newCrew starts a thread on each vCPU, where settle leaves it.
func newCrew(cpus []int, settle func(cpu int)) *crew {
	c := &crew{}
	for _, cpu := range cpus {
		orders := make(chan func())
		c.orders = append(c.orders, orders)
		c.done.Go(func() {
			// Never unlocked: the thread ends with the goroutine, and so do its
			// affinity and priority.
			runtime.LockOSThread()
			settle(cpu)
			for do := range orders {
				do()
			}
		})
	}
	return c
}

// size returns the number of threads.
func (c *crew) size() int { return len(c.orders) }

// together calls do on the first n threads in parallel, and returns when all calls have
// returned. The other threads stay idle.
func (c *crew) together(n int, do func(thread int)) {
	var all sync.WaitGroup
	all.Add(n)
	for thread, orders := range c.orders[:n] {
		orders <- func() {
			defer all.Done()
			do(thread)
		}
	}
	all.Wait()
}

// dismiss ends the threads.
func (c *crew) dismiss() {
	for _, orders := range c.orders {
		close(orders)
	}
	c.done.Wait()
}
