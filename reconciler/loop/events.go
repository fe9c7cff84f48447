package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Events tells people, by events on the objects concerned. Sending them never
// holds anything up: what cannot be sent in time is dropped.
type Events struct {
	recorder    record.EventRecorder
	broadcaster record.EventBroadcaster
	sink        *countingSink
	// said counts what was given to the recorder.
	said atomic.Int64
}

// NewEvents returns events that are sent through client, which should have a
// budget of its own, until Shutdown.
func NewEvents(client kubernetes.Interface) *Events {
	e := &Events{
		broadcaster: record.NewBroadcaster(),
		sink:        &countingSink{EventSink: &typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")}},
	}
	e.broadcaster.StartRecordingToSink(e.sink)
	e.recorder = e.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: contract.AppName})
	return e
}

// NoEvents tells nobody; a dry run writes nothing, events included.
func NoEvents() *Events { return &Events{} }

// lastWords is how long Shutdown waits for events to be sent.
const lastWords = 5 * time.Second

// Shutdown sends what is left to send, for a while, and stops. What was done to
// a pod just before the end is said at no other time.
func (e *Events) Shutdown() {
	if e.recorder == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	// That the time is over is no error: what is left then is dropped.
	_ = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		return e.sink.sent.Load() >= e.said.Load(), nil
	})
	e.broadcaster.Shutdown()
}

// countingSink counts the events that are done with: created or counted up, or
// refused for good. What fails otherwise is tried again, and an event that is no
// longer there to be counted up is created anew.
type countingSink struct {
	record.EventSink
	sent atomic.Int64
}

// Create implements record.EventSink. What tells of a state and not of a deed has
// a name made of what is said, so that a process that starts anew does not say
// again what is there to be read.
func (s *countingSink) Create(event *corev1.Event) (*corev1.Event, error) {
	if !isDeed(contract.Reason(event.Reason)) {
		event.Name = nameOfState(event)
	}
	created, err := s.EventSink.Create(event)
	if apierrors.IsAlreadyExists(err) {
		created, err = event, nil
	}
	s.count(err)
	return created, err
}

// isDeed tells the reasons that say that something was written.
func isDeed(reason contract.Reason) bool {
	switch reason {
	case contract.Resized, contract.Restored, contract.AlreadyAligned, contract.BoundsClamped:
		return true
	}
	return false
}

// maxEventName is how long the name of an object may be.
const maxEventName = 253

func nameOfState(event *corev1.Event) string {
	about := event.InvolvedObject
	sum := sha256.Sum256([]byte(string(about.UID) + "\n" + about.ResourceVersion + "\n" + event.Reason + "\n" + event.Message))
	tail := "." + hex.EncodeToString(sum[:8])
	return strings.TrimRight(about.Name[:min(len(about.Name), maxEventName-len(tail))], ".-") + tail
}

// Patch implements record.EventSink.
func (s *countingSink) Patch(old *corev1.Event, data []byte) (*corev1.Event, error) {
	patched, err := s.EventSink.Patch(old, data)
	if !apierrors.IsNotFound(err) {
		s.count(err)
	}
	return patched, err
}

func (s *countingSink) count(err error) {
	var refused apierrors.APIStatus
	if err == nil || errors.As(err, &refused) {
		s.sent.Add(1)
	}
}

// ConfigRejected says on the ConfigMap that its content was rejected.
func (e *Events) ConfigRejected(cm *corev1.ConfigMap, err error) {
	if e.recorder == nil {
		return
	}
	e.said.Add(1)
	e.recorder.Eventf(cm, corev1.EventTypeWarning, string(contract.InvalidConfig), "Rejected, the last good configuration stays in force: %v", err)
}

// Pod says something on a pod, as loud as its reason is.
func (e *Events) Pod(pod types.NamespacedName, uid types.UID, said plan.Reason) {
	if e.recorder == nil {
		return
	}
	eventType := corev1.EventTypeNormal
	switch said.Code.Severity() {
	case contract.Silent:
		return
	case contract.Warning:
		eventType = corev1.EventTypeWarning
	case contract.Normal:
	}
	e.said.Add(1)
	e.recorder.Event(&corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: uid,
	}, eventType, string(said.Code), said.Message)
}
