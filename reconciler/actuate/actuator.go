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

// Actuator carries out the writes of plans. It is the only code that writes pods.
//
// Every patch carries the pod's uid, so that it never meets another pod of that name.
// All but those that hold anyhow also carry the resource version that the plan was made
// from, or that the write before has left, so that they never overwrite what somebody
// else did since.
//
// Right before each write it asks whether that may still be: it may have waited
// for its turn, and a plan may be stopped between any two writes.
type Actuator struct {
	Config
	// ending is done when no request may begin any more.
	ending context.Context
}

// Config is what an Actuator is made of. All fields must be set.
type Config struct {
	// Client has the configuration of ClientConfig.
	Client kubernetes.Interface
	// Limiter bounds the rate of requests; the client must not, as what waits
	// inside of it has been permitted already.
	Limiter flowcontrol.RateLimiter
	// Permit returns an error if no write of the plan may begin now.
	Permit  func(*plan.Plan) error
	Clock   clock.PassiveClock
	Metrics *Metrics
}

// New returns an actuator that does nothing by itself.
func New(config Config) *Actuator { return &Actuator{config, context.Background()} }

// Always permits what writes nothing.
func Always(*plan.Plan) error { return nil }

// EndWith has no request begin once ctx is done. It is called before any does.
func (a *Actuator) EndWith(ctx context.Context) { a.ending = ctx }

// CarryOut does the writes of a plan and returns the resource version of the last one.
// An error says which write failed; then those after it are not done.
func (a *Actuator) CarryOut(ctx context.Context, p *plan.Plan) (resourceVersion string, err error) {
	resourceVersion = p.ResourceVersion
	var left *corev1.Pod
	for _, w := range p.Writes(a.Clock.Now()) {
		switch {
		case w.Step.Resizes():
			left, err = a.resize(ctx, p, w.Step, resourceVersion)
		case w.Step == plan.StepClean:
			left, err = a.clean(ctx, p, left)
		case w.Anyhow:
			if left, err = a.annotate(ctx, p, w, ""); err != nil {
				err = &UnrecordedError{Err: err}
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

func (a *Actuator) get(ctx context.Context, p *plan.Plan) (*corev1.Pod, error) {
	if err := a.turn(ctx); err != nil {
		return nil, err
	}
	var asked time.Duration
	pod, err := a.Client.CoreV1().Pods(p.Pod.Namespace).Get(withAsked(ctx, &asked), p.Pod.Name, metav1.GetOptions{})
	return pod, busy(err, asked)
}

// turn waits until another request may begin; a *StoppedError says that none may.
func (a *Actuator) turn(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ending, cancel)()
	err := a.Limiter.Wait(ctx)
	switch {
	case a.ending.Err() != nil:
		return &StoppedError{Because: "this process ends"}
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

func (a *Actuator) annotate(ctx context.Context, p *plan.Plan, w plan.Write, resourceVersion string) (*corev1.Pod, error) {
	pod, err := a.patch(ctx, p, w.Step, types.StrategicMergePatchType, p.Patch(w, resourceVersion), nil)
	if err != nil {
		return nil, fmt.Errorf("write %s annotations: %w", w.Step, err)
	}
	return pod, nil
}

func (a *Actuator) resize(ctx context.Context, p *plan.Plan, s plan.Step, resourceVersion string) (*corev1.Pod, error) {
	var dryRun []string
	if s == plan.StepPreview {
		dryRun = []string{metav1.DryRunAll}
	}
	pod, err := a.patch(ctx, p, s, types.StrategicMergePatchType, p.Patch(plan.Write{Step: s}, resourceVersion), dryRun, contract.ResizeSubresource)
	if err == nil {
		if s != plan.StepPreview {
			a.Metrics.resized.Inc()
		}
		return pod, nil
	}
	err = fmt.Errorf("resize: %w", err)
	if reason, ok := refusal(err); ok {
		return nil, &RefusedError{Reason: reason, Err: err}
	}
	return nil, err
}

func (a *Actuator) patch(ctx context.Context, p *plan.Plan, s plan.Step, kind types.PatchType, body []byte, dryRun []string, subresources ...string) (*corev1.Pod, error) {
	if err := a.turn(ctx); err != nil {
		return nil, err
	}
	if err := a.Permit(p); err != nil {
		return nil, err
	}
	ctx, traced := startWrite(ctx, s, p.Pod)
	began := a.Clock.Now()
	var asked time.Duration
	pod, err := a.send(withAsked(ctx, &asked), p, s, kind, body, dryRun, subresources...)
	a.Metrics.write(s, a.Clock.Since(began), err)
	traced(resourceVersionOf(pod), err)
	return pod, busy(err, asked)
}
