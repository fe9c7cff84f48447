package guard

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// throttled looks for more throttling than before the resize. Only a lower CPU limit throttles more. While cpu was boosted, it
// was throttled less than it would have been.
func throttled(c *Case, change *Change) finding {
	if f := c.fared(change); change.Measure == sizing.CPU && !change.Unboosts && lowersLimit(change.From, change.To) && worse(f.Before.Throttled, f.Since.Throttled, c.Settings.Throttling) {
		return finding{kind: contract.Throttled, evidence: fmt.Sprintf("throttled in %s of its CPU periods, %s before the resize", percent(f.Since.Throttled.N), percent(f.Before.Throttled.N))}
	}
	return finding{}
}

// pressured looks for tasks that wait longer for the resource than before the resize.
func pressured(c *Case, change *Change) finding {
	f, kind := c.fared(change), contract.CPUPressure
	before, since, threshold := f.Before.CPUPressure, f.Since.CPUPressure, c.Settings.CPUPressure
	if change.Measure == sizing.Memory {
		kind, before, since, threshold = contract.MemoryPressure, f.Before.MemoryPressure, f.Since.MemoryPressure, c.Settings.MemoryPressure
	}
	if !change.Unboosts && worse(before, since, threshold) {
		return finding{kind: kind, evidence: fmt.Sprintf("waited for %s %s of the time, %s before the resize", change.Measure.Name, percent(since.N), percent(before.N))}
	}
	return finding{}
}

// charged is how much of its memory limit a container uses at least that reaches the limit because of
// its needs. The page cache of a container that uses less can reach the limit, too. The kernel frees it
// then, and nothing is wrong.
const charged = 0.8

// near looks for a container that comes near the memory limit that the resize lowered, and was not near
// its limit before: it is about to be killed. If how much it used before is not known, as in a new pod,
// it must not be near the limit before with what it uses now.
func near(c *Case, change *Change) finding {
	if change.Measure != sizing.Memory || !lowersLimit(change.From, change.To) || c.Settings.MemoryUse >= 1 {
		return finding{}
	}
	f := c.fared(change)
	was, known := f.Before.Memory.N, f.Before.Memory.Known
	if !known {
		was = f.Since.Memory.N
	}
	before, since := was/float64(change.From.Limit), f.Since.Memory.N/float64(change.To.Limit)
	uses := fmt.Sprintf("uses %s of its memory limit, %s before the resize", percent(since), percent(before))
	if !known {
		uses = fmt.Sprintf("uses %s of its memory limit, which are %s of the limit before the resize", percent(since), percent(before))
	}
	if before <= c.Settings.MemoryUse && since > c.Settings.MemoryUse {
		return finding{kind: contract.NearLimit, evidence: uses}
	}
	first := f.Before.LimitEvents.Known && f.Before.LimitEvents.N == 0 && f.Since.LimitEvents.N > 0
	if first && known && before <= charged && since > charged {
		return finding{kind: contract.NearLimit, evidence: "reached its memory limit, and " + uses}
	}
	return finding{}
}
