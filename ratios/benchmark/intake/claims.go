package intake

import (
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

const (
	// claimTime is how long a claim counts as a measurement that was not delivered yet. An agent
	// measures for 20 seconds and tries to deliver the result for 5 minutes.
	claimTime = 10 * time.Minute
	// measuredTime is how long a measurement counts. After that, the same node or a different
	// one is measured again, long before the samples expire.
	measuredTime = 30 * 24 * time.Hour
)

// Claim asks to measure a node.
type Claim struct {
	// Node is the name of the node.
	Node string
	// NodeType, CPUModel and VCPUs select the nodes that one measurement stands for.
	NodeType, CPUModel string
	VCPUs              int
	// Version is the version of the benchmarks.
	Version string
}

// like returns the claim without its node, equal for all nodes that it stands for.
func (c Claim) like() Claim {
	c.Node = ""
	return c
}

// Standing is the answer to a claim.
type Standing struct {
	// Granted means that the node should measure itself.
	Granted bool
	// Machines is the number of other nodes that were measured or have a claim, and Wanted the
	// number of nodes to measure.
	Machines, Wanted int
}

// Claim returns whether a node should measure itself: few nodes of a type are enough to know its
// speed. Unless it is only a preview, the node then counts as measured for claimTime.
//
// Replicas share the stored samples, but not their claims. If many nodes start together, each
// replica may grant as many claims as are needed in all. That costs 20 seconds of idle CPU time
// on a few more nodes, and no coordination.
func (in *Intake) Claim(c Claim, preview bool) Standing {
	wanted := 1
	if set, _ := in.config.Provider.Settings(); set != nil {
		// No more than can be stored, or some would be measured again and again.
		wanted = min(max(set.Machines, set.Estimate.MinMachines), set.Limits.PerKey)
	}
	all, revision := in.samples.All()
	return in.claims.claim(c, wanted, all, revision, in.config.Clock.Now(), preview)
}

// claims counts the nodes that were measured, and those that have a claim.
type claims struct {
	mu sync.Mutex
	// measured has the time of the newest measurement by node, as of a revision of the samples.
	measured map[Claim]map[string]time.Time
	revision int64
	// granted has the claims in effect by node. A node has one at most: otherwise, one bad agent
	// could fill the memory with claims for made-up CPU models, sizes and versions.
	granted map[string]grant
}

// grant is a claim in effect.
type grant struct {
	Claim
	until time.Time
}

func (c *claims) claim(claim Claim, wanted int, all []sample.Sample, revision int64, now time.Time, preview bool) Standing {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.measured == nil || c.revision != revision {
		c.measured, c.revision = newestMeasurements(all), revision
	}
	others := map[string]bool{}
	for node, at := range c.measured[claim.like()] {
		others[node] = others[node] || now.Sub(at) < measuredTime
	}
	for node, other := range c.granted {
		switch {
		case !now.Before(other.until):
			delete(c.granted, node)
		case other.like() == claim.like():
			others[node] = true
		}
	}
	standing := Standing{Wanted: wanted}
	for node, counts := range others {
		if counts && node != claim.Node {
			standing.Machines++
		}
	}
	standing.Granted = standing.Machines < wanted
	if standing.Granted && !preview {
		if c.granted == nil {
			c.granted = map[string]grant{}
		}
		c.granted[claim.Node] = grant{claim, now.Add(claimTime)}
	}
	return standing
}

// newestMeasurements returns when node agents last measured their nodes, except for spot checks.
func newestMeasurements(all []sample.Sample) map[Claim]map[string]time.Time {
	newest := map[Claim]map[string]time.Time{}
	for i := range all {
		s := &all[i]
		if s.Source != sample.SourceAgent || s.Spot {
			continue
		}
		like := Claim{NodeType: s.NodeType, CPUModel: s.CPUModel, VCPUs: s.VCPUs, Version: s.Version}
		if newest[like] == nil {
			newest[like] = map[string]time.Time{}
		}
		if s.Time.After(newest[like][s.Machine]) {
			newest[like][s.Machine] = s.Time
		}
	}
	return newest
}
