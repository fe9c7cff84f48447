package override

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// NoEtag is the etag of what does not exist. Callers that want to be the first to create it know
// it without reading anything.
const NoEtag = "none"

// Etag returns 16 hexadecimal digits that identify the state of a node type's override, or NoEtag
// if o is nil because there is none.
func Etag(nodeType string, o *Override) string {
	if o == nil {
		return NoEtag
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q", nodeType)
	write(sum, o.Ratio)
	if o.Fallback != nil {
		write(sum, *o.Fallback)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func write(w io.Writer, r ratios.Ratio) {
	p := r.Provenance
	fmt.Fprintf(w, " %v %v %d %d %q %q", r.CPUPerf, r.MemoryPerf, r.ExpireTime.Unix(), p.UpdateTime.Unix(), p.Author, p.Reason)
}

// etag returns the etag of the override of a node type, or of its absence.
func (c content) etag(nodeType string) string {
	if o, ok := c.overrides[nodeType]; ok {
		return Etag(nodeType, &o)
	}
	return Etag(nodeType, nil)
}
