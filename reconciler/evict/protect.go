package evict

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of autoscalers, with which authors protect their pods.
const (
	// SafeToEvict is of cluster-autoscaler: "false" protects a pod, and "true" says that what is on its node may be lost.
	SafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	// DoNotDisrupt is of Karpenter: "true" protects a pod.
	DoNotDisrupt = "karpenter.sh/do-not-disrupt"
)

// systemCritical is the lowest priority of pods that the cluster needs. Source: scheduling.SystemCriticalPriority of
// Kubernetes.
const systemCritical = 2_000_000_000

// Protected returns why a pod must stay where it is, whatever its node lacks; empty if it may move. claims says what is
// known of its PersistentVolumeClaims, by their names.
func Protected(p *corev1.Pod, claims map[string]*Claim) string {
	kind := ""
	if owner := metav1.GetControllerOf(p); owner != nil {
		kind = owner.Kind
	}
	why := ProtectedBy(kind)
	switch {
	case p.DeletionTimestamp != nil:
		return "it is being deleted"
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		return "it has finished"
	case p.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return "it is a static pod"
	case why != "":
		return why
	case p.Spec.RestartPolicy != corev1.RestartPolicyAlways && p.Spec.RestartPolicy != "":
		return "it runs to its end, and would start over"
	case p.Annotations[SafeToEvict] == "false":
		return "its annotation " + SafeToEvict + " is false"
	case p.Annotations[DoNotDisrupt] == "true":
		return "its annotation " + DoNotDisrupt + " is true"
	case p.Spec.Priority != nil && *p.Spec.Priority >= systemCritical:
		return "the cluster needs it: its priority is critical"
	}
	return localStorage(p, claims)
}

// ProtectedBy returns why a pod with a controller of this kind must stay where it is; empty if it may move. Without a controller, the
// kind is empty.
func ProtectedBy(kind string) string {
	switch kind {
	case "":
		return "it has no controller that would create it again"
	case "DaemonSet":
		return "a DaemonSet's pod would return to the same node"
	case "Job":
		return "its Job would start over"
	}
	return ""
}

// localStorage returns which data of a pod would be lost, or would not follow it; empty if there is none.
func localStorage(p *corev1.Pod, claims map[string]*Claim) string {
	expendable := p.Annotations[SafeToEvict] == "true"
	for i := range p.Spec.Volumes {
		switch v := &p.Spec.Volumes[i]; {
		case v.HostPath != nil:
			return fmt.Sprintf("its volume %s is on its node (hostPath)", v.Name)
		case v.EmptyDir != nil && !expendable:
			return fmt.Sprintf("its volume %s would be lost (emptyDir), and its annotation %s is not true", v.Name, SafeToEvict)
		case (v.Ephemeral != nil || v.CSI != nil) && !expendable:
			return fmt.Sprintf("its ephemeral volume %s would be lost, and its annotation %s is not true", v.Name, SafeToEvict)
		case v.PersistentVolumeClaim != nil:
			switch claim := claims[v.PersistentVolumeClaim.ClaimName]; {
			case claim == nil || !claim.Bound:
				return fmt.Sprintf("it is not known where its volume %s can be used", v.Name)
			case claim.Local:
				return fmt.Sprintf("its volume %s is on its node (a local PersistentVolume)", v.Name)
			}
		}
	}
	return ""
}
