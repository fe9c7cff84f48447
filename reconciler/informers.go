package reconciler

import (
	"fmt"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// These are the indexes of pods: by the name of their node, and by the end of the uid
// of their controller.
const (
	byNode       = "node"
	byController = "controller"
)

// newInformers returns informers of what plans are made from, that keep nothing
// else.
func newInformers(client kubernetes.Interface) (informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(newStock().trim))
	err := factory.Core().V1().Pods().Informer().AddIndexers(cache.Indexers{byController: indexController, byNode: func(obj any) ([]string, error) {
		node := ""
		switch pod := obj.(type) {
		case *keptPod:
			node = pod.node.Value()
		case *corev1.Pod:
			node = pod.Spec.NodeName
		}
		if node == "" {
			return nil, nil
		}
		return []string{node}, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("index pods: %w", err)
	}
	return factory, nil
}

// trim drops what no plan is made from, and keeps once what pods share, so that a
// large cluster fits in little memory.
func (s *stock) trim(obj any) (any, error) {
	switch o := obj.(type) {
	case *corev1.Pod:
		return s.keep(trimPod(o))
	case *corev1.Node:
		return trimNode(o), nil
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return obj, nil
}

func trimMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              m.Name,
		Namespace:         m.Namespace,
		UID:               m.UID,
		ResourceVersion:   m.ResourceVersion,
		Generation:        m.Generation,
		DeletionTimestamp: m.DeletionTimestamp,
		Labels:            m.Labels,
		Annotations:       m.Annotations,
		OwnerReferences:   m.OwnerReferences,
	}
}

func trimNode(n *corev1.Node) *corev1.Node {
	trimmed := &corev1.Node{ObjectMeta: trimMeta(n.ObjectMeta)}
	trimmed.Annotations = nil
	info := &n.Status.NodeInfo
	trimmed.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: info.KubeletVersion, BootID: info.BootID}
	trimmed.Status.Allocatable = corev1.ResourceList{}
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if amount, ok := n.Status.Allocatable[name]; ok {
			trimmed.Status.Allocatable[name] = amount
		}
	}
	for i := range n.Status.Conditions {
		switch c := &n.Status.Conditions[i]; c.Type {
		case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, corev1.NodeCondition{Type: c.Type, Status: c.Status})
		}
	}
	return trimmed
}

// trimPod keeps what plans are made from. Who writes a pod in protobuf can put texts
// into it that are not UTF-8, which no message of the API can have.
func trimPod(p *corev1.Pod) *corev1.Pod {
	makeValid(p.Labels)
	makeValid(p.Annotations)
	for i := range p.OwnerReferences {
		o := &p.OwnerReferences[i]
		o.Kind, o.Name = strings.ToValidUTF8(o.Kind, "\uFFFD"), strings.ToValidUTF8(o.Name, "\uFFFD")
	}
	meta := trimMeta(p.ObjectMeta)
	meta.ManagedFields = trimHistory(p)
	trimmed := &corev1.Pod{
		ObjectMeta: meta,
		Spec: corev1.PodSpec{
			NodeName:              p.Spec.NodeName,
			Containers:            trimContainers(p.Spec.Containers),
			InitContainers:        trimContainers(p.Spec.InitContainers),
			OS:                    p.Spec.OS,
			Overhead:              p.Spec.Overhead,
			Resources:             p.Spec.Resources,
			ResourceClaims:        p.Spec.ResourceClaims,
			PriorityClassName:     p.Spec.PriorityClassName,
			Priority:              p.Spec.Priority,
			ActiveDeadlineSeconds: p.Spec.ActiveDeadlineSeconds,
			Affinity:              p.Spec.Affinity,
		},
		Status: corev1.PodStatus{
			Phase:                 p.Status.Phase,
			QOSClass:              p.Status.QOSClass,
			ObservedGeneration:    p.Status.ObservedGeneration,
			ContainerStatuses:     trimStatuses(p.Status.ContainerStatuses),
			InitContainerStatuses: trimStatuses(p.Status.InitContainerStatuses),
			Resources:             p.Status.Resources,
			AllocatedResources:    p.Status.AllocatedResources,

			NodeAllocatableResourceClaimStatuses: p.Status.NodeAllocatableResourceClaimStatuses,
		},
	}
	if class, ok := p.Spec.NodeSelector[computeClass]; ok {
		trimmed.Spec.NodeSelector = map[string]string{computeClass: class}
	}
	for i := range p.Status.Conditions {
		switch c := &p.Status.Conditions[i]; c.Type {
		case corev1.PodResizePending, corev1.PodResizeInProgress:
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, *c)
			last := &trimmed.Status.Conditions[len(trimmed.Status.Conditions)-1]
			last.Message = bounded(last.Message)
		}
	}
	return trimmed
}

func trimContainers(containers []corev1.Container) []corev1.Container {
	if len(containers) == 0 {
		return nil
	}
	trimmed := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		trimmed[i] = corev1.Container{Name: c.Name, Resources: c.Resources, ResizePolicy: c.ResizePolicy, RestartPolicy: c.RestartPolicy}
	}
	return trimmed
}

func trimStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(statuses) == 0 {
		return nil
	}
	trimmed := make([]corev1.ContainerStatus, len(statuses))
	for i := range statuses {
		s := &statuses[i]
		trimmed[i] = corev1.ContainerStatus{Name: s.Name, Resources: s.Resources, AllocatedResources: s.AllocatedResources}
		if s.State.Running != nil {
			trimmed[i].State.Running = &isRunning
		}
	}
	return trimmed
}

// isRunning stands for every container that runs; since when does not matter.
var isRunning corev1.ContainerStateRunning

// makeValid replaces what is no UTF-8 in values; keys are checked by the API server.
func makeValid(texts map[string]string) {
	for key, text := range texts {
		if !utf8.ValidString(text) {
			texts[key] = strings.ToValidUTF8(text, "\uFFFD")
		}
	}
}

// mostMessage is how much is kept of what a kubelet says, which people and events repeat.
const mostMessage = 1024

func bounded(message string) string {
	if len(message) > mostMessage {
		message = message[:mostMessage] + "…"
	}
	return strings.ToValidUTF8(message, "\uFFFD")
}
