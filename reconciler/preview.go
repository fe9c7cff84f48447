package reconciler

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// NotReadyError tells that plans cannot be made yet.
type NotReadyError struct {
	What NotReady
	Err  error
}

// NotReady is what is missing for plans.
type NotReady int

const (
	// RatiosNotReady: there is no ratio table.
	RatiosNotReady NotReady = iota
	// CacheNotReady: pods and nodes are not known.
	CacheNotReady
)

var errCacheNotReady = errors.New("pods and nodes are not read yet")

func (e *NotReadyError) Error() string { return "not ready: " + e.Err.Error() }
func (e *NotReadyError) Unwrap() error { return e.Err }

// PodNotFoundError tells that there is no such pod.
type PodNotFoundError struct{ Pod types.NamespacedName }

func (e *PodNotFoundError) Error() string {
	return fmt.Sprintf("there is no pod %q in namespace %q", e.Pod.Name, e.Pod.Namespace)
}

// PreviewOptions say what else than the loop's own plan is asked for.
type PreviewOptions struct {
	// Restore plans as if the pods were to be restored.
	Restore bool
	// ServerSide also asks the API server, by a dry run, about each resize.
	ServerSide bool
	// Table is to be taken for the ratios; nil for those in force.
	Table *ratios.Table
	// NodeType is to be taken for the type of every pod's node, of which nothing
	// else counts then; empty for what each node is.
	NodeType string
}

// Preview plans one pod as the loop would now. The error is a NotReadyError or a
// PodNotFoundError.
func (r *Reconciler) Preview(ctx context.Context, name types.NamespacedName, options PreviewOptions) (*plan.Plan, error) {
	if err := r.Ready(); err != nil {
		return nil, err
	}
	found := r.pods.Pods(name.Namespace).Get(name.Name)
	if found == nil {
		return nil, &PodNotFoundError{name}
	}
	return r.preview(ctx, r.snapshot(found, r.rulesFor(options)), options), nil
}

// PreviewAll plans every pod of the selection, ordered by namespace and name, all
// with the same table, until ctx is done. The pods are those of the moment of the
// call, total in number: what was kept of them then is held until the plans are
// read. The error is a NotReadyError, or that of Selection.Sees or ctx.
func (r *Reconciler) PreviewAll(ctx context.Context, of Selection, options PreviewOptions) (total int, plans iter.Seq[*plan.Plan], err error) {
	if err := r.Ready(); err != nil {
		return 0, nil, err
	}
	rules := r.rulesFor(options)
	pods, err := r.selected(ctx, of, rules.table)
	if err != nil {
		return 0, nil, err
	}
	return len(pods), func(yield func(*plan.Plan) bool) {
		var around shared
		for i, k := range pods {
			if namespace := k.Namespace(); i == 0 || namespace != around.namespace {
				around = r.shared(namespace)
			}
			if ctx.Err() != nil || !yield(r.preview(ctx, r.snapshotIn(around, k, rules), options)) {
				return
			}
		}
	}, nil
}

// rulesFor are the rules in force, which are known for ever once they are, with
// the table that is asked for.
func (r *Reconciler) rulesFor(options PreviewOptions) rules {
	rules, _ := r.rules()
	if options.Table != nil {
		rules.table = options.Table
	}
	return rules
}

func (r *Reconciler) preview(ctx context.Context, s *plan.Snapshot, options PreviewOptions) *plan.Plan {
	s.Restore = s.Restore || options.Restore
	if options.NodeType != "" {
		s.Imagine(options.NodeType)
	}
	p := r.Planner.Plan(s)
	if options.ServerSide && p.Decision == plan.Resize {
		r.asker.Ask(ctx, p)
	}
	return p
}
