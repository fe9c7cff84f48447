package actuate

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Actuator executes the writes of plans. It is the only code that writes pods.
//
// Every patch carries the pod's uid, so that it never changes another pod of the same name.
// Every patch except those marked Anyhow also carries a resource version: the version that
// the plan was made from, or that the previous write returned. So a patch never overwrites
// a change that another actor has made since.
//
// The actuator calls Permit right before each write: the write may have waited for its
// turn, and a plan can be stopped between any two writes.
type Actuator struct {
	Config
	// ending is done when no more requests may begin.
	ending context.Context
}

// Config configures an Actuator. All fields must be set.
type Config struct {
	// Client has the configuration of ClientConfig.
	Client kubernetes.Interface
	// Limiter limits the rate of requests. The client must not limit it: a write that
	// waits inside the client was permitted already. Emergency restores do not wait for it.
	Limiter flowcontrol.RateLimiter
	// Permit returns an error if this write of the plan must not begin now.
	Permit  func(context.Context, *plan.Plan, plan.Action) error
	Clock   clock.PassiveClock
	Metrics *Metrics
}

// New returns an actuator that does nothing by itself.
func New(config Config) *Actuator { return &Actuator{config, context.Background()} }

// Always is the Permit of an actuator that writes nothing.
func Always(context.Context, *plan.Plan, plan.Action) error { return nil }

// EndWith prevents requests from beginning once ctx is done. Call it before the first
// request.
func (a *Actuator) EndWith(ctx context.Context) { a.ending = ctx }

// CarryOut executes the writes of a plan and returns the resource version after the last
// one. An error names the write that failed; the writes after it are not made.
func (a *Actuator) CarryOut(ctx context.Context, p *plan.Plan) (resourceVersion string, err error) {
	resourceVersion = p.ResourceVersion
	var left *corev1.Pod
	began := a.Clock.Now()
	for _, w := range p.Actions() {
		w = w.At(began)
		switch {
		case w.Step.Resizes():
			left, err = a.resize(ctx, p, w, resourceVersion)
		case w.Step == plan.StepClean:
			left, err = a.clean(ctx, p, left)
		case w.Anyhow:
			if left, err = a.annotate(ctx, p, w, ""); err != nil {
				err = &UnannotatedError{Err: err}
			}
		default:
			left, err = a.annotate(ctx, p, w, resourceVersion)
		}
		if err != nil {
			return "", err
		}
		resourceVersion = left.ResourceVersion
	}
	return resourceVersion, nil
}

// Note records on the pod what a plan met, unless the pod records it already.
func (a *Actuator) Note(ctx context.Context, p *plan.Plan, failed plan.Reason) error {
	w, needed := p.Note(failed, a.Clock.Now())
	if !needed {
		return nil
	}
	_, err := a.annotate(ctx, p, w, "")
	return err
}

func (a *Actuator) get(ctx context.Context, p *plan.Plan) (*corev1.Pod, error) {
	if err := a.turn(ctx, p.Emergency); err != nil {
		return nil, err
	}
	var asked time.Duration
	pod, err := a.Client.CoreV1().Pods(p.Pod.Namespace).Get(withAsked(ctx, &asked), p.Pod.Name, metav1.GetOptions{})
	return pod, busy(err, asked)
}

// turn waits until another request of a plan may begin. It returns a *StoppedError if none may.
func (a *Actuator) turn(ctx context.Context, emergency bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ending, cancel)()
	var err error
	if !emergency {
		err = a.Limiter.Wait(ctx)
	}
	switch {
	case a.ending.Err() != nil:
		return &StoppedError{Because: "the process is shutting down"}
	case err != nil:
		return fmt.Errorf("wait for the request rate limit: %w", err)
	}
	return nil
}

func resourceVersionOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.ResourceVersion
}

func (a *Actuator) annotate(ctx context.Context, p *plan.Plan, w plan.Action, resourceVersion string) (*corev1.Pod, error) {
	pod, err := a.patch(ctx, p, w, types.StrategicMergePatchType, p.Patch(w, resourceVersion), nil)
	if err != nil {
		return nil, fmt.Errorf("write %s annotations: %w", w.Step, err)
	}
	return pod, nil
}

func (a *Actuator) resize(ctx context.Context, p *plan.Plan, w plan.Action, resourceVersion string) (*corev1.Pod, error) {
	var dryRun []string
	if w.Step == plan.StepPreview {
		dryRun = []string{metav1.DryRunAll}
	}
	pod, err := a.patch(ctx, p, w, types.StrategicMergePatchType, p.Patch(w, resourceVersion), dryRun, contract.ResizeSubresource)
	switch {
	case err == nil && w.Step == plan.StepPreview:
		return pod, nil
	case err == nil:
		if changed := p.Changed(pod); changed != "" {
			return nil, &MutatedError{changed}
		}
		a.Metrics.resized.Inc()
		return pod, nil
	}
	err = fmt.Errorf("resize: %w", err)
	if reason, ok := refusal(err); ok {
		return nil, &RefusedError{Reason: reason, Err: err}
	}
	return nil, err
}

func (a *Actuator) patch(ctx context.Context, p *plan.Plan, w plan.Action, kind types.PatchType, body []byte, dryRun []string, subresources ...string) (*corev1.Pod, error) {
	// A preview restores nothing, and users may ask for any number of them.
	if err := a.turn(ctx, p.Emergency && w.Step != plan.StepPreview); err != nil {
		return nil, err
	}
	if err := a.Permit(ctx, p, w); err != nil {
		return nil, err
	}
	ctx, traced := startWrite(ctx, w.Step, p.Pod)
	began := a.Clock.Now()
	var asked time.Duration
	pod, err := a.send(withAsked(ctx, &asked), p, w.Step, kind, body, dryRun, subresources...)
	a.Metrics.write(w.Step, a.Clock.Since(began), err)
	traced(resourceVersionOf(pod), err)
	return pod, busy(err, asked)
}
