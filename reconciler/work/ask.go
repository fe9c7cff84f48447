package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
)

// round asks what is not known of the last hour, while that would not be late.
func (c *Counts) round(ctx context.Context) {
	rules, known := c.Cluster.Rules()
	if !known || !c.Leads() || !anyIn(rules.Table) {
		c.mu.Lock()
		c.last = nil
		c.mu.Unlock()
		c.asker.Rest()
		return
	}
	now := c.Clock.Now()
	end := now.Truncate(time.Hour)
	if since := now.Sub(end); since < settled || since > over {
		return
	}
	h := c.begin(rules.Table, end)
	c.asker.Ask(ctx, h.questions, func(of int) error { return c.ask(ctx, h, of) }, func(of int, _ error) string {
		return "work.query of " + cmp.Or(h.asked[of].rule, "all pods")
	})
}

// begin returns what is known of the hour that ended at a time.
func (c *Counts) begin(table *ratios.Table, end time.Time) *hour {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || !c.last.end.Equal(end) {
		c.last = newHour(end, c.Cluster.Pods("").List(), func(p *pod.Pod) (promql.Question, string, bool) {
			profile := table.Profile(p)
			return questionOf(&profile.Work), profile.Name, profile.Work.Counts()
		})
	}
	return c.last
}

// errBusy is why a question is not asked.
var errBusy = fmt.Errorf("this Prometheus takes too long: it must answer each query within %v, and all of an hour until %v after it", patience, over)

// ask asks a question for each time in an hour of which it has no answer, until one takes too long or is without labels, or so many fail that those
// that remain would not suffice. It returns the first error.
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
		got.expect()
		err := c.asker.Answer(ctx, h.questions[of], at, got.take)
		if err != nil {
			first = cmp.Or(first, err)
			if failed++; errors.Is(err, promql.ErrLabels) || failed > times-least || c.Clock.Since(began) >= patience {
				return first
			}
			continue
		}
		c.mu.Lock()
		got.keep(i)
		c.mu.Unlock()
	}
	if first == nil && bits.OnesCount16(a.answered) == times && !a.named {
		return errNamed
	}
	return first
}
