package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// nodeTypeLabel is the label with the type of a node.
const nodeTypeLabel = "cloud.google.com/machine-family"

// tracker watches pods and prints a line for every resize of a container, once the kubelet
// reports it: only then is it actuated.
type tracker struct {
	table *table
	// nodeType returns the type of a node.
	nodeType func(node string) string

	mu   sync.Mutex
	pods map[types.UID]*tracked
}

// tracked is the last state of a pod.
type tracked struct {
	namespace string
	// shown are the sizes of each container that were last shown, or first seen.
	shown map[string]sizes
	// running, recorded and actuated report whether the pod runs, whether the server has
	// annotated it, and whether the kubelet reports all sizes of its spec.
	running, recorded, actuated bool
}

func newTracker(out io.Writer, nodeType func(string) string) *tracker {
	return &tracker{table: &table{out: out}, nodeType: nodeType, pods: map[types.UID]*tracked{}}
}

// startTracker watches the pods in all namespaces until ctx is done.
func startTracker(ctx context.Context, client kubernetes.Interface, out io.Writer) (*tracker, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes().Lister()
	nodesSynced := factory.Core().V1().Nodes().Informer().HasSynced
	t := newTracker(out, func(name string) string {
		node, err := nodes.Get(name)
		if err != nil {
			return "" // Deleted in the meantime.
		}
		return node.Labels[nodeTypeLabel]
	})
	// Read nodes before the pods on them.
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), nodesSynced) {
		return nil, fmt.Errorf("read the nodes: %w", context.Cause(ctx))
	}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { t.observe(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { t.observe(obj.(*corev1.Pod)) },
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				t.forget(pod)
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	factory.StartWithContext(ctx)
	return t, nil
}

// observe records a pod's state, and prints changed sizes.
func (t *tracker) observe(pod *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	state := t.pods[pod.UID]
	if state == nil {
		state = &tracked{namespace: pod.Namespace, shown: map[string]sizes{}}
		t.pods[pod.UID] = state
	}
	state.actuated = true
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		now := sizesOf(container.Resources)
		if actual(pod, container.Name) != now {
			state.actuated = false
			continue
		}
		original := originalSizes(pod, container)
		last, seen := state.shown[container.Name]
		if !seen {
			last = original
		}
		state.shown[container.Name] = now
		if now != last {
			t.table.row(t.row(pod, container.Name, original, now))
		}
	}
	// Last, so that the lines are printed before these are visible.
	state.running = pod.Status.Phase == corev1.PodRunning
	_, state.recorded = pod.Annotations[contract.AppliedInstanceType]
}

func (t *tracker) forget(pod *corev1.Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pods, pod.UID)
}

// print prints text after the lines so far.
func (t *tracker) print(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.table.text(text)
}

func (t *tracker) row(pod *corev1.Pod, container string, original, now sizes) row {
	r := row{
		pod: pod.Name, node: pod.Spec.NodeName, nodeType: t.nodeType(pod.Spec.NodeName), container: container,
		cpu: arrow(original.cpu, now.cpu), memory: arrow(original.memory, now.memory),
	}
	if pod.Namespace != deploy.SampleNamespace {
		r.pod = pod.Namespace + "/" + pod.Name
	}
	if original == now {
		r.cpu = "back to " + r.cpu
	}
	return r
}

// samples returns the states of the sample workloads' pods, by UID.
func (t *tracker) samples() map[string]tracked {
	t.mu.Lock()
	defer t.mu.Unlock()
	samples := map[string]tracked{}
	for uid, state := range t.pods {
		if state.namespace == deploy.SampleNamespace {
			samples[string(uid)] = *state
		}
	}
	return samples
}
