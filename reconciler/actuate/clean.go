package actuate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// cleanPatch is a merge patch that removes annotations (null) and sets the managed
// fields.
type cleanPatch struct {
	Metadata cleanMetadata `json:"metadata"`
}

type cleanMetadata struct {
	UID             types.UID                   `json:"uid"`
	ResourceVersion string                      `json:"resourceVersion"`
	Annotations     map[string]*string          `json:"annotations,omitempty"`
	ManagedFields   []metav1.ManagedFieldsEntry `json:"managedFields"`
}

// clean removes our annotations from a pod that has its originals, and our entries from
// the pod's managed fields: without the annotations, these entries would mean that the
// originals are lost. left is the pod after the previous write; nil if there was none.
func (a *Actuator) clean(ctx context.Context, p *plan.Plan, left *corev1.Pod) (*corev1.Pod, error) {
	resized := left != nil
	switch {
	case !resized:
		// The pod must not have been resized since it was seen with its originals:
		// an earlier write may have arrived late.
		var err error
		if left, err = a.current(ctx, p); err != nil {
			return nil, err
		}
	case !p.IsDone(left):
		return nil, &MutatedError{"the pod does not have its originals"}
	}
	cleaned, err := a.removeTraces(ctx, p, left)
	for try := 0; try < 3 && resized && apierrors.IsConflict(err); try++ {
		// The kubelet has updated the pod's status in the meantime.
		now, unread := a.get(ctx, p)
		if unread != nil || !p.IsDone(now) {
			break // The next plan continues from here.
		}
		cleaned, err = a.removeTraces(ctx, p, now)
	}
	if err != nil {
		return nil, fmt.Errorf("remove the annotations: %w", err)
	}
	return cleaned, nil
}

// removeTraces removes our annotations and managed fields from a pod whose current state
// is now.
func (a *Actuator) removeTraces(ctx context.Context, p *plan.Plan, now *corev1.Pod) (*corev1.Pod, error) {
	annotations := map[string]*string{}
	for key := range now.Annotations {
		if p.Removes(key) {
			annotations[key] = nil
		}
	}
	body, err := json.Marshal(cleanPatch{cleanMetadata{UID: p.UID, ResourceVersion: now.ResourceVersion, Annotations: annotations, ManagedFields: pod.WithoutResizes(now.ManagedFields)}})
	if err != nil {
		return nil, err
	}
	return a.patch(ctx, p, plan.Action{Step: plan.StepClean}, types.MergePatchType, body, nil)
}

// current returns the pod that the plan was made from. The error is a conflict if the
// pod has changed since.
func (a *Actuator) current(ctx context.Context, p *plan.Plan) (*corev1.Pod, error) {
	pod, err := a.get(ctx, p)
	if err == nil && pod.ResourceVersion != p.ResourceVersion {
		err = apierrors.NewConflict(corev1.Resource("pods"), p.Pod.Name, errors.New("the pod has changed since it was planned"))
	}
	return pod, err
}
