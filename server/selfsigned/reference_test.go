package selfsigned

import (
	"fmt"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	days := func(d time.Duration) string { return fmt.Sprintf("%.0f days", d.Hours()/24) }
	docpage.Generated(t, "docs/reference/rights.md", map[string]string{"certificates": docpage.Table([]string{"Of the server's own", "Valid for", "Renewed after", "How"},
		[]string{"certificate", days(servingLife), days(servingLife / 3 * 2), "for new connections, without a restart"},
		[]string{"authority", days(authorityLife), days(authorityLife / 3 * 2), fmt.Sprintf("published next to the old one, signs after %.0f hours, and replaces it after another %.0f hours", settle.Hours(), settle.Hours())},
	)})
}
