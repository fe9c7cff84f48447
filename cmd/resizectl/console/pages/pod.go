package pages

import (
	"context"
	"net/http"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var podPage = page{
	pattern: "/pods/{namespace}/{pod}", template: "pod",
	title: func(r *http.Request) string {
		return r.PathValue("namespace") + "/" + print.PodName(r.PathValue("pod"))
	},
	key: func(r *http.Request) string { return podPath(r.PathValue("namespace"), r.PathValue("pod")) },
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		return c.ExplainPod(ctx, &workloadresizerv1.ExplainPodRequest{Namespace: r.PathValue("namespace"), Pod: r.PathValue("pod")})
	},
	view: func(o *print.Output, value any, _ *http.Request) any {
		e := value.(*workloadresizerv1.Explanation)
		shown := plans.Table(false, e.GetPlan())
		return struct {
			Containers table
			Steps      []note
		}{
			tableOf(shown, false, func(row int) string { return print.CellText(shown, row, 1) }, func(_ int, column, text string) string { return whereOf(column, text) }),
			append(steps(o, plans.Steps(o, e)), eachNote(plans.Remedies(o, e), func(r plans.Remedy) note { return stepOf(o, r.Text, r.Commands...) })...),
		}
	},
}
