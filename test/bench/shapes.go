package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

const (
	// quietTypes is the number of node types of the quiet pods, and quietNodes is the
	// number of nodes of each type: 110 pods per node at the largest number of pods.
	quietTypes = 20
	quietNodes = 68
	// quietShapes is the number of combinations of requests and limits of the quiet pods.
	// The pods of a workload share one, but few workloads do. Each belongs to one node
	// type.
	quietShapes = 500
	// changed is the index of the node type whose ratio changes.
	changed = 7
)

const unchangedPerf, changedPerf = 1.14, 1.3

// quietRatios returns the ratios with the given performance for the type that changes.
func quietRatios(perf float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sbaselineNodeType: %s\nnodeTypes:\n", allAtOnce, quietType(0))
	for i := range quietTypes {
		cpu := 1 + float64(i)/50
		if i == changed {
			cpu = perf
		}
		fmt.Fprintf(&b, "  %s: {cpuPerf: %g, memPerf: 1}\n", quietType(i), cpu)
	}
	return b.String()
}

func quietType(i int) string { return fmt.Sprintf("t%02d", i%quietTypes) }

// ofType returns the number of quiet pods, including templates, on nodes of a type.
// Workloads use the types in turn.
func ofType(nodeType, pods int) int {
	workloads := pods / perWorkload
	return (workloads+quietTypes-1-nodeType)/quietTypes*perWorkload + quietShapes/quietTypes
}

// prepareQuiet creates the nodes of the quiet pods, and the ratios of their types.
func (b *bench) prepareQuiet(ctx context.Context) error {
	for i := range quietTypes {
		if err := b.cluster.nodes(ctx, quietType(i), quietNodes); err != nil {
			return err
		}
	}
	if err := b.cluster.empty(ctx, filled); err != nil {
		return err
	}
	return b.cluster.configure(ctx, quietRatios(unchangedPerf))
}

// fillQuiet creates or removes quiet pods to reach that number, with workload pods per
// workload.
func (b *bench) fillQuiet(ctx context.Context, pods, workload int) error {
	return b.cluster.fill(ctx, quiet, pods, quietNodes, workload, b.quietNames...)
}

// quietTemplates lets the server size one pod of each shape, so that the copies have
// everything that it writes.
func (b *bench) quietTemplates(ctx context.Context) error {
	b.say("growth: sizing the templates, %d shapes", quietShapes)
	names := make([]string, quietShapes)
	err := b.eachShape(ctx, func(ctx context.Context, i int) error {
		names[i] = fmt.Sprintf("quiet-%03d", i)
		pod, err := typicalPod(names[i], quietType(i)+"-0")
		if err != nil {
			return err
		}
		reshape(pod, i)
		if pod, err = b.cluster.create(ctx, pod, false); err != nil {
			return err
		}
		return b.cluster.start(ctx, pod)
	})
	if err != nil {
		return err
	}
	s, err := b.cluster.serve(ctx, unlimited...)
	if err != nil {
		return err
	}
	defer b.stop(s)
	if err := s.until(ctx, 100*time.Millisecond, "size the templates", func(m metrics) bool {
		return m.sum("workload_resizer_api_writes_total", "step", "applied", "code", "200")+m.sum("workload_resizer_api_writes_total", "step", "record", "code", "200") == quietShapes
	}); err != nil {
		return err
	}
	if err := b.eachShape(ctx, func(ctx context.Context, i int) error {
		pod, err := b.cluster.client.CoreV1().Pods(templates).Get(ctx, names[i], metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read a template: %w", err)
		}
		if pod.Annotations[contract.AppliedInstanceType] != quietType(i) {
			return fmt.Errorf("template %s was not sized", names[i])
		}
		// Report the resize as actuated by the kubelet.
		return b.cluster.start(ctx, pod)
	}); err != nil {
		return err
	}
	b.quietNames = names
	pod, err := b.cluster.client.CoreV1().Pods(templates).Get(ctx, names[1], metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read a template: %w", err)
	}
	size, err := sizeOf(pod)
	b.report.tell("size of a pod as JSON", size/kib, "KiB")
	return err
}

func (b *bench) eachShape(ctx context.Context, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range quietShapes {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// reshape gives the pod a different size for each shape: one hundredth more of all
// requests and limits per shape, in whole millicores and mebibytes.
func reshape(pod *corev1.Pod, shape int) {
	more := func(n int64) int64 { return n * int64(100+shape) / 100 }
	for i := range pod.Spec.Containers {
		r := &pod.Spec.Containers[i].Resources
		for _, amounts := range []corev1.ResourceList{r.Requests, r.Limits} {
			amounts[corev1.ResourceCPU] = *resource.NewMilliQuantity(more(amounts.Cpu().MilliValue()), resource.DecimalSI)
			amounts[corev1.ResourceMemory] = *resource.NewQuantity(more(amounts.Memory().Value()/mib)*mib, resource.BinarySI)
		}
	}
}
