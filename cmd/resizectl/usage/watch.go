package usage

import (
	"context"
	"iter"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// follow prints the containers, and then those whose recommendations or sums have changed.
func (o *options) follow(ctx context.Context) error {
	return o.server.Stream(ctx, func(ctx context.Context, c *client.Client) error {
		if err := o.resolve(ctx, c); err != nil {
			return err
		}
		selected := o.request()
		request := &workloadresizerv1.WatchRecommendationsRequest{Namespace: selected.GetNamespace(), Workload: selected.GetWorkload()}
		events := func(opts ...client.WatchOption) iter.Seq2[client.RecommendationEvent, error] {
			return c.WatchRecommendations(ctx, request, opts...)
		}
		l := layout{by: byContainer, withNamespace: o.allNamespaces}
		// The confidence and the times in messages change every minute.
		printer := print.NewEventPrinter(&o.Output, l.columns(), l.eventRows, eventName).OnlyVisible(eventKey)
		return connect.Follow(ctx, o.IOStreams, events, printer)
	})
}

// eventRows returns the row of a container. A container whose sums cannot be read has a row, too.
func (l layout) eventRows(item *workloadresizerv1.Recommendation) []metav1.TableRow {
	of := item.GetWorkload()
	r := &row{Namespace: item.GetNamespace(), Workload: &workload{of.GetKind(), of.GetName()}, Container: item.GetContainer(), item: item}
	if err := r.read(item.GetSums()); err != nil {
		r.sums = sums{Containers: item.GetSums().GetPods(), UnknownContainers: item.GetSums().GetPods()}
	}
	return []metav1.TableRow{l.row(r)}
}

// eventName returns what -o name prints for an event.
func eventName(item *workloadresizerv1.Recommendation) string {
	return print.WorkloadName(item.GetWorkload())
}

// eventKey returns what identifies a row.
func eventKey(item *workloadresizerv1.Recommendation) string {
	return strings.Join([]string{item.GetNamespace(), print.WorkloadName(item.GetWorkload()), item.GetContainer(), item.GetRule()}, "\x00")
}
