package access

import (
	"fmt"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
	tokens := func(of fair.Burst) string { return fmt.Sprintf("%g per second, %d in a burst", of.PerSecond, of.Most) }
	docpage.Generated(t, "docs/reference/rights.md", map[string]string{"limits of callers": docpage.Table([]string{"What", "Limit"},
		[]string{"how long the API server's answer counts that a caller may do something, or that a token is valid", seconds(remembered)},
		[]string{"… that a right is denied, or that a token is not valid", seconds(deniedFor)},
		[]string{"… that a caller may not get pods in a namespace", seconds(one.unseenFor) + "; " + seconds(many.unseenFor) + " in lists of many namespaces"},
		[]string{"new tokens from one address that the cluster has signed: those that were not valid within the last " + fmt.Sprintf("%.0f minutes", provenFor.Minutes()), tokens(fromNetwork)},
		[]string{"of these, for one ServiceAccount (on one node, if they are bound to nodes)", tokens(ofAccount)},
		[]string{"other new tokens from one address, such as OIDC tokens", tokens(unsigned)},
		[]string{"reviews of namespaces at the same time for one caller", fmt.Sprint(reviewsPerOrigin)},
	)})
}
