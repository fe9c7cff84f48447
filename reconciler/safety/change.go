package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Change returns the first veto against a change of sizes; nil if there is
// none. before is the pod's QoS class, after are all its containers, init
// containers included, as they would be.
func Change(before corev1.PodQOSClass, after []sizing.Container) *Veto {
	if class := sizing.QOSClass(after); class != before {
		return &Veto{contract.QOSClassChange, fmt.Sprintf("the pod is %s and would become %s", before, class)}
	}
	return nil
}
