package mover

import (
	"context"
	"fmt"
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

type profile = ratios.Profile

const (
	// mostTargets is on how many nodes a pod is planned, and mostCSINodes of how many it is found out what they can attach.
	mostTargets, mostCSINodes = 50, 10
)

// place returns the nodes that would take a pod with the size that it is created with, and have room for the size that it
// needs there; or else why there is none.
func (g *glance) place(ctx context.Context, c *candidate, live *corev1.Pod, claims map[string]*evict.Claim) (fits []string, why string, err error) {
	written := g.authored(live)
	created := written
	if g.Sizer != nil {
		if sized := g.Sizer.Size(written.DeepCopy(), live.Namespace, live.UID); sized.Pod != nil {
			created = sized.Pod
		}
	}
	if c.Reason == infeasible && created == written && safety.WhateverTheAmounts(c.message) != "" {
		return nil, "its node resizes no pod like it, and neither may the next one: it would be created with the same size", nil
	}
	coming, known := g.coming(c.UID)
	if !known {
		return nil, "it is not known yet where a pod goes that was evicted before", nil
	}
	if why := safety.NoRoomAfter(c.quotas, c.of, pod.BeingCreated(created, "", g.now)); why != "" {
		return nil, "it could not be created again: " + why, nil
	}
	scene := g.sceneNow()
	scene.Claims, scene.Coming, c.requests = claims, coming, evict.Requests(created)
	any := map[string]int{} // Until it is clear which nodes matter.
	for _, claim := range claims {
		if claim.Driver != "" {
			any[claim.Driver] = math.MaxInt
		}
	}
	for _, n := range scene.Nodes {
		n.Limits = any
	}
	fits, why = g.roomy(scene.Fits(live, c.requests))
	if len(any) > 0 && len(fits) > 0 {
		if err := g.limit(ctx, scene, fits); err != nil {
			return nil, "", err
		}
		fits, why = g.roomy(scene.Fits(live, c.requests))
	}
	var good []string
	for i, name := range fits {
		if i == mostTargets {
			break
		}
		if lack := g.lacksOn(written, name); lack == "" {
			good = append(good, name)
		} else {
			why = fmt.Sprintf("%s has room for it, but not for the size that it needs there: %s", name, lack)
		}
	}
	if len(good) > 0 {
		why = ""
	}
	return good, why, nil
}

// roomy returns those of the nodes that lack nothing for the pods that they have, and why there is none.
func (m *Mover) roomy(fits []string, why string) (left []string, whyNone string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range fits {
		if _, short := m.short[name]; short {
			why = name + " has room for it, but lacks room for what its own pods need"
		} else {
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		why = ""
	}
	return left, why
}

// limit finds out how many volumes some nodes can attach; for the others, that is not known.
func (g *glance) limit(ctx context.Context, scene *evict.Scene, some []string) error {
	asked := map[string]bool{}
	for _, name := range some[:min(len(some), mostCSINodes)] {
		asked[name] = true
	}
	for _, n := range scene.Nodes {
		n.Limits = nil
		if !asked[n.Name] {
			continue
		}
		csi, err := g.Client.StorageV1().CSINodes().Get(ctx, n.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read CSINode %s: %w", n.Name, err)
		}
		n.Limit(csi)
	}
	return nil
}

// authored returns a pod as its author wrote it, as far as that is known, and as if it was being created.
func (g *glance) authored(live *corev1.Pod) *corev1.Pod {
	of := pod.From(live)
	if g.Cluster.Keys != nil {
		of = pod.FromProven(live, g.Cluster.Keys())
	}
	written := live.DeepCopy()
	written.ResourceVersion, written.UID, written.ManagedFields, written.Spec.NodeName, written.Status = "", "", nil, "", corev1.PodStatus{}
	maps.DeleteFunc(written.Annotations, func(key, _ string) bool { return contract.Ours(key) })
	for _, list := range [...][]corev1.Container{written.Spec.Containers, written.Spec.InitContainers} {
		for i := range list {
			for k := range of.Containers {
				if c := &of.Containers[k]; c.Name() == list[i].Name {
					set(list[i].Resources.Requests, list[i].Resources.Limits, sizing.CPU, c.Original.CPU)
					set(list[i].Resources.Requests, list[i].Resources.Limits, sizing.Memory, c.Original.Memory)
				}
			}
		}
	}
	return written
}

// set replaces the amounts of a resource that are there by those that are known.
func set(requests, limits corev1.ResourceList, m *sizing.Measure, to sizing.Amount) {
	for _, each := range [...]struct {
		list corev1.ResourceList
		to   int64
	}{{requests, to.Request}, {limits, to.Limit}} {
		if _, has := each.list[corev1.ResourceName(m.Name)]; has && each.to > 0 {
			each.list[corev1.ResourceName(m.Name)] = resource.MustParse(m.Text(each.to))
		}
	}
}

// lacksOn returns what a node has too little of for the size that a pod needs there; empty if it has enough.
func (g *glance) lacksOn(written *corev1.Pod, node string) string {
	there := pod.BeingCreated(written, node, g.now)
	p := g.Planner.Plan(g.Cluster.Snapshot(there, g.Rules))
	if lack, lacks := p.Lacks(there); lacks {
		return lack.Message
	}
	return ""
}
