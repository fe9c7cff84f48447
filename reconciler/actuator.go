package reconciler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// actuator carries out the writes of plans. It is the only code that writes pods.
//
// Every patch carries the pod's uid, so that it never meets another pod of that name.
// All but those that hold anyhow also carry the resource version that the plan was made
// from, or that the write before has left, so that they never overwrite what somebody
// else did since.
//
// Right before each write it asks whether that may still be: it may have waited
// for its turn, and a plan may be stopped between any two writes.
type actuator struct {
	client kubernetes.Interface
	// limiter bounds the rate of requests; the client must not, as what waits
	// inside of it has been permitted already.
	limiter flowcontrol.RateLimiter
	// permit returns an error if no write of the plan may begin now.
	permit func(*Plan) error
	// ending is done when no request may begin any more.
	ending  context.Context
	clock   clock.PassiveClock
	metrics *metrics
}

// refusedError tells that the API server refuses a resize for a reason that the
// contract names.
type refusedError struct {
	reason contract.Reason
	err    error
}

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// unrecordedError tells that the pod has its sizes, and only the record of what
// was applied is missing.
type unrecordedError struct{ err error }

func (e *unrecordedError) Error() string { return e.err.Error() }
func (e *unrecordedError) Unwrap() error { return e.err }

// carryOut does the writes of a plan and returns the resource version of the last one.
// An error says which write failed; then those after it are not done.
func (a *actuator) carryOut(ctx context.Context, plan *Plan) (resourceVersion string, err error) {
	resourceVersion = plan.ResourceVersion
	var left *corev1.Pod
	for _, w := range plan.Writes(a.clock.Now()) {
		switch {
		case w.Step.Resizes():
			left, err = a.resize(ctx, plan, w.Step, resourceVersion)
		case w.Step == StepClean:
			left, err = a.clean(ctx, plan, left)
		case w.Anyhow:
			if left, err = a.annotate(ctx, plan, w, ""); err != nil {
				err = &unrecordedError{err}
			}
		default:
			left, err = a.annotate(ctx, plan, w, resourceVersion)
		}
		if err != nil {
			return "", err
		}
		resourceVersion = left.ResourceVersion
	}
	return resourceVersion, nil
}

func (a *actuator) get(ctx context.Context, plan *Plan) (*corev1.Pod, error) {
	if err := a.turn(ctx); err != nil {
		return nil, err
	}
	var asked time.Duration
	pod, err := a.client.CoreV1().Pods(plan.Pod.Namespace).Get(withAsked(ctx, &asked), plan.Pod.Name, metav1.GetOptions{})
	return pod, busy(err, asked)
}

// turn waits until another request may begin; a *stoppedError says that none may.
func (a *actuator) turn(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ending, cancel)()
	err := a.limiter.Wait(ctx)
	switch {
	case a.ending.Err() != nil:
		return &stoppedError{"this process ends"}
	case err != nil:
		return fmt.Errorf("wait for the rate of requests: %w", err)
	}
	return nil
}

func resourceVersionOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.ResourceVersion
}

func (a *actuator) annotate(ctx context.Context, plan *Plan, w Write, resourceVersion string) (*corev1.Pod, error) {
	pod, err := a.patch(ctx, plan, w.Step, types.StrategicMergePatchType, plan.Patch(w, resourceVersion), nil)
	if err != nil {
		return nil, fmt.Errorf("write %s annotations: %w", w.Step, err)
	}
	return pod, nil
}

func (a *actuator) resize(ctx context.Context, plan *Plan, s Step, resourceVersion string) (*corev1.Pod, error) {
	var dryRun []string
	if s == StepPreview {
		dryRun = []string{metav1.DryRunAll}
	}
	pod, err := a.patch(ctx, plan, s, types.StrategicMergePatchType, plan.Patch(Write{Step: s}, resourceVersion), dryRun, contract.ResizeSubresource)
	if err == nil {
		if s != StepPreview {
			a.metrics.resized.Inc()
		}
		return pod, nil
	}
	err = fmt.Errorf("resize: %w", err)
	if reason, ok := refusal(err); ok {
		return nil, &refusedError{reason, err}
	}
	return nil, err
}

func (a *actuator) patch(ctx context.Context, plan *Plan, s Step, kind types.PatchType, body []byte, dryRun []string, subresources ...string) (*corev1.Pod, error) {
	if err := a.turn(ctx); err != nil {
		return nil, err
	}
	if err := a.permit(plan); err != nil {
		return nil, err
	}
	ctx, traced := startWrite(ctx, s, plan.Pod)
	began := a.clock.Now()
	var asked time.Duration
	pod, err := a.send(withAsked(ctx, &asked), plan, s, kind, body, dryRun, subresources...)
	a.metrics.write(s, a.clock.Since(began), err)
	traced(resourceVersionOf(pod), err)
	return pod, busy(err, asked)
}

// refusal tells the answers to a resize that name a reason of the contract.
func refusal(err error) (contract.Reason, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", false
	}
	s := status.Status()
	switch s.Code {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		// A server without the subresource does not look for the pod: its
		// answer is no object of the API, or names none.
		without := s.Details == nil || s.Details.Name == "" || apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
		return contract.ResizeUnsupported, without
	case http.StatusUnprocessableEntity, http.StatusForbidden:
		return safety.Refusal(s.Message)
	}
	return "", false
}
