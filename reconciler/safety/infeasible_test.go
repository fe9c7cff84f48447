package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// What kubelets say, to the letter.
const (
	staticCPU       = `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`
	staticMemory    = `Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"`
	staticCPU133    = "Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy"
	staticMemory133 = "Resize is infeasible for Guaranteed Pods alongside Memory Manager static policy"
	swapping        = "In-place resize of containers with swap is not supported."
)

func TestInfeasible(t *testing.T) {
	t.Run("what a node cannot do is vetoed for the pods that need it", whatANodeCannotDoIsVetoedForThePodsThatNeedIt)
}

func whatANodeCannotDoIsVetoedForThePodsThatNeedIt(t *testing.T) {
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
		{"cpu under the static CPU manager", staticCPU, guaranteed, full, cpu, true},
		{"not memory", staticCPU, guaranteed, full, memory, false},
		{"not cpu of a Burstable pod", staticCPU, burstable, full, cpu, false},
		{"memory under the static memory manager", staticMemory, guaranteed, full, memory, true},
		{"not cpu under it", staticMemory, guaranteed, full, cpu, false},
		{"cpu under a CPU manager of 1.33", staticCPU133, guaranteed, full, cpu, true},
		{"memory under it as well", staticCPU133, guaranteed, full, memory, true},
		{"but of Guaranteed pods alone", staticCPU133, burstable, full, memory, false},
		{"anything under a memory manager of 1.33", staticMemory133, guaranteed, full, cpu, true},
		{"a memory request of a container that may swap", swapping, burstable, loose, less, true},
		{"not its limit", swapping, burstable, loose, limit, false},
		{"not of a container that may not swap", swapping, burstable, full, memory, false},
		{"not its cpu", swapping, burstable, loose, with(func(c *sizing.Container) { c.CPU.Request, c.Memory.Limit = 500, 1<<31 }), false},
		{"nothing for what is about the amounts", "Node didn't have enough capacity: cpu, requested: 9000, capacity: 8000", guaranteed, full, cpu, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if known := WhateverTheAmounts("kubelet: "+tc.said) == tc.said; known != (tc.name != "nothing for what is about the amounts") {
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
