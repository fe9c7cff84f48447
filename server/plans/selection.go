package plans

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// selection reads which pods the request selects.
func selection(request *workloadresizerv1.PreviewPlansRequest, view access.View) (query.Selection, error) {
	of := query.Selection{
		Namespace: request.GetNamespace(), Pod: request.GetPod(), Node: request.GetNode(), NodeType: request.GetNodeType(), Visible: view.Visible,
	}
	if err := access.MustSee(view, of.Namespace); err != nil {
		return of, err
	}
	if w := request.GetWorkload(); w != nil {
		of.Workload = workload.Workload{Kind: w.GetKind(), Name: w.GetName()}
	}
	var err error
	if request.GetLabelSelector() != "" {
		of.Labels, err = translate.Selector(request.GetLabelSelector())
	}
	return of, err
}
