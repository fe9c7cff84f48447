package manifest

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	docpage.Generated(t, "docs/reference/previews.md", map[string]string{"limits of manifests": docpage.Table([]string{"Of", "Limit"},
		[]string{"a manifest", "1 MiB, sent in messages of up to 64 KiB within 30 seconds; the answer has up to 3 MiB"},
		[]string{"a YAML document", fmt.Sprintf("%s values; its aliases stand for up to %s values and %d KiB", docpage.Count(mostValues), docpage.Count(mostAliased), mostAliasedBytes>>10)},
		[]string{"the planned objects", docpage.Count(mostStructures) + " objects and lists together"},
		[]string{"a pod", docpage.Count(mostContainers) + " containers"},
		[]string{"all containers, each counted once per node type", "20,000"},
	)})
}
