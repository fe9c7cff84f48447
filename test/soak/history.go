package main

import (
	"math/big"
	"sync"
	"time"
)

// ratio is the performance of a node type, relative to the baseline.
type ratio struct{ cpu, memory *big.Rat }

// decimal returns the ratio of two performances in decimal notation, such as "1.25".
func decimal(cpu, memory string) ratio {
	number := func(text string) *big.Rat {
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			panic(text + " is not a number")
		}
		return x
	}
	return ratio{number(cpu), number(memory)}
}

// inForce is a ratio and the period in which it may have been in effect. until is zero if
// it may still be.
type inForce struct {
	ratio
	from, until time.Time
}

// history records the ratios that were in effect, by node type.
type history struct {
	mu     sync.Mutex
	ratios map[string][]inForce
}

// begin records ratios that are about to be set, by node type.
func (h *history) begin(set map[string]ratio) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for nodeType, r := range set {
		h.ratios[nodeType] = append(h.ratios[nodeType], inForce{ratio: r, from: time.Now()})
	}
}

// done records that for these types only the newest ratio is still in effect.
func (h *history) done(set map[string]ratio) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for nodeType := range set {
		all := h.ratios[nodeType]
		for i := range all[:len(all)-1] {
			if all[i].until.IsZero() {
				all[i].until = time.Now()
			}
		}
	}
}

// now returns the newest ratio of a type.
func (h *history) now(nodeType string) ratio {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.ratios[nodeType]
	return all[len(all)-1].ratio
}

// ratiosOf returns the ratios of a type that may be in effect, of which there are two
// while one is being replaced, and the ratios that were replaced at a time that still
// counts.
func (h *history) ratiosOf(nodeType string, counts func(replaced time.Time) bool) []ratio {
	h.mu.Lock()
	defer h.mu.Unlock()
	var some []ratio
	for _, r := range h.ratios[nodeType] {
		if r.until.IsZero() || counts(r.until) {
			some = append(some, r.ratio)
		}
	}
	return some
}
