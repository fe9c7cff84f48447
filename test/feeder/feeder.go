package feeder

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Feeder knows the pods in a namespace. It is not safe for concurrent use.
type Feeder struct {
	Client    kubernetes.Interface
	Namespace string
	// NodeLabel is the key of the label that holds a node's type, and JobLabel that of the
	// label that names Jobs without an owner.
	NodeLabel, JobLabel string

	pods       []corev1.Pod
	identities map[string]usage.Identity
}

// Refresh reads the pods, their owners and their nodes. If it fails, what was known stays.
func (f *Feeder) Refresh(ctx context.Context) error {
	pods, err := f.Client.CoreV1().Pods(f.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	sets, err := f.Client.AppsV1().ReplicaSets(f.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list ReplicaSets: %w", err)
	}
	jobs, err := f.Client.BatchV1().Jobs(f.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list Jobs: %w", err)
	}
	nodes, err := f.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	controllers := map[types.UID]*metav1.ObjectMeta{}
	for i := range sets.Items {
		controllers[sets.Items[i].UID] = &sets.Items[i].ObjectMeta
	}
	for i := range jobs.Items {
		controllers[jobs.Items[i].UID] = &jobs.Items[i].ObjectMeta
	}
	nodeTypes := map[string]string{}
	for i := range nodes.Items {
		nodeTypes[nodes.Items[i].Name] = nodes.Items[i].Labels[f.NodeLabel]
	}
	f.pods, f.identities = pods.Items, map[string]usage.Identity{}
	for i := range f.pods {
		p := &f.pods[i]
		var owners []usage.Owner
		for of := &p.ObjectMeta; of != nil; {
			reference := metav1.GetControllerOf(of)
			if reference == nil {
				break
			}
			owners, of = append(owners, usage.Owner{Kind: reference.Kind, Name: reference.Name}), controllers[reference.UID]
		}
		workload, ok := usage.WorkloadOf(p.Namespace, owners, p.Labels[f.JobLabel])
		if !ok || p.Spec.NodeName == "" {
			continue
		}
		f.identities[p.Name] = usage.Identity{
			Workload: workload, Pod: history.Pod{UID: string(p.UID), NodeType: nodeTypes[p.Spec.NodeName]},
			Created: p.CreationTimestamp.Time,
		}
	}
	return nil
}

// Lookup is the function that a store needs.
func (f *Feeder) Lookup(namespace, name, uid string) (usage.Identity, bool) {
	identity, known := f.identities[name]
	return identity, known && namespace == f.Namespace && (uid == "" || uid == identity.UID)
}

// Kill passes the kills that the pods show to a store.
func (f *Feeder) Kill(store *usage.Store, now time.Time) error {
	var failed error
	for i := range f.pods {
		if _, known := f.identities[f.pods[i].Name]; !known {
			continue
		}
		for _, k := range pod.Kills(&f.pods[i]) {
			kill := history.Kill{Pod: history.Pod{UID: string(f.pods[i].UID)}, At: k.At, Limit: k.Limit, Request: k.Request, Usage: k.Used}
			if err := store.Kill(f.Namespace, f.pods[i].Name, k.Container, kill, now); err != nil {
				failed = errors.Join(failed, fmt.Errorf("count the kill of %s in pod %s: %w", k.Container, f.pods[i].Name, err))
			}
		}
	}
	return failed
}

// Everywhere returns one set of ratios for all containers.
func Everywhere(name string, speeds recommend.Speeds) func(history.Container) []usage.Ratios {
	return func(history.Container) []usage.Ratios { return []usage.Ratios{{Name: name, Speeds: speeds}} }
}
