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

// Events records events on the affected objects. Sending events never blocks the caller:
// events that cannot be sent in time are dropped.
type Events struct {
	recorder    record.EventRecorder
	broadcaster record.EventBroadcaster
	sink        *countingSink
	// said counts the events passed to the recorder.
	said atomic.Int64
}

// NewEvents returns Events that are sent through client until Shutdown. The client should
// have its own rate limit.
func NewEvents(client kubernetes.Interface) *Events {
	e := &Events{
		broadcaster: record.NewBroadcaster(),
		sink:        &countingSink{EventSink: &typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")}},
	}
	e.broadcaster.StartRecordingToSink(e.sink)
	e.recorder = e.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: contract.AppName})
	return e
}

// NoEvents returns Events that record nothing: a dry run writes no events either.
func NoEvents() *Events { return &Events{} }

// lastWords is how long Shutdown waits for events to be sent.
const lastWords = 5 * time.Second

// Shutdown sends the remaining events for at most lastWords, and stops. Events about
// the last changes to pods are not reported at any other time.
func (e *Events) Shutdown() {
	if e.recorder == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	// A timeout is not an error: the remaining events are dropped.
	_ = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		return e.sink.sent.Load() >= e.said.Load(), nil
	})
	e.broadcaster.Shutdown()
}

// countingSink counts the events that are complete: created, updated, or refused by the
// API server. Other failures are retried, and an event that no longer exists when it is
// updated is created again.
type countingSink struct {
	record.EventSink
	sent atomic.Int64
}

// Create implements record.EventSink. The name of an event about a state, as opposed to a
// write, is derived from its content, so that a process that restarts does not repeat an
// existing event.
func (s *countingSink) Create(event *corev1.Event) (*corev1.Event, error) {
	// Events on nodes are about writes.
	if !isDeed(contract.Reason(event.Reason)) && event.InvolvedObject.Kind != nodeKind {
		event.Name = nameOfState(event)
	}
	created, err := s.EventSink.Create(event)
	if apierrors.IsAlreadyExists(err) {
		created, err = event, nil
	}
	s.count(err)
	return created, err
}

// nodeKind is the kind of nodes.
const nodeKind = "Node"

// isDeed reports whether a reason means that something was written.
func isDeed(reason contract.Reason) bool {
	switch reason {
	case contract.Resized, contract.Restored, contract.AlreadyAligned, contract.BoundsClamped, contract.Evicted:
		return true
	}
	return false
}

// maxEventName is the maximum length of the name of an object.
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

// ConfigRejected records an event on the ConfigMap that its content was rejected.
func (e *Events) ConfigRejected(cm *corev1.ConfigMap, err error) {
	e.config(cm, contract.InvalidConfig, "Rejected; the last good configuration stays in effect: "+err.Error())
}

// ConfigUnusedTypes records an event on the ConfigMap that node types are not used.
func (e *Events) ConfigUnusedTypes(cm *corev1.ConfigMap, err error) {
	e.config(cm, contract.ImplausibleRatio, "Applied, except for these node types: "+strings.ReplaceAll(err.Error(), "\n", "; "))
}

func (e *Events) config(cm *corev1.ConfigMap, reason contract.Reason, message string) {
	if e.recorder == nil {
		return
	}
	e.said.Add(1)
	e.recorder.Event(cm, corev1.EventTypeWarning, string(reason), message)
}

// Pod records an event on a pod, with the type that its reason's severity requires. Silent
// reasons make no event.
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

// Node records an event on a node, about its taint.
func (e *Events) Node(of *corev1.Node, reason, message string) {
	if e.recorder == nil {
		return
	}
	eventType := corev1.EventTypeNormal
	if reason == contract.NodeOverloaded {
		eventType = corev1.EventTypeWarning
	}
	e.said.Add(1)
	e.recorder.Event(&corev1.ObjectReference{APIVersion: "v1", Kind: nodeKind, Name: of.Name, UID: of.UID}, eventType, reason, message)
}
