package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// round asks what is not known of the last hour, while that would not be late.
func (c *Counts) round(ctx context.Context) {
	rules, known := c.Cluster.Rules()
	if !known || !c.Leads() || !anyIn(rules.Table) {
		c.mu.Lock()
		c.last, c.failing = nil, nil
		c.mu.Unlock()
		return
	}
	now := c.Clock.Now()
	end := now.Truncate(time.Hour)
	if since := now.Sub(end); since < settled || since > over {
		return
	}
	h := c.begin(rules.Table, end)
	// Each Prometheus is asked on its own, so that none has to wait for a slow one.
	questions := map[string][]int{}
	for of, a := range h.asked {
		questions[a.address] = append(questions[a.address], of)
	}
	var asking sync.WaitGroup
	var mu sync.Mutex
	var failing []string
	for _, of := range questions {
		asking.Go(func() {
			faults := c.askAll(ctx, h, of)
			mu.Lock()
			defer mu.Unlock()
			failing = append(failing, faults...)
		})
	}
	asking.Wait()
	slices.Sort(failing)
	c.mu.Lock()
	c.failing = failing
	c.mu.Unlock()
}

// begin returns what is known of the hour that ended at a time.
func (c *Counts) begin(table *ratios.Table, end time.Time) *hour {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || !c.last.end.Equal(end) {
		c.last = newHour(end, c.Cluster.Pods("").List(), func(p *pod.Pod) (question, string, bool) {
			profile := table.Profile(p)
			return questionOf(&profile.Work), profile.Name, profile.Work.Counts()
		})
	}
	return c.last
}

// errBusy is why a question is not asked.
var errBusy = fmt.Errorf("this Prometheus takes too long: it must answer each query within %v, and all of an hour until %v after it", patience, over)

// askAll asks one Prometheus the questions with these indexes, and returns a line for each that failed. Those that took too long in rounds before
// come last: one of them ends the round, and others would never be asked.
func (c *Counts) askAll(ctx context.Context, h *hour, questions []int) (failing []string) {
	slices.SortStableFunc(questions, func(a, b int) int { return cmp.Compare(h.asked[a].slow, h.asked[b].slow) })
	slow := false
	for _, of := range questions {
		at, err := c.Clock.Now(), errBusy
		if !slow {
			err = c.ask(ctx, h, of)
		}
		if ctx.Err() != nil {
			return failing
		}
		text := ""
		if err != nil {
			if !slow && c.Clock.Since(at) >= patience {
				slow = true
				h.asked[of].slow++
			}
			text = strings.Join(strings.Fields(err.Error()), " ")
			failing = append(failing, fmt.Sprintf("work.query of %s cannot be read from %s, so hours of its pods do not count for ratios from production: %s",
				cmp.Or(h.asked[of].rule, "all pods"), h.asked[of].address, text))
		}
		c.logFault(ctx, h.asked[of].question, text)
	}
	return failing
}

// ask asks a question for each time in an hour of which it has no answer, until one takes too long, or so many fail that those that remain would
// not suffice. It returns the first error.
func (c *Counts) ask(ctx context.Context, h *hour, of int) (first error) {
	a, got, failed := h.asked[of], newAnswer(h, of), 0
	for i := range times {
		at, missing := h.missing(a, i)
		if !missing {
			continue
		}
		if !c.Leads() {
			return nil
		}
		if c.Clock.Now().After(h.end.Add(over)) {
			return errBusy
		}
		began := c.Clock.Now()
		asking, cancel := context.WithTimeout(ctx, patience)
		got.expect()
		err := c.Query(asking, a.address, a.query, at, got.take)
		cancel()
		if err != nil {
			first = cmp.Or(first, err)
			if failed++; failed > times-least || c.Clock.Since(began) >= patience {
				return first
			}
			continue
		}
		c.mu.Lock()
		err = got.keep(i)
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return cmp.Or(first, h.problem(a))
}
