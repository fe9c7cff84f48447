package production

import (
	"fmt"
	"time"
)

const (
	// NoUsage means that the server collects no usage, from which everything here follows: start it with a source in `--usage-sources`.
	NoUsage = "NoUsage"
	// EvidenceOld means that no workload was compared for two days: see in `resizectl status` whether usage is collected.
	EvidenceOld = "EvidenceOld"
)

// withoutUsage is why nothing is known of any node type if no usage is collected.
var withoutUsage = Doubt{NoUsage, "the server collects no usage, so that nothing can be compared: start it with a source in --usage-sources, such as metrics"}

// fresh is how old evidence may be: after an outage of that length, a day of the week may be missing in it.
const fresh = 48 * time.Hour

// tooOld is why a ratio is held back that follows from evidence that ended long ago.
func tooOld(end time.Time) Doubt {
	return Doubt{EvidenceOld, fmt.Sprintf("no workload was compared since %s: see in \"resizectl status\" whether usage is collected", end.UTC().Format(time.RFC3339))}
}
