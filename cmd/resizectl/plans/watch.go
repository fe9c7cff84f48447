package plans

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	added    = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED
	modified = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED
	deleted  = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED
	bookmark = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK
)

// planWatch knows the last plan of each pod, by namespace and name.
type planWatch struct {
	known map[string]*workloadresizerv1.Plan
	print func(client.Event[*workloadresizerv1.Plan]) error
}

// watchPlans prints the plans, and then those that have changed.
func (o *planOptions) watchPlans(ctx context.Context) error {
	w := &planWatch{print: planKind(o.allNamespaces).Events(&o.Output).Print}
	return o.server.Poll(ctx, func(ctx context.Context, c *client.Client) error {
		plans, err := o.planned(ctx, c)
		if err != nil {
			return err
		}
		if w.known == nil && len(plans) == 0 {
			if err := print.Texts(o.ErrOut, "note: no pods found yet "+o.where()); err != nil {
				return err
			}
		}
		return w.update(plans, !o.Format.IsDocument())
	})
}

// planned returns the plans of all selected pods.
func (o *planOptions) planned(ctx context.Context, c *client.Client) (map[string]*workloadresizerv1.Plan, error) {
	found := map[string]*workloadresizerv1.Plan{}
	if o.pod != "" {
		plan, err := c.PreviewPod(ctx, o.namespace, o.pod, o.previewOptions()...)
		if status.Code(err) == codes.NotFound {
			return found, nil // It may be created while the command watches.
		}
		found[o.pod] = plan
		return found, err
	}
	for plan, err := range c.PreviewSelected(ctx, o.request(), o.previewOptions()...).All() {
		if err != nil {
			return nil, err
		}
		found[plan.GetNamespace()+"/"+plan.GetPod()] = plan
	}
	return found, nil
}

// same reports whether two plans are equal. Why sizes do not follow usage does not count: how long usage is known changes
// each hour.
func same(a, b *workloadresizerv1.Plan) bool {
	return proto.Equal(withoutMessages(a), withoutMessages(b))
}

func withoutMessages(plan *workloadresizerv1.Plan) *workloadresizerv1.Plan {
	if !hasDemands(plan) {
		return plan
	}
	without := proto.CloneOf(plan)
	for _, c := range without.GetContainers() {
		for _, d := range c.GetDemands() {
			d.Message = ""
		}
	}
	return without
}

// update prints what has changed. At first, that is everything, and a bookmark ends it if bookmarks is
// set.
func (w *planWatch) update(plans map[string]*workloadresizerv1.Plan, bookmarks bool) error {
	first := w.known == nil
	show := func(event workloadresizerv1.WatchEventType, plan *workloadresizerv1.Plan) error {
		return w.print(client.Event[*workloadresizerv1.Plan]{Type: event, Object: plan, Response: plan})
	}
	for _, name := range slices.Sorted(maps.Keys(plans)) {
		event, last := modified, w.known[name]
		switch {
		case last == nil:
			event = added
		case same(last, plans[name]):
			continue
		}
		if err := show(event, plans[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.known)) {
		if plans[name] != nil {
			continue
		}
		if err := show(deleted, w.known[name]); err != nil {
			return err
		}
	}
	w.known = plans
	if !first || !bookmarks {
		return nil
	}
	return w.print(client.Event[*workloadresizerv1.Plan]{Type: bookmark})
}
