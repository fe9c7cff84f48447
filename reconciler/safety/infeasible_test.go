package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Verbatim messages of kubelets.
const (
	staticCPU       = `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`
	staticMemory    = `Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"`
	staticCPU133    = "Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy"
	staticMemory133 = "Resize is infeasible for Guaranteed Pods alongside Memory Manager static policy"
	swapping        = "In-place resize of containers with swap is not supported."
)

func TestInfeasible(t *testing.T) {
	t.Run("vetoes what a node cannot do, for the pods that need it", vetoesWhatANodeCannotDoForThePodsThatNeedIt)
}

func vetoesWhatANodeCannotDoForThePodsThatNeedIt(t *testing.T) {
	const guaranteed, burstable = corev1.PodQOSGuaranteed, corev1.PodQOSBurstable
	full := sizing.Container{CPU: sizing.Amount{Request: 1000, Limit: 1000}, Memory: sizing.Amount{Request: 1 << 30, Limit: 1 << 30}}
	with := func(change func(*sizing.Container)) sizing.Container {
		c := full
		change(&c)
		return c
	}
	cpu := with(func(c *sizing.Container) { c.CPU = sizing.Amount{Request: 800, Limit: 800} })
	memory := with(func(c *sizing.Container) { c.Memory = sizing.Amount{Request: 1 << 29, Limit: 1 << 29} })
	loose := with(func(c *sizing.Container) { c.Memory.Limit = 1 << 31 })
	limit := with(func(c *sizing.Container) { c.Memory.Limit = 1 << 32 })
	less := with(func(c *sizing.Container) { c.Memory.Request, c.Memory.Limit = 1<<29, 1<<31 })
	for _, tc := range []struct {
		name, said    string
		class         corev1.PodQOSClass
		before, after sizing.Container
		want          bool
	}{
		{"vetoes cpu under the static CPU manager", staticCPU, guaranteed, full, cpu, true},
		{"allows memory under the static CPU manager", staticCPU, guaranteed, full, memory, false},
		{"allows cpu of a Burstable pod", staticCPU, burstable, full, cpu, false},
		{"vetoes memory under the static memory manager", staticMemory, guaranteed, full, memory, true},
		{"allows cpu under the static memory manager", staticMemory, guaranteed, full, cpu, false},
		{"vetoes cpu under the static CPU manager of 1.33", staticCPU133, guaranteed, full, cpu, true},
		{"vetoes memory under the static CPU manager of 1.33", staticCPU133, guaranteed, full, memory, true},
		{"allows Burstable pods under the static CPU manager of 1.33", staticCPU133, burstable, full, memory, false},
		{"vetoes cpu under the static memory manager of 1.33", staticMemory133, guaranteed, full, cpu, true},
		{"vetoes the memory request of a container that may swap", swapping, burstable, loose, less, true},
		{"allows the memory limit of a container that may swap", swapping, burstable, loose, limit, false},
		{"allows memory of a container that may not swap", swapping, burstable, full, memory, false},
		{"allows cpu of a container that may swap", swapping, burstable, loose, with(func(c *sizing.Container) { c.CPU.Request, c.Memory.Limit = 500, 1<<31 }), false},
		{"allows everything for a message about amounts", "Node didn't have enough capacity: cpu, requested: 9000, capacity: 8000", guaranteed, full, cpu, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if known := WhateverTheAmounts("kubelet: "+tc.said) == tc.said; known != (tc.name != "allows everything for a message about amounts") {
				t.Errorf("known: %v", known)
			}
			p := pod.From(&corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}})
			for i, sizes := range [][2]Sizes{{{tc.before, {}}, {tc.after, {}}}, {{{}, tc.before}, {{}, tc.after}}} {
				c := &change{pod: p, class: tc.class, before: sizes[0], after: sizes[1], Surroundings: &Surroundings{Infeasible: []string{"Node didn't have enough capacity", tc.said}}}
				if got := c.infeasible(); (got != "") != tc.want {
					t.Errorf("container %d: %q, want a veto: %v", i, got, tc.want)
				}
			}
		})
	}
}
