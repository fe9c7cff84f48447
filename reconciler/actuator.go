package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// actuator carries plans out. It is the only code that writes pods.
//
// The order of its writes is the recovery contract: (1) originals, (2) resize,
// (3) applied. Whatever was written last, the next plan starts from the
// originals and goes on from there, so that nothing compounds. Every patch
// carries the pod's uid, so that it never meets another pod of that name; (1)
// and (2) also carry the resource version that the plan was made from, so that
// they never overwrite what somebody else did since. (3) does not: it states
// what was done, and the kubelet's own update of the pod must not prevent it.
type actuator struct {
	client  kubernetes.Interface
	clock   clock.PassiveClock
	metrics *metrics
}

// step names one of the writes.
type step string

const (
	stepOriginals step = "originals"
	stepResize    step = "resize"
	stepApplied   step = "applied"
	// stepRecord is (1) and (3) in one, where there is nothing to resize.
	stepRecord step = "record"
)

// unsupportedError tells that this pod cannot be resized in place at all.
type unsupportedError struct{ err error }

func (e *unsupportedError) Error() string { return e.err.Error() }
func (e *unsupportedError) Unwrap() error { return e.err }

// unrecordedError tells that the pod has its sizes, and only the record of what
// was applied is missing.
type unrecordedError struct{ err error }

func (e *unrecordedError) Error() string { return e.err.Error() }
func (e *unrecordedError) Unwrap() error { return e.err }

// carryOut writes what a plan asks for and returns the resource version of the
// last write. An error says which write failed.
func (a *actuator) carryOut(ctx context.Context, plan *Plan) (resourceVersion string, err error) {
	applied := map[string]string{
		contract.AppliedInstanceType: plan.NodeType,
		contract.AppliedAt:           a.clock.Now().UTC().Format(time.RFC3339),
	}
	if plan.Decision == Align {
		if len(plan.unrecorded) == 0 {
			return a.annotate(ctx, plan, stepApplied, "", applied)
		}
		for key, value := range plan.unrecorded {
			applied[key] = value
		}
		return a.annotate(ctx, plan, stepRecord, plan.ResourceVersion, applied)
	}
	resourceVersion = plan.ResourceVersion
	if len(plan.unrecorded) > 0 {
		if resourceVersion, err = a.annotate(ctx, plan, stepOriginals, resourceVersion, plan.unrecorded); err != nil {
			return "", err
		}
	}
	if err := a.resize(ctx, plan, resourceVersion); err != nil {
		return "", err
	}
	if resourceVersion, err = a.annotate(ctx, plan, stepApplied, "", applied); err != nil {
		return "", &unrecordedError{err}
	}
	return resourceVersion, nil
}

func (a *actuator) annotate(ctx context.Context, plan *Plan, s step, resourceVersion string, annotations map[string]string) (string, error) {
	body := podPatch{Metadata: metadataPatch{UID: plan.UID, ResourceVersion: resourceVersion, Annotations: annotations}}
	pod, err := a.patch(ctx, plan, s, body)
	if err != nil {
		return "", fmt.Errorf("write %s annotations: %w", s, err)
	}
	return pod.ResourceVersion, nil
}

func (a *actuator) resize(ctx context.Context, plan *Plan, resourceVersion string) error {
	_, err := a.patch(ctx, plan, stepResize, resizePatch(plan, resourceVersion), "resize")
	if err == nil {
		return nil
	}
	err = fmt.Errorf("resize: %w", err)
	if unsupported(err) {
		return &unsupportedError{err}
	}
	return err
}

func (a *actuator) patch(ctx context.Context, plan *Plan, s step, body podPatch, subresources ...string) (*corev1.Pod, error) {
	pod, err := a.client.CoreV1().Pods(plan.Pod.Namespace).Patch(ctx, plan.Pod.Name, types.StrategicMergePatchType, body.marshal(),
		metav1.PatchOptions{FieldManager: contract.FieldManager}, subresources...)
	a.metrics.write(s, err)
	return pod, err
}

// unsupported tells the answers of a server or node that cannot resize in place
// from those that refuse this resize.
func unsupported(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	s := status.Status()
	switch s.Code {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		// A server without the subresource does not look for the pod: its
		// answer is no object of the API, or names none.
		return s.Details == nil || s.Details.Name == "" || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
	case http.StatusUnprocessableEntity, http.StatusForbidden:
		return strings.Contains(s.Message, "node without support for resize") ||
			strings.Contains(s.Message, "resize is only supported on") ||
			strings.Contains(s.Message, "pod update requires features")
	}
	return false
}
