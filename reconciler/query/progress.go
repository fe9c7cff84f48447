package query

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Progress counts the pods of a selection by how far they are from what a hold requires. Pods is
// the sum of Done, Pending and Blocked.
type Progress struct {
	Pods, Done, Pending, Blocked int
	// Reasons counts the blocked pods by their first reason.
	Reasons map[contract.Reason]int
}

// PauseProgress counts the selected pods, which are paused: those that a restore still changes are
// pending. The error is a NotReadyError, or comes from Selection.Visible or ctx.
func (q *Queries) PauseProgress(ctx context.Context, of Selection, uid types.UID) (Progress, error) {
	return q.progress(ctx, of, uid, func(*pod.Pod, *plan.Plan) bool { return true })
}

// RestoreProgress counts the selected pods, which are restored. A pod is done if it has its
// originals, if it was never sized, if it has ended, or if it is being deleted. The errors are the same as for
// PauseProgress.
func (q *Queries) RestoreProgress(ctx context.Context, of Selection, uid types.UID) (Progress, error) {
	return q.progress(ctx, of, uid, func(k *pod.Pod, p *plan.Plan) bool {
		return !k.Sized() || k.Finished() || k.Terminating() || len(p.Reasons) > 0 && p.Reasons[0].Code == contract.Restored
	})
}

// progress counts the selected pods, limited to the one with the UID unless that is empty. done
// reports whether a pod that is not to be written is as required.
func (q *Queries) progress(ctx context.Context, of Selection, uid types.UID, done func(*pod.Pod, *plan.Plan) bool) (Progress, error) {
	if err := q.Cluster.Ready(); err != nil {
		return Progress{}, err
	}
	rules := q.rulesFor(PreviewOptions{})
	pods, err := q.selected(ctx, of, rules.Table)
	if err != nil {
		return Progress{}, err
	}
	progress := Progress{Reasons: map[contract.Reason]int{}}
	var around cluster.Shared
	for i, k := range pods {
		if err := ctx.Err(); err != nil {
			return Progress{}, err
		}
		if uid != "" && k.UID != uid {
			continue
		}
		if namespace := k.Namespace(); i == 0 || namespace != around.Namespace {
			around = q.Cluster.Shared(namespace)
		}
		progress.Pods++
		switch p := q.Planner.Plan(q.Cluster.SnapshotIn(around, k, rules)); {
		// A restored pod that has its originals still has to lose its annotations.
		case p.Decision == plan.Resize, p.Kind == plan.Restore && p.Decision == plan.Align:
			progress.Pending++
		case done(k, p):
			progress.Done++
		default:
			progress.Blocked++
			progress.Reasons[p.Reasons[0].Code]++
		}
	}
	return progress, nil
}
