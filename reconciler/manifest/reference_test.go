package manifest

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	docpage.Generated(t, "docs/reference/previews.md", map[string]string{"limits of manifests": docpage.Table([]string{"Of", "Limit"},
		[]string{"a manifest", "1 MiB, sent in messages of up to 64 KiB within 30 seconds; the answer has up to 3 MiB"},
		[]string{"a YAML document", fmt.Sprintf("%d values; its aliases stand for up to %d values and %d KiB", mostValues, mostAliased, mostAliasedBytes>>10)},
		[]string{"the planned objects", fmt.Sprintf("%d objects and lists together", mostStructures)},
		[]string{"a pod", fmt.Sprintf("%d containers", mostContainers)},
		[]string{"all containers, each counted once per node type", "20000"},
	)})
}
