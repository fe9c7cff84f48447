package mover

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// errGone means that a pod is gone, or is a different one.
var errGone = errors.New("it is gone")

// judge returns the pod as the API server has it now, why it must not move, empty if it may, and where it could go. An error
// means that this is not known.
func (g *glance) judge(ctx context.Context, c *candidate) (live *corev1.Pod, why string, fits []string, err error) {
	g.judged++
	live, err = g.Client.CoreV1().Pods(c.Namespace).Get(ctx, c.Pod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || err == nil && live.UID != c.UID:
		return nil, "", nil, errGone
	case err != nil:
		return nil, "", nil, fmt.Errorf("read the pod: %w", err)
	}
	text, has := live.Annotations[contract.EvictionRank]
	if why = neverByRank(text, has, c.settings); why != "" {
		return live, why, nil, nil
	}
	if live.Spec.NodeName != c.Node {
		return live, "it is on another node", nil, nil
	}
	if why = evict.Unjudged(live); why != "" { // Each claim is a request to the API server.
		return live, why, nil, nil
	}
	claims, err := g.claims(ctx, live)
	if err != nil {
		return live, "", nil, err
	}
	if why = evict.Protected(live, claims); why != "" {
		return live, why, nil, nil
	}
	if last, err := g.isLast(ctx, live, c.of); err != nil || last {
		return live, "no other pod of its workload is ready", nil, err
	}
	waits := c.Pods - c.Ready + g.count(c.Namespace, c.Workload).going
	if c.of.Controller().Kind == "StatefulSet" && (waits > 1 || waits == 1 && isReady(live)) {
		return live, "another pod of its StatefulSet is not ready, without which it may not be created again", nil, nil
	}
	fits, why, err = g.place(ctx, c, live, claims)
	return live, why, fits, err
}

// claims returns what is known of the claims of a pod, by their names.
func (g *glance) claims(ctx context.Context, live *corev1.Pod) (map[string]*evict.Claim, error) {
	claims := map[string]*evict.Claim{}
	for _, name := range pod.NearbyOf(live).Claims {
		claim, err := g.Client.CoreV1().PersistentVolumeClaims(live.Namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read its claim %s: %w", name, err)
		}
		var volume *corev1.PersistentVolume
		if claim.Spec.VolumeName != "" {
			volume, err = g.Client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				volume, err = nil, nil
			}
			if err != nil {
				return nil, fmt.Errorf("read its volume %s: %w", claim.Spec.VolumeName, err)
			}
		}
		claims[name] = evict.NewClaim(claim, volume)
	}
	return claims, nil
}

// isLast reports whether a pod is the last one of its workload that is ready, as the API server says now.
func (g *glance) isLast(ctx context.Context, live *corev1.Pod, of *pod.Pod) (bool, error) {
	if !isReady(live) {
		return false, nil
	}
	group, asked := workload.GroupOf(of), 0
	for _, other := range g.Cluster.Pods(live.Namespace).List() {
		if ready, _ := other.Ready(); !ready || !other.Lives() || other.UID == live.UID || !group.Has(other) {
			continue
		}
		now, err := g.Client.CoreV1().Pods(live.Namespace).Get(ctx, other.Name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("read another pod of its workload: %w", err)
		}
		if err == nil && now.UID == other.UID && now.DeletionTimestamp == nil && isReady(now) {
			return false, nil
		}
		if asked++; asked >= mostSiblings {
			break // The cache is far behind.
		}
	}
	return true, nil
}

// mostSiblings is how many other pods are asked whether they are ready.
const mostSiblings = 3

func isReady(p *corev1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
