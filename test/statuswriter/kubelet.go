package statuswriter

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// generationsSince is the first version of API servers and kubelets that have
// observedGeneration in statuses and conditions.
var generationsSince = version.MajorMinor(1, 34)

// kubelet holds the differences between kubelets.
type kubelet struct {
	// generations reports whether the kubelet writes the generations that it observed.
	generations bool
	// behind is how far the kubelet's clock is behind.
	behind time.Duration
}

// kubeletOf returns the kubelet of a node. Its version is the one in the node's status, or the
// API server's if the node has none.
func (w *Writer) kubeletOf(ctx context.Context, node string) (kubelet, error) {
	k := kubelet{generations: w.generations, behind: w.options.Behind[node]}
	if !w.generations {
		return k, nil
	}
	found, err := w.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return k, nil
	}
	if err != nil {
		return k, fmt.Errorf("get the version of the node's kubelet: %w", err)
	}
	if v, err := version.ParseSemantic(found.Status.NodeInfo.KubeletVersion); err == nil {
		k.generations = v.AtLeast(generationsSince)
	}
	return k, nil
}

// now returns the time of the kubelet's clock, with the precision of conditions.
func (k kubelet) now() metav1.Time { return metav1.NewTime(time.Now().Add(-k.behind)).Rfc3339Copy() }

// observed returns the observed generation that the kubelet writes.
func (k kubelet) observed(generation int64) int64 {
	if !k.generations {
		return 0
	}
	return generation
}

// condition returns a resize condition with the status True.
func (k kubelet) condition(kind corev1.PodConditionType, reason, message string, generation int64) corev1.PodCondition {
	return corev1.PodCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		ObservedGeneration: k.observed(generation), LastProbeTime: k.now(),
	}
}
