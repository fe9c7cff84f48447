package pages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// needs is what the containers of a workload need, and the usage that it follows from.
type needs struct {
	*workloadresizerv1.GetRecommendationResponse
	// used is what was measured of each container that has a recommendation. Where nothing was, it is empty.
	used map[containerName]part[*workloadresizerv1.GetUsageHistoryResponse]
}

// containerName is the name of a container of a workload in a namespace.
type containerName struct{ kind, workload, container string }

func nameOf(r *workloadresizerv1.Recommendation) containerName {
	return containerName{r.GetWorkload().GetKind(), r.GetWorkload().GetName(), r.GetContainer()}
}

// historiesAtATime is how many histories of containers a page reads at the same time.
const historiesAtATime = 4

func readNeeds(ctx context.Context, c *client.Client, namespace string, of *workloadresizerv1.Workload) (needs, error) {
	resp, err := c.GetRecommendation(ctx, namespace, of)
	if err != nil {
		return needs{}, err
	}
	all := needs{resp, map[containerName]part[*workloadresizerv1.GetUsageHistoryResponse]{}}
	var group errgroup.Group
	group.SetLimit(historiesAtATime)
	var mu sync.Mutex
	for _, e := range resp.GetContainers() { // One entry for each rule that matches some of the pods.
		name := nameOf(e.GetRecommendation())
		mu.Lock()
		_, known := all.used[name]
		all.used[name] = part[*workloadresizerv1.GetUsageHistoryResponse]{}
		mu.Unlock()
		if known {
			continue
		}
		group.Go(func() error {
			used, err := c.GetUsageHistory(ctx, namespace, e.GetRecommendation().GetWorkload(), name.container)
			if client.Reason(err) == "USAGE_UNKNOWN" {
				return nil
			}
			read, err := partOf(used, err)
			mu.Lock()
			all.used[name] = read
			mu.Unlock()
			return err
		})
	}
	return all, group.Wait()
}

// distributionsOf returns charts of what containers used: which share of the samples is at most so much, on nodes of each type.
func distributionsOf(used *workloadresizerv1.GetUsageHistoryResponse) (all []chart) {
	for _, r := range []struct {
		title, unit string
		in          float64
		of          func(*workloadresizerv1.NodeTypeHistory) []*workloadresizerv1.UsageBucket
	}{
		{"CPU", "cores", 1, (*workloadresizerv1.NodeTypeHistory).GetCpu},
		{"Memory", "GiB", 1 << 30, (*workloadresizerv1.NodeTypeHistory).GetMemory},
	} {
		data := &chartData{Along: r.unit, Unit: "%"}
		for _, on := range used.GetNodeTypes() {
			for _, b := range r.of(on) {
				data.At = append(data.At, b.GetFrom()/r.in, b.GetTo()/r.in)
			}
		}
		if len(data.At) == 0 {
			continue
		}
		slices.Sort(data.At)
		data.At = slices.Compact(data.At)
		var says []string
		for _, on := range used.GetNodeTypes() {
			if len(r.of(on)) == 0 {
				continue
			}
			line := chartLine{Name: print.OrAbsent(print.OneLine(on.GetNodeType()))}
			rest, share := slices.SortedFunc(slices.Values(r.of(on)), func(a, b *workloadresizerv1.UsageBucket) int { return cmp.Compare(a.GetTo(), b.GetTo()) }), 0.0
			for _, at := range data.At {
				for ; len(rest) > 0 && rest[0].GetTo()/r.in <= at; rest = rest[1:] {
					share += 100 * rest[0].GetShare()
				}
				line.Amounts = append(line.Amounts, new(share))
			}
			// Shares are rounded.
			within := func(percent float64) float64 {
				return data.At[max(slices.IndexFunc(line.Amounts, func(share *float64) bool { return *share > percent-1e-6 }), 0)]
			}
			data.Lines = append(data.Lines, line)
			says = append(says, fmt.Sprintf("on %s, median %s %s, 95th percentile %s", line.Name, short(within(50)), r.unit, short(within(95))))
		}
		all = append(all, chartOf(r.title+" ("+r.unit+", on each type of node)", strings.Join(says, "; "), data)...)
	}
	return all
}
