package ratios

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestImpact(t *testing.T) {
	impact := &workloadresizerv1.Impact{
		Total:     &workloadresizerv1.ImpactGroup{Pods: 3},
		NodeTypes: []*workloadresizerv1.ImpactGroup{{Name: "n4", Pods: 3}},
	}
	for byUsage, want := range map[int64]string{
		0: "IMPACT ON      PODS   CPU   MEMORY   VETOED\nall pods       3      -     -        0\nnode type n4   3      -     -        0\n",
		2: "IMPACT ON      PODS   CPU   MEMORY   VETOED   BY USAGE\nall pods       3      -     -        0        2\nnode type n4   3      -     -        0        0\n",
	} {
		impact.Total.ByUsage = byUsage
		var out strings.Builder
		never := print.ColorMode("never")
		to := &print.Output{IOStreams: genericiooptions.IOStreams{Out: &out}, Color: &never}
		if err := PrintImpact(to, impact); err != nil || out.String() != want {
			t.Errorf("%d pods follow usage: %q, %v; want %q", byUsage, out.String(), err, want)
		}
	}
}
