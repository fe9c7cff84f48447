package evict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/policy"
)

// String returns the name of the rank.
func (r Rank) String() string {
	if int(r) >= len(policy.EvictionRanks) {
		return fmt.Sprintf("rank %d", uint8(r))
	}
	return policy.EvictionRanks[r]
}

// parseRank reads the name of a rank.
func parseRank(name string) (Rank, error) {
	i := slices.Index(policy.EvictionRanks, name)
	if i < 0 {
		return Never, fmt.Errorf("must be one of %s", strings.Join(policy.EvictionRanks, ", "))
	}
	return Rank(i), nil
}

// defaultRank returns the rank of a pod that neither its author nor a rule ranks: what a workload has only one of, and what
// has an identity, moves later.
func defaultRank(kind string, replicas int) Rank {
	if replicas <= 1 || kind == "StatefulSet" {
		return Medium
	}
	return Low
}

// RankOf returns the rank of a pod of a workload with so many pods: the one in its annotation, if it has one, or else
// the one of its rule, or else defaultRank. The rank of an invalid annotation is Never.
func RankOf(annotation string, annotated bool, rule, kind string, replicas int) (Rank, error) {
	switch {
	case annotated:
		return parseRank(annotation)
	case rule != "":
		return parseRank(rule)
	}
	return defaultRank(kind, replicas), nil
}
