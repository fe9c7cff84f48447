package pages

import (
	"context"
	"net/http"
	"net/url"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var podPage = page{
	pattern: "/pods/{namespace}/{pod}", template: "pod",
	title: func(r *http.Request) string {
		return print.OneLine(r.PathValue("namespace") + "/" + print.PodName(r.PathValue("pod")))
	},
	key: func(r *http.Request) string { return podPath(r.PathValue("namespace"), r.PathValue("pod")) },
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		return c.ExplainPod(ctx, &workloadresizerv1.ExplainPodRequest{Namespace: r.PathValue("namespace"), Pod: r.PathValue("pod")})
	},
	view: func(o *print.Output, value any, r *http.Request) any {
		e := value.(*workloadresizerv1.Explanation)
		shown := plans.Table(false, e.GetPlan())
		return struct {
			// Workload is the page of the workload that owns the pod, and History what happened to it; nil if there is none.
			Workload, History *link
			Containers        table
			Steps             []note
		}{
			workloadLink(r.PathValue("namespace"), e.GetWorkload()), historyLink(r.PathValue("namespace"), e.GetWorkload()),
			tableOf(shown, false, func(row int) string { return print.CellText(shown, row, 1) }, func(_ int, column, text string) string { return whereOf(column, text) }).oneUnit(),
			append(steps(o, plans.Steps(o, e)), eachNote(plans.Remedies(o, e), func(r plans.Remedy) note { return stepOf(o, r.Text, r.Commands...) })...),
		}
	},
}

// workloadLink leads to the page of a workload; nil if it has none.
func workloadLink(namespace string, of *workloadresizerv1.Workload) *link {
	to := workloadPath(namespace, of)
	if to == "" {
		return nil
	}
	return &link{Name: print.WorkloadName(of), Path: to}
}

// historyLink leads to what happened to a workload; nil if it has no page.
func historyLink(namespace string, of *workloadresizerv1.Workload) *link {
	to := workloadLink(namespace, of)
	if to == nil {
		return nil
	}
	return &link{Name: "What happened to " + to.Name, Path: path(historyPage.path(), url.Values{"namespace": {namespace}, "workload": {to.Name}})}
}
