package hold

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	kB := func(bytes int) string { return fmt.Sprintf("%d kB", bytes/1000) }
	const average = 300 // Bytes of the hold of a pod with a short reason.
	docpage.Generated(t, "docs/reference/holds.md", map[string]string{
		"quotas": docpage.Table([]string{"Holds", "Maximum"},
			[]string{"of pods and workloads in one namespace", fmt.Sprintf("%s, about %d holds; %s by one author", kB(perNamespace), perNamespace/average/100*100, kB(perAuthorThere))},
			[]string{"of pods and workloads by one author", kB(perAuthor)},
			[]string{"of all pods and workloads", kB(forNarrow)},
			[]string{"of namespaces by one author", kB(perAuthorWide)},
			[]string{"of all namespaces, workloads and pods", kB(belowCluster)},
			[]string{"of the cluster", "always fit"},
		),
	})
}
