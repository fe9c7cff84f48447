package access

import (
	"fmt"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
	tokens := func(perSecond float64, burst int) string {
		return fmt.Sprintf("%.0f per second, %d in a burst", perSecond, burst)
	}
	docpage.Generated(t, "docs/reference/rights.md", map[string]string{"limits of callers": docpage.Table([]string{"What", "Limit"},
		[]string{"how long the API server's answer counts that a caller may do something, or that a token is valid", seconds(remembered)},
		[]string{"… that a right is denied, or that a token is not valid", seconds(deniedFor)},
		[]string{"… that a caller may not get pods in a namespace", seconds(one.unseenFor) + "; " + seconds(many.unseenFor) + " in lists of many namespaces"},
		[]string{"new tokens from one address that the cluster has signed: those that were not valid within the last " + fmt.Sprintf("%.0f minutes", provenFor.Minutes()), tokens(newPerSecond, newBurst)},
		[]string{"of these, for one ServiceAccount (on one node, if they are bound to nodes)", tokens(accountPerSecond, accountBurst)},
		[]string{"other new tokens from one address, such as OIDC tokens", tokens(opaquePerSecond, opaqueBurst)},
		[]string{"reviews of namespaces at the same time for one caller", fmt.Sprint(turnsPerOrigin)},
	)})
}
