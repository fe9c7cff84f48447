package policy

import (
	"time"

	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Eviction is whether pods may be moved to another node, because theirs has no room for what they need.
type Eviction struct {
	// Enabled means that pods may be evicted.
	Enabled bool
	// After is how long a node must have lacked room for a pod.
	After time.Duration
	// Rank is how readily a pod moves, one of EvictionRanks. If it is empty, that depends on its workload.
	Rank string
	// MaxPerHour is how many pods are evicted within an hour, for all rules together.
	MaxPerHour int
}

// EvictionRanks are the names of ranks, in the order in which pods move. Those with the last one never do.
var EvictionRanks = []string{"low", "medium", "high", "never"}

// The limits of an Eviction. Nodes often make room within a minute, as when a pod has ended.
const (
	leastAfter, mostAfter   = time.Minute, keys.Day
	mostEvictionsPerHour    = 1000
	defaultEvictionAfter    = 10 * time.Minute
	defaultEvictionsPerHour = 10
)

// Keys implements keys.Section.
func (e *Eviction) Keys() []keys.Key {
	return []keys.Key{
		keys.Of("enabled", &e.Enabled, keys.Flag, false, "whether pods may be [evicted](../tasks/evict-pods.md) when their node has no room for what they need. It needs the component `evict-pods`"),
		keys.Of("after", &e.After, keys.Duration(leastAfter, mostAfter), defaultEvictionAfter, "how long the node must have had no room for a pod's size, or refused it as infeasible. After a kill for lack of memory, a pod does not wait"),
		keys.Of("rank", &e.Rank, keys.OneOf(EvictionRanks...), "", "the order in which pods move: those with `low` first, those with `never` not at all. The annotation `workload-resizer.io/eviction-rank` of a pod takes precedence, and an invalid one means `never`").Or("`medium` for StatefulSets and workloads with one pod, otherwise `low`"),
		keys.Of("maxPerHour", &e.MaxPerHour, keys.Count(mostEvictionsPerHour, defaultEvictionsPerHour), defaultEvictionsPerHour, "how many pods are evicted within an hour in the cluster. While pods wait in several namespaces, one of them has at most half, rounded up. Rules cannot set it"),
	}
}
