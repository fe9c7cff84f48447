package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

const (
	// quietTypes is how many node types the quiet pods are spread over, and
	// quietNodes how many nodes there are of each: the most pods make 110 a node.
	quietTypes = 20
	quietNodes = 68
	// changed is the type whose ratio changes.
	changed = 7
)

// growth measures what quiet pods cost, the more of them there are: memory, the
// start, and a ratio that changes.
func growth(ctx context.Context, b *bench) error {
	b.say("growth: quiet pods on %d nodes of %d types", quietTypes*quietNodes, quietTypes)
	names, err := b.quietTemplates(ctx)
	if err != nil {
		return err
	}
	none, err := b.quietCost(ctx, 0)
	if err != nil {
		return err
	}
	costs := map[int]*cost{}
	for _, pods := range b.sizes {
		if err := b.cluster.fill(ctx, pods, quietNodes, perWorkload, names...); err != nil {
			return err
		}
		b.say("growth: %d pods", pods)
		c, err := b.quietCost(ctx, pods)
		if err != nil {
			return err
		}
		b.tellCost(pods, c, none)
		if err := b.startRequests(ctx, pods); err != nil {
			return err
		}
		if c.change, err = b.changeCost(ctx, pods); err != nil {
			return err
		}
		costs[pods] = c
	}
	b.compareGrowth(costs)
	return b.lonePods(ctx, none, names)
}

// quietRatios have one node type that is another one than at first.
func quietRatios(perf float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "baselineNodeType: %s\nnodeTypes:\n", quietType(0))
	for i := range quietTypes {
		cpu := 1 + float64(i)/50
		if i == changed {
			cpu = perf
		}
		fmt.Fprintf(&b, "  %s: {cpuPerf: %g, memPerf: 1}\n", quietType(i), cpu)
	}
	return b.String()
}

const unchangedPerf, changedPerf = 1.14, 1.3

func quietType(i int) string { return fmt.Sprintf("t%02d", i) }

// quietTemplates has the server itself size a pod of each node type, so that the
// copies have all that it writes.
func (b *bench) quietTemplates(ctx context.Context) ([]string, error) {
	if err := b.cluster.fill(ctx, 0, 0, 0); err != nil {
		return nil, err
	}
	var names []string
	for i := range quietTypes {
		if err := b.cluster.nodes(ctx, quietType(i), quietNodes); err != nil {
			return nil, err
		}
		name := "quiet-" + quietType(i)
		pod, err := b.cluster.template(ctx, name, quietType(i)+"-0", false)
		if err != nil {
			return nil, err
		}
		if err := b.cluster.start(ctx, pod); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if err := b.cluster.configure(ctx, quietRatios(unchangedPerf)); err != nil {
		return nil, err
	}
	s, err := b.cluster.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer b.stop(s)
	if err := s.until(ctx, 100*time.Millisecond, "size the templates", func(m metrics) bool {
		return m.sum("workload_resizer_api_writes_total", "step", "applied", "code", "200")+m.sum("workload_resizer_api_writes_total", "step", "record", "code", "200") == quietTypes
	}); err != nil {
		return nil, err
	}
	for i, name := range names {
		pod, err := b.cluster.client.CoreV1().Pods(templates).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read a template: %w", err)
		}
		if pod.Annotations[contract.AppliedInstanceType] != quietType(i) {
			return nil, fmt.Errorf("template %s was not sized", name)
		}
		// The kubelet has carried it out.
		if err := b.cluster.start(ctx, pod); err != nil {
			return nil, err
		}
	}
	pod, err := b.cluster.client.CoreV1().Pods(templates).Get(ctx, names[1], metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read a template: %w", err)
	}
	size, err := sizeOf(pod)
	b.report.tell("size of a pod as JSON", size/1024, "KiB")
	return names, err
}
