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

// cleanPatch is a merge patch that removes annotations (null) and sets who
// manages which fields.
type cleanPatch struct {
	Metadata cleanMetadata `json:"metadata"`
}

type cleanMetadata struct {
	UID             types.UID                   `json:"uid"`
	ResourceVersion string                      `json:"resourceVersion"`
	Annotations     map[string]*string          `json:"annotations,omitempty"`
	ManagedFields   []metav1.ManagedFieldsEntry `json:"managedFields"`
}

// clean removes the annotations that tell of us from a pod that has its originals, and
// with them our part of the API server's record of who resized it: without the
// annotations, that record would say that the originals are lost. The pod is as the write
// before has left it; nil if there was none.
func (a *Actuator) clean(ctx context.Context, p *plan.Plan, left *corev1.Pod) (*corev1.Pod, error) {
	resized := left != nil
	switch {
	case !resized:
		// It must not have been resized since it was found to have its
		// originals: a write of before may have come in late.
		var err error
		if left, err = a.current(ctx, p); err != nil {
			return nil, err
		}
	case !p.IsDone(left):
		return nil, &MutatedError{}
	}
	cleaned, err := a.removeTraces(ctx, p, left)
	for try := 0; try < 3 && resized && apierrors.IsConflict(err); try++ {
		// The kubelet has said something of the resize meanwhile.
		now, unread := a.get(ctx, p)
		if unread != nil || !p.IsDone(now) {
			break // The next plan goes on from there.
		}
		cleaned, err = a.removeTraces(ctx, p, now)
	}
	if err != nil {
		return nil, fmt.Errorf("remove the annotations: %w", err)
	}
	return cleaned, nil
}

// removeTraces removes what tells of us from a pod that is as the given one.
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
	return a.patch(ctx, p, plan.StepClean, types.MergePatchType, body, nil)
}

// current returns the pod that the plan was made from; the error is a conflict if
// it has changed since.
func (a *Actuator) current(ctx context.Context, p *plan.Plan) (*corev1.Pod, error) {
	pod, err := a.get(ctx, p)
	if err == nil && pod.ResourceVersion != p.ResourceVersion {
		err = apierrors.NewConflict(corev1.Resource("pods"), p.Pod.Name, errors.New("it changed since it was planned"))
	}
	return pod, err
}
