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
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// actuator carries plans out. It is the only code that writes pods.
//
// The order of its writes is the recovery contract: (1) originals, and whose word on
// them counts, (2) resize, (3) applied, if nothing is left to be done; of a restore,
// resize and then the removal of all annotations, if it is whole; of what a node
// refuses, the record of its words, if they are about more than these amounts, and
// then the resize that puts back.
// Whatever was written last, the next plan starts from the originals and goes on
// from there, so that nothing compounds. Every patch carries the pod's uid, so
// that it never meets another pod of that name; all but (3) also carry the
// resource version that the plan was made from, so that they never overwrite
// what somebody else did since. (3) does not: it states what was done, and the
// kubelet's own update of the pod must not prevent it.
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

// step names one of the writes.
type step string

const (
	stepOriginals step = "originals"
	stepResize    step = "resize"
	stepApplied   step = "applied"
	// stepRecord is (1) and (3) in one, where there is nothing to resize.
	stepRecord step = "record"
	// stepInfeasible records what the node refuses whatever the amounts are, and
	// stepPutBack is a resize to what it has set aside.
	stepInfeasible step = "infeasible"
	stepPutBack    step = "putBack"
	// stepRestore is a resize to the originals, stepClean the removal of what
	// tells of us.
	stepRestore step = "restore"
	stepClean   step = "clean"
	// stepPreview asks what the API server would say of a resize.
	stepPreview step = "preview"
)

// steps are all of them.
var steps = []step{stepOriginals, stepResize, stepApplied, stepRecord, stepInfeasible, stepPutBack, stepRestore, stepClean, stepPreview}

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

// carryOut writes what a plan asks for and returns the resource version of the
// last write. An error says which write failed.
func (a *actuator) carryOut(ctx context.Context, plan *Plan) (resourceVersion string, err error) {
	switch plan.kind {
	case putBack:
		return a.putBack(ctx, plan)
	case restore:
		return a.restore(ctx, plan)
	}
	now := a.clock.Now()
	unrecorded := plan.unrecorded(now)
	if plan.Decision == Align {
		applied, s := plan.record(now), stepApplied
		for key, value := range unrecorded {
			applied[key], s = value, stepRecord
		}
		return a.annotate(ctx, plan, s, plan.ResourceVersion, applied)
	}
	resourceVersion = plan.ResourceVersion
	if len(unrecorded) > 0 {
		if resourceVersion, err = a.annotate(ctx, plan, stepOriginals, resourceVersion, unrecorded); err != nil {
			return "", err
		}
	}
	pod, err := a.resize(ctx, plan, stepResize, resourceVersion)
	if err != nil {
		return "", err
	}
	applied := plan.record(a.clock.Now())
	if plan.partial != "" {
		applied = plan.notAdopted() // The pod has not what its node needs yet.
	}
	if len(applied) == 0 {
		return pod.ResourceVersion, nil
	}
	if resourceVersion, err = a.annotate(ctx, plan, stepApplied, "", applied); err != nil {
		return "", &unrecordedError{err}
	}
	return resourceVersion, nil
}

// putBack takes a size back that the node refuses. That it refuses it whatever the
// amounts are is recorded before, as the node says nothing of it after.
func (a *actuator) putBack(ctx context.Context, plan *Plan) (resourceVersion string, err error) {
	resourceVersion = plan.ResourceVersion
	if plan.noteInfeasible != "" {
		if resourceVersion, err = a.annotate(ctx, plan, stepInfeasible, resourceVersion, map[string]*string{contract.Infeasible: &plan.noteInfeasible}); err != nil {
			return "", err
		}
	}
	pod, err := a.resize(ctx, plan, stepPutBack, resourceVersion)
	return resourceVersionOf(pod), err
}

// restore gives a pod its originals and then removes what tells of us: the
// annotations, and with them our part of the API server's record of who resized
// it. Without the annotations that record would say that the originals are lost.
func (a *actuator) restore(ctx context.Context, plan *Plan) (resourceVersion string, err error) {
	var pod *corev1.Pod
	if plan.Decision == Resize {
		resourceVersion = plan.ResourceVersion
		if vouching := plan.vouching(); vouching != nil {
			if resourceVersion, err = a.annotate(ctx, plan, stepOriginals, resourceVersion, vouching); err != nil {
				return "", err
			}
		}
		pod, err = a.resize(ctx, plan, stepRestore, resourceVersion)
		if err == nil && !plan.keepRecord && !plan.isDone(pod) {
			return "", errors.New("resize: an admission plugin gave the pod other sizes than its originals")
		}
	} else {
		// It must not have been resized since it was found to have its
		// originals: a write of before may have come in late.
		pod, err = a.current(ctx, plan)
	}
	if err != nil || plan.keepRecord {
		return resourceVersionOf(pod), err
	}
	cleaned, err := a.clean(ctx, plan, pod)
	for try := 0; try < 3 && plan.Decision == Resize && apierrors.IsConflict(err); try++ {
		// The kubelet has said something of the resize meanwhile.
		now, unread := a.get(ctx, plan)
		if unread != nil || !plan.isDone(now) {
			break // The next plan goes on from there.
		}
		cleaned, err = a.clean(ctx, plan, now)
	}
	if err != nil {
		return "", fmt.Errorf("remove the annotations: %w", err)
	}
	return cleaned.ResourceVersion, nil
}

// clean removes what tells of us from a pod that is as the given one.
func (a *actuator) clean(ctx context.Context, plan *Plan, now *corev1.Pod) (*corev1.Pod, error) {
	annotations := map[string]*string{}
	for key := range now.Annotations {
		if plan.removes(key) {
			annotations[key] = nil
		}
	}
	body := marshal(cleanPatch{cleanMetadata{UID: plan.UID, ResourceVersion: now.ResourceVersion, Annotations: annotations, ManagedFields: pod.WithoutResizes(now.ManagedFields)}})
	return a.patch(ctx, plan, stepClean, types.MergePatchType, body, nil)
}

// current returns the pod that the plan was made from; the error is a conflict if
// it has changed since.
func (a *actuator) current(ctx context.Context, plan *Plan) (*corev1.Pod, error) {
	pod, err := a.get(ctx, plan)
	if err == nil && pod.ResourceVersion != plan.ResourceVersion {
		err = apierrors.NewConflict(corev1.Resource("pods"), plan.Pod.Name, errors.New("it changed since it was planned"))
	}
	return pod, err
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

func (a *actuator) annotate(ctx context.Context, plan *Plan, s step, resourceVersion string, annotations map[string]*string) (string, error) {
	body := podPatch{Metadata: metadataPatch{UID: plan.UID, ResourceVersion: resourceVersion, Annotations: annotations}}
	pod, err := a.patch(ctx, plan, s, types.StrategicMergePatchType, marshal(body), nil)
	if err != nil {
		return "", fmt.Errorf("write %s annotations: %w", s, err)
	}
	return pod.ResourceVersion, nil
}

func (a *actuator) resize(ctx context.Context, plan *Plan, s step, resourceVersion string) (*corev1.Pod, error) {
	var dryRun []string
	if s == stepPreview {
		dryRun = []string{metav1.DryRunAll}
	}
	pod, err := a.patch(ctx, plan, s, types.StrategicMergePatchType, marshal(resizePatch(plan, resourceVersion)), dryRun, contract.ResizeSubresource)
	if err == nil {
		if s != stepPreview {
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

func (a *actuator) patch(ctx context.Context, plan *Plan, s step, kind types.PatchType, body []byte, dryRun []string, subresources ...string) (*corev1.Pod, error) {
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
