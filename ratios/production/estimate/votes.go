package estimate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

const (
	// most is how many times its share of the cores a namespace may have of the votes, and half the share beyond which only the cores count.
	most, half = 2.0, 0.5
	// votings is how often votes are limited by type: fewer votes on one type are fewer on the others, too.
	votings = 20
)

// limit returns the largest share of the votes on a type for a namespace with a share of the cores there: twice that share, but no more
// than half unless it has more than half of the cores. Votes by cores are always within all limits.
func limit(cores float64) float64 { return max(cores, min(most*cores, half)) }

// ballot has the votes of a namespace on a type, and the cores that its workloads there use.
type ballot struct {
	namespace    evidence.Key
	votes, cores float64
}

// vote fills how much each workload counts that is not held back. By default that is one vote. But a team that runs a hundred small workloads
// must not decide how fast a type is for all others: no namespace has more votes on a type than limit says, except that it always has one.
// With a single namespace, nothing is limited.
//
// Tenants are not known, only namespaces. So a tenant with many of them has a share of the votes for each: together twice its share of the cores, or one
// vote per namespace if that is more. Where tenants do not trust each other, limit who may create namespaces, or do not apply these ratios automatically.
func vote(all []workload) {
	types := map[int][]*workload{}
	for i := range all {
		w := &all[i]
		w.votes = 1
		if w.held != "" || w.judged != "" {
			continue
		}
		for t := range w.cores {
			types[t] = append(types[t], w)
		}
	}
	for range votings {
		limited := false
		for _, t := range slices.Sorted(maps.Keys(types)) {
			limited = limitOn(t, types[t]) || limited
		}
		if !limited {
			return
		}
	}
}

// limitOn limits the votes on one type. It reports whether any of them changed.
func limitOn(t int, all []*workload) bool {
	ballots := map[evidence.Key]*ballot{}
	cores := 0.0
	for _, w := range all {
		b := ballots[w.namespace]
		if b == nil {
			b = &ballot{namespace: w.namespace}
			ballots[w.namespace] = b
		}
		b.votes += w.votes
		b.cores += w.cores[t]
		cores += w.cores[t]
	}
	if cores == 0 {
		return false
	}
	sorted := slices.SortedFunc(maps.Values(ballots), func(a, b *ballot) int {
		return cmp.Or(cmp.Compare(b.votes*limit(a.cores/cores), a.votes*limit(b.cores/cores)), cmp.Compare(a.namespace, b.namespace))
	})
	total := totalOf(sorted, cores)
	factors := map[evidence.Key]float64{}
	for _, b := range sorted {
		const enough = 1.001
		if allowed := max(total*limit(b.cores/cores), 1); b.votes > enough*allowed {
			factors[b.namespace] = allowed / b.votes
		}
	}
	for _, w := range all {
		if f, limited := factors[w.namespace]; limited {
			w.votes *= f
		}
	}
	return len(factors) > 0
}

// totalOf returns the sum of all votes once they are limited. The namespaces are sorted: those come first that have the most votes for their limit.
func totalOf(sorted []*ballot, cores float64) float64 {
	rest, limits := 0.0, 0.0
	for _, b := range sorted {
		rest += b.votes
	}
	total := rest
	for _, b := range sorted {
		part := limit(b.cores / cores)
		if b.votes <= part*total || limits+part >= 1 {
			break
		}
		rest -= b.votes
		limits += part
		total = rest / (1 - limits)
	}
	return total
}
