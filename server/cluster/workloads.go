package cluster

import (
	"cmp"
	"context"
	"iter"
	"slices"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/paging"
	"github.com/workload-resizer/workload-resizer/server/usage"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// ListWorkloads implements workloadresizerv1.ClusterServiceServer.
func (s *Service) ListWorkloads(ctx context.Context, request *workloadresizerv1.ListWorkloadsRequest) (*workloadresizerv1.ListWorkloadsResponse, error) {
	page, err := paging.Of(request, pageSizes)
	if err != nil {
		return nil, err
	}
	o, err := orderOf(request.GetOrderBy())
	if err != nil {
		return nil, err
	}
	after, from := place{}, ""
	if page.After != "" {
		if after, err = placeAt(page.After); err != nil {
			return nil, paging.TokenError(err)
		}
		if o.isDefault() {
			from = after.of.Namespace
		}
	}
	of, err := usage.Selection(s.config.Viewer.View(ctx), request, from)
	if err != nil {
		return nil, err
	}
	if err := usage.Enabled(s.config.Demands); err != nil {
		return nil, err
	}
	table, err := s.table()
	if err != nil {
		return nil, err
	}
	release, err := s.config.Slots.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	response := &workloadresizerv1.ListWorkloadsResponse{}
	if table.Prices != nil {
		response.Currency = table.Prices.Currency
	}
	response.Workloads, response.NextPageToken, err = paging.FillFrom(ctx, page, ordered(s.config.Demands.Workloads(ctx, of), o), func(saver *demand.Saver) (string, *workloadresizerv1.WorkloadSummary) {
		at := o.placeOf(saver)
		if page.After != "" && o.compare(at, after) <= 0 {
			return "", nil
		}
		pods := s.counts(saver)
		if !selects(request, pods) {
			return "", nil
		}
		return at.text(), &workloadresizerv1.WorkloadSummary{Savings: usage.Savings(saver, table.Prices != nil), Recommended: usage.Amounts(saver.Recommended), Pods: pods, Throttled: int64(saver.Throttled)}
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// ordered puts workloads, which are ordered by name, into an order.
func ordered(all iter.Seq2[*demand.Saver, error], o order) iter.Seq2[*demand.Saver, error] {
	if o.isDefault() {
		return all
	}
	return func(yield func(*demand.Saver, error) bool) {
		var savers []*demand.Saver
		for saver, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			savers = append(savers, saver)
		}
		slices.SortFunc(savers, func(a, b *demand.Saver) int { return o.compare(o.placeOf(a), o.placeOf(b)) })
		for _, saver := range savers {
			if !yield(saver, nil) {
				return
			}
		}
	}
}

// counts counts the pods of a workload by their last decision and its first reason, most first.
func (s *Service) counts(saver *demand.Saver) (counts []*workloadresizerv1.PodCount) {
	for _, of := range saver.Members {
		decided, reason, planned := s.config.Reconciler.Verdict(of)
		if !planned {
			continue
		}
		decision, code := values.Decision(decided), string(reason)
		at := slices.IndexFunc(counts, func(c *workloadresizerv1.PodCount) bool { return c.GetDecision() == decision && c.GetCode() == code })
		if at < 0 {
			at, counts = len(counts), append(counts, &workloadresizerv1.PodCount{Decision: decision, Code: code})
		}
		counts[at].Pods++
	}
	slices.SortFunc(counts, func(a, b *workloadresizerv1.PodCount) int {
		return cmp.Or(cmp.Compare(b.GetPods(), a.GetPods()), cmp.Compare(a.GetDecision(), b.GetDecision()), cmp.Compare(a.GetCode(), b.GetCode()))
	})
	return counts
}

// selects reports whether a request selects a workload with such pods.
func selects(request *workloadresizerv1.ListWorkloadsRequest, pods []*workloadresizerv1.PodCount) bool {
	decision, code := request.GetDecision(), request.GetCode()
	if decision == workloadresizerv1.Decision_DECISION_UNSPECIFIED && code == "" {
		return true
	}
	return slices.ContainsFunc(pods, func(c *workloadresizerv1.PodCount) bool {
		return (decision == workloadresizerv1.Decision_DECISION_UNSPECIFIED || c.GetDecision() == decision) && (code == "" || c.GetCode() == code)
	})
}
