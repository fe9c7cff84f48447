package size

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Pair is the texts of a request and its limit; empty for what is not written.
type Pair struct{ Request, Limit string }

// Container has what is written for a container, by sizing.Measure.Index.
type Container [2]Pair

// Need is what usage says about one resource of a container, on the baseline.
type Need struct {
	// Target is the request to set; empty if it is not known.
	Target string
	// Unshared is what the request would be if the container shared nothing with its neighbors, which its limit follows; empty
	// if it shares nothing.
	Unshared string
	// LeastRequest and LeastLimit are amounts of which smaller ones have proven too small. Peak is the highest usage of
	// memory. All may be empty.
	LeastRequest, LeastLimit, Peak string
	// Withheld is why the resource must stay; empty if it need not.
	Withheld string
	// Keeps is why it must not be lowered; empty if it may be.
	Keeps string
	// History is how much is known.
	History time.Duration
	// Limits are how limits follow.
	Limits need.Limits
	// Bounds limit the request, and MostLimit the limit; 0 for no limit.
	Bounds    sizing.Range
	MostLimit int64
}

// Rules are when amounts change.
type Rules struct {
	// MinChange is the least relative difference that changes an amount.
	MinChange float64
	// MinHistory is how much must be known before an amount is lowered.
	MinHistory time.Duration
}

// Change is a new request or limit.
type Change struct {
	Of    *sizing.Measure
	Limit bool
	// From is the old text, empty if there is none, and To the new one.
	From, To string
	// Old and New are the amounts, in millicores or bytes.
	Old, New int64
}

// Field is the name of the field of resources that has the amount.
func (c *Change) Field() string {
	if c.Limit {
		return "limits"
	}
	return "requests"
}

// Guaranteed reports whether the class of a pod with these containers is Guaranteed.
func Guaranteed(containers []Container) bool {
	for _, c := range containers {
		for _, m := range sizing.Measures {
			a, err := c[m.Index].amounts(m)
			if err != nil || a.Limit == 0 || a.Request != a.Limit {
				return false
			}
		}
	}
	return len(containers) > 0
}

// amounts returns the amounts that are written. A missing request is the limit, as in Kubernetes.
func (p Pair) amounts(m *sizing.Measure) (a sizing.Amount, err error) {
	if a.Request, err = amount(m, p.Request); err != nil {
		return a, err
	}
	if a.Limit, err = amount(m, p.Limit); err != nil {
		return a, err
	}
	if p.Request == "" {
		a.Request = a.Limit
	}
	return a, nil
}

func amount(m *sizing.Measure, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := m.Parse(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s %q is not an amount", m.Name, text)
	}
	return n, nil
}

// Of returns what changes for one resource of a container, and why it keeps an amount that usage would change; empty if
// it keeps none.
func Of(m *sizing.Measure, has Pair, needs *Need, guaranteed bool, rules *Rules) (changes []Change, kept string, err error) {
	authored, err := has.amounts(m)
	if err != nil {
		return nil, "", err
	}
	target, unshared, floor, peak, err := needs.amounts(m)
	switch {
	case err != nil:
		return nil, "", err
	case target == 0:
		return nil, "", nil
	case needs.Withheld != "":
		return nil, fmt.Sprintf("%s: %s", m.Name, needs.Withheld), nil
	}
	size := func(request int64) sizing.Amount {
		recommended := need.Recommendation{Target: request, Floor: floor, Peak: peak, Rules: &need.Rules{Limits: needs.Limits}}
		if unshared > 0 {
			recommended.Target, recommended.Steady = unshared, request
		}
		n := need.Need{Authored: authored, Recommended: &recommended, Bounds: &needs.Bounds}
		a, _ := n.On(m, sizing.Factor{Num: 1, Den: 1}, guaranteed)
		if needs.MostLimit > 0 && a.Limit > needs.MostLimit {
			a.Limit = max(needs.MostLimit, a.Request)
			if authored.Request < authored.Limit && a.Limit == a.Request { // Equal amounts would change the class of the pod.
				a.Limit += m.Unit
			}
		}
		return a
	}
	to := size(target)
	keeps := rules.keeps(needs)
	if authored.Request > 0 && (near(authored.Request, to.Request, rules.MinChange) || to.Request < authored.Request && keeps != "") {
		if to.Request < authored.Request && !near(authored.Request, to.Request, rules.MinChange) {
			kept = fmt.Sprintf("%s stays at %s instead of %s: %s", m.Name, m.Text(authored.Request), m.Text(to.Request), keeps)
		}
		to = size(authored.Request)
		to.Request = authored.Request
		if guaranteed || near(authored.Limit, to.Limit, rules.MinChange) {
			to.Limit = authored.Limit
		}
	}
	if to.Limit < authored.Limit && (keeps != "" || to.Request >= authored.Request) {
		to.Limit = authored.Limit // It is lowered only with the request.
	}
	return changed(m, has, authored, to), kept, nil
}

// keeps returns why amounts must not be lowered; empty if they may be.
func (r *Rules) keeps(n *Need) string {
	switch {
	case n.Keeps != "":
		return n.Keeps
	case n.History < r.MinHistory:
		return fmt.Sprintf("%.1f days of usage are known, and %.1f are needed (--min-history)", n.History.Hours()/24, r.MinHistory.Hours()/24)
	}
	return ""
}

// near reports whether amounts differ by less than a share of the first one.
func near(old, updated int64, share float64) bool {
	difference := float64(updated - old)
	return old == updated || old > 0 && max(difference, -difference) < share*float64(old)
}

// amounts returns the amounts that usage recommends. Those of memory are rounded up to whole Mi, because people review them.
func (n *Need) amounts(m *sizing.Measure) (target, unshared int64, floor sizing.Amount, peak int64, err error) {
	for _, of := range []struct {
		into *int64
		text string
	}{{&target, n.Target}, {&unshared, n.Unshared}, {&floor.Request, n.LeastRequest}, {&floor.Limit, n.LeastLimit}, {&peak, n.Peak}} {
		if *of.into, err = amount(m, of.text); err != nil {
			return 0, 0, floor, 0, fmt.Errorf("the recommendation: %w", err)
		}
		if rest := *of.into % m.Unit; rest > 0 && *of.into <= m.Most-m.Unit {
			*of.into += m.Unit - rest
		}
	}
	return target, unshared, floor, peak, nil
}

// changed returns the texts that must change. A request that equals its limit need not be written.
func changed(m *sizing.Measure, has Pair, from, to sizing.Amount) (changes []Change) {
	request := Change{Of: m, From: has.Request, Old: from.Request, New: to.Request}
	limit := Change{Of: m, Limit: true, From: has.Limit, Old: from.Limit, New: to.Limit}
	if implied := has.Request == "" && has.Limit != "" && to.Request == to.Limit; !implied && to.Request != from.Request ||
		has.Request == "" && has.Limit != "" && to.Request != to.Limit {
		request.To = Like(likewise(has.Request, has.Limit), m, to.Request)
		changes = append(changes, request)
	}
	if has.Limit != "" && to.Limit != from.Limit {
		limit.To = Like(has.Limit, m, to.Limit)
		changes = append(changes, limit)
	}
	return changes
}

func likewise(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// Same reports whether two texts stand for the same quantity.
func Same(a, b string) bool {
	x, errX := sizing.Quantity(a)
	y, errY := sizing.Quantity(b)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
