package override

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Etag returns 16 hexadecimal digits that identify the state of a node type's override; r is
// nil if there is none.
func Etag(nodeType string, r *ratios.Ratio) string {
	state := fmt.Sprintf("%q", nodeType)
	if r != nil {
		p := r.Provenance
		state = fmt.Sprintf("%q %v %v %d %d %q %q", nodeType, r.CPUPerf, r.MemoryPerf, r.ExpireTime.Unix(), p.UpdateTime.Unix(), p.Author, p.Reason)
	}
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:8])
}

// Of returns the override among the candidates for a node type; nil if there is none.
func Of(candidates []ratios.Ratio) *ratios.Ratio {
	for i := range candidates {
		if candidates[i].Provenance.Source == Source {
			return &candidates[i]
		}
	}
	return nil
}
