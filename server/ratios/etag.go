package ratios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
)

// etag returns 16 hexadecimal digits that identify what a caller sees of the global ratio of a node
// type: its value, its factors, what each source has, and who has set its override and when. It is
// the same on every replica that has the same sources. Without a ratio, it is override.NoEtag.
func etag(table *ratios.Table, nodeType string) string {
	e, ok := table.Lookup(nodeType)
	if !ok {
		return override.NoEtag
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q", nodeType)
	fmt.Fprintf(sum, " %v %v %v %q", e.CPUFactor, e.MemoryFactor, nodeType == table.Baseline, e.Unused)
	for _, c := range e.Candidates {
		fmt.Fprintf(sum, " %q %v %v %d", c.Provenance.Source, c.CPUPerf, c.MemoryPerf, c.ExpireTime.Unix())
		if p := c.Provenance; p.Source == override.Source {
			fmt.Fprintf(sum, " %d %q %q", p.UpdateTime.Unix(), p.Author, p.Reason)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
