package evict

import (
	"fmt"
	"slices"
)

// ranks are the names of ranks, in their order.
var ranks = []string{"low", "medium", "high", "never"}

// String returns the name of the rank.
func (r Rank) String() string {
	if int(r) >= len(ranks) {
		return fmt.Sprintf("rank %d", uint8(r))
	}
	return ranks[r]
}

// ParseRank reads the name of a rank.
func ParseRank(name string) (Rank, error) {
	i := slices.Index(ranks, name)
	if i < 0 {
		return Never, fmt.Errorf("must be one of low, medium, high and never")
	}
	return Rank(i), nil
}

// DefaultRank returns the rank of a pod that neither its author nor a rule ranks: what a workload has only one of, and what
// has an identity, moves later.
func DefaultRank(kind string, replicas int) Rank {
	if replicas <= 1 || kind == "StatefulSet" {
		return Medium
	}
	return Low
}

// RankOf returns the rank of a pod of a workload with so many pods: the one in its annotation, if it has one, or else
// the one of its rule, or else DefaultRank. The rank of an invalid annotation is Never.
func RankOf(annotation string, annotated bool, rule, kind string, replicas int) (Rank, error) {
	switch {
	case annotated:
		return ParseRank(annotation)
	case rule != "":
		return ParseRank(rule)
	}
	return DefaultRank(kind, replicas), nil
}
