package main

import (
	"math/big"
	"sync"
	"time"
)

// ratio is how fast nodes of a type are, the baseline being 1.
type ratio struct{ cpu, memory *big.Rat }

// decimal is the ratio of two performances as they are written, e.g. "1.25".
func decimal(cpu, memory string) ratio {
	number := func(text string) *big.Rat {
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			panic(text + " is no number")
		}
		return x
	}
	return ratio{number(cpu), number(memory)}
}

// inForce is a ratio and when it may have been in force; until is zero for now.
type inForce struct {
	ratio
	from, until time.Time
}

// history has the ratios that were in force, by type of node.
type history struct {
	mu     sync.Mutex
	ratios map[string][]inForce
}

// begin notes ratios that are about to be set, by type of node.
func (h *history) begin(set map[string]ratio) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for nodeType, r := range set {
		h.ratios[nodeType] = append(h.ratios[nodeType], inForce{ratio: r, from: time.Now()})
	}
}

// done notes that these types have only their newest ratio now.
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

// now is the ratio of a type that was set last.
func (h *history) now(nodeType string) ratio {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.ratios[nodeType]
	return all[len(all)-1].ratio
}

// ratiosOf are the ratios of a type that are in force, of which there are two while one
// is being replaced, and those that were replaced at a time that still counts.
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
