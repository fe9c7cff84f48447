package promql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// Answer passes the elements of the answer to a question about a time to take, unless that takes too long. take reports whether
// an element has the labels. Elements without them are about something else: others may create series, too.
func (a *Asker) Answer(ctx context.Context, q Question, at time.Time, take func(Element) bool) error {
	ctx, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	elements, taken := 0, 0
	err := a.Query(ctx, q.Address, q.Query, at, func(e Element) {
		if elements++; take(e) {
			taken++
		}
	})
	if err == nil && elements > 0 && taken == 0 {
		err = fmt.Errorf("%w %s: aggregate by them, as in sum by (namespace, pod) (…)", ErrLabels, a.Labels)
	}
	return err
}

// ErrLabels means that an answer is about something else.
var ErrLabels = errors.New("no element has the labels")

// Ask calls ask with the index of each question, one after the other for each Prometheus. failed is called with those that
// fail, even if they are not asked, and returns their names.
func (a *Asker) Ask(ctx context.Context, questions []Question, ask func(i int) error, failed func(i int, err error) string) {
	indexes := map[string][]int{}
	for i, q := range questions {
		indexes[q.Address] = append(indexes[q.Address], i)
	}
	var asking sync.WaitGroup
	var mu sync.Mutex
	var failing []string
	for _, of := range indexes {
		asking.Go(func() {
			lines := a.askOne(ctx, questions, of, ask, failed)
			mu.Lock()
			defer mu.Unlock()
			failing = append(failing, lines...)
		})
	}
	asking.Wait()
	slices.Sort(failing)
	a.fails(failing)
}

// askOne asks one Prometheus the questions with these indexes, and returns a line for each that failed. Those that took too
// long in rounds before come last: one of them ends the round, and others would never be asked.
func (a *Asker) askOne(ctx context.Context, questions []Question, indexes []int, ask func(int) error, failed func(int, error) string) (failing []string) {
	a.sort(questions, indexes)
	slow := false
	for _, i := range indexes {
		q, began, err := questions[i], a.Clock.Now(), a.Busy
		if !slow {
			err = ask(i)
		}
		if ctx.Err() != nil {
			return failing
		}
		if err == nil {
			a.note(ctx, q, "", false)
			continue
		}
		late := !slow && a.Clock.Since(began) >= a.Patience
		slow = slow || late
		why := strings.Join(strings.Fields(err.Error()), " ")
		failing = append(failing, fmt.Sprintf("%s cannot be read from %s, so %s: %s", failed(i, err), q.Address, a.Consequence, why))
		a.note(ctx, q, why, late)
	}
	return failing
}

// sort sorts the indexes of questions by how slow they are.
func (a *Asker) sort(questions []Question, indexes []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortStableFunc(indexes, func(i, j int) int { return cmp.Compare(a.slow[questions[i]], a.slow[questions[j]]) })
}

// note notes why a question failed; empty if it did not. It logs that, unless the question failed for the same reason before.
func (a *Asker) note(ctx context.Context, q Question, why string, late bool) {
	a.mu.Lock()
	before := a.logged[q]
	switch a.logged[q] = why; {
	case why == "":
		delete(a.logged, q)
		delete(a.slow, q)
	case late:
		a.slow[q]++
	}
	a.mu.Unlock()
	switch why {
	case before:
	case "":
		klog.FromContext(ctx).Info(a.Subject+" known again", "prometheus", q.Address, "query", q.Query)
	default:
		klog.FromContext(ctx).Error(nil, a.Subject+" not known; "+a.Consequence, "prometheus", q.Address, "query", q.Query, "why", why)
	}
}
