package pages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// needs is what the containers of a workload need, and the usage that it follows from.
type needs struct {
	*workloadresizerv1.GetRecommendationResponse
	// used is what was measured, by the name of the container. A container of which nothing was is not in it.
	used map[string]*workloadresizerv1.GetUsageHistoryResponse
}

func readNeeds(ctx context.Context, c *client.Client, namespace string, of *workloadresizerv1.Workload) (needs, error) {
	resp, err := c.GetRecommendation(ctx, namespace, of)
	if err != nil {
		return needs{}, err
	}
	all := needs{resp, map[string]*workloadresizerv1.GetUsageHistoryResponse{}}
	for _, e := range resp.GetContainers() {
		name := e.GetRecommendation().GetContainer()
		used, err := c.GetUsageHistory(ctx, namespace, of, name)
		if client.Reason(err) == "USAGE_UNKNOWN" {
			continue
		}
		if err != nil {
			return needs{}, err
		}
		all.used[name] = used
	}
	return all, nil
}

// distributionsOf returns charts of what containers used: for how much of the time at most how much, on nodes of each type.
func distributionsOf(used *workloadresizerv1.GetUsageHistoryResponse) (all []chart) {
	for _, r := range []struct {
		title, unit string
		in          float64
		of          func(*workloadresizerv1.NodeTypeHistory) []*workloadresizerv1.UsageBucket
	}{
		{"CPU", "cores", 1, (*workloadresizerv1.NodeTypeHistory).GetCpu},
		{"Peaks of memory", "GiB", 1 << 30, (*workloadresizerv1.NodeTypeHistory).GetMemory},
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
			line, half, most := chartLine{Name: print.OrAbsent(print.OneLine(on.GetNodeType()))}, 0.0, 0.0
			for _, at := range data.At {
				share := 0.0
				for _, b := range r.of(on) {
					if b.GetTo()/r.in <= at {
						share += 100 * b.GetShare()
					}
				}
				if share < 50 {
					half = at
				}
				if share < 95 {
					most = at
				}
				line.Amounts = append(line.Amounts, &share)
			}
			data.Lines = append(data.Lines, line)
			says = append(says, fmt.Sprintf("on %s, half of it above %.3g %s, and 5%% above %.3g", line.Name, half, r.unit, most))
		}
		all = append(all, chartOf(r.title+" ("+r.unit+", on each type of node)", strings.Join(says, "; "), data)...)
	}
	return all
}
