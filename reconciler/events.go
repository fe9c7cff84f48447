package reconciler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Events tells people, by events on the objects concerned. Sending them never
// holds anything up: what cannot be sent in time is dropped.
type Events struct {
	recorder record.EventRecorder
	shutdown func()
}

// NewEvents returns events that are sent through client, which should have a
// budget of its own.
func NewEvents(ctx context.Context, client kubernetes.Interface) *Events {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return &Events{
		recorder: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: contract.AppName}),
		shutdown: broadcaster.Shutdown,
	}
}

// NoEvents tells nobody; a dry run writes nothing, events included.
func NoEvents() *Events { return &Events{shutdown: func() {}} }

// Shutdown stops sending.
func (e *Events) Shutdown() { e.shutdown() }

// ConfigRejected says on the ConfigMap that its content was rejected.
func (e *Events) ConfigRejected(cm *corev1.ConfigMap, err error) {
	if e.recorder == nil {
		return
	}
	e.recorder.Eventf(cm, corev1.EventTypeWarning, string(contract.InvalidConfig), "Rejected, the last good configuration stays in force: %v", err)
}

// pod says something on a pod, as loud as its reason is.
func (e *Events) pod(pod types.NamespacedName, uid types.UID, said Reason) {
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
	e.recorder.Event(&corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: uid,
	}, eventType, string(said.Code), said.Message)
}
