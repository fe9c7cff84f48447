package query

import (
	"context"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// PreviewOptions determines how a preview differs from the loop's own plan.
type PreviewOptions struct {
	// Restore plans a restore of the pods.
	Restore bool
	// ServerSide also sends each resize to the API server as a dry run.
	ServerSide bool
	// Table replaces the ratios; nil for the table in effect.
	Table *ratios.Table
	// WithoutHolds plans as if the cluster were not frozen and no hold covered the pods.
	WithoutHolds bool
	// NodeType replaces the type of every pod's node, and then nothing else about the
	// node counts; empty for the actual node.
	NodeType string
}

// Preview plans one pod as the loop would. The error is a NotReadyError or a
// PodNotFoundError.
func (q *Queries) Preview(ctx context.Context, name types.NamespacedName, options PreviewOptions) (*plan.Plan, error) {
	if err := q.Cluster.Ready(); err != nil {
		return nil, err
	}
	found := q.Cluster.Pods(name.Namespace).Get(name.Name)
	if found == nil {
		return nil, &PodNotFoundError{name}
	}
	return q.preview(ctx, q.Cluster.Snapshot(found, q.rulesFor(options)), options), nil
}

// PreviewAll plans every pod of the selection, ordered by namespace and name, all
// with the same table, until ctx is done. total is the number of pods. The pods are planned
// in their state at the time of the call, which is held until the plans are read. The error
// is a NotReadyError, or comes from Selection.Visible or ctx.
func (q *Queries) PreviewAll(ctx context.Context, of Selection, options PreviewOptions) (total int, plans iter.Seq[*plan.Plan], err error) {
	if err := q.Cluster.Ready(); err != nil {
		return 0, nil, err
	}
	rules := q.rulesFor(options)
	pods, err := q.selected(ctx, of, rules.Table)
	if err != nil {
		return 0, nil, err
	}
	return len(pods), func(yield func(*plan.Plan) bool) {
		var around cluster.Shared
		for i, k := range pods {
			if namespace := k.Namespace(); i == 0 || namespace != around.Namespace {
				around = q.Cluster.Shared(namespace)
			}
			if ctx.Err() != nil || !yield(q.preview(ctx, q.Cluster.SnapshotIn(around, k, rules), options)) {
				return
			}
		}
	}, nil
}

// rulesFor returns the rules in effect, with the table of the options. Once known, rules
// never become unknown.
func (q *Queries) rulesFor(options PreviewOptions) cluster.Rules {
	rules, _ := q.Cluster.Rules()
	if options.Table != nil {
		rules.Table = options.Table
	}
	return rules
}

func (q *Queries) preview(ctx context.Context, s *plan.Snapshot, options PreviewOptions) *plan.Plan {
	if options.WithoutHolds {
		s.Frozen, s.Paused, s.Degraded, s.Restore, s.Emergency = nil, nil, nil, false, false
	}
	if options.ServerSide {
		s.Failed = nil // The API server says now what it would do.
	}
	if f := s.Failed; f != nil {
		// It is known of the pod until an attempt succeeds: one that is due has no answer yet.
		known := *f
		known.Until = time.Time{}
		s.Failed = &known
	}
	s.InTheEnd = options.WithoutHolds || options.Table != nil
	actual := !options.WithoutHolds && options.Table == nil && options.NodeType == "" && (s.Restore || !options.Restore)
	s.Restore = s.Restore || options.Restore
	if options.NodeType != "" {
		s.Imagine(options.NodeType)
	}
	p := q.Planner.Plan(s)
	if options.ServerSide && p.Decision == plan.Resize {
		p = q.Asker.Ask(ctx, p)
	}
	if actual && q.Waits != nil && p.Decision == plan.Resize {
		if why := q.Waits(p); why != "" {
			p = p.With(plan.Reason{Code: contract.WaitingForTurn, Message: why})
		}
	}
	if actual && q.Eviction != nil && p.Kind != plan.Restore {
		p.Eviction = q.Eviction(p)
	}
	return p
}
