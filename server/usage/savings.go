package usage

import (
	"context"
	"errors"
	"iter"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/paging"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
)

// ListSavings implements workloadresizerv1.UsageServiceServer.
func (s *Service) ListSavings(ctx context.Context, request *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
	page, err := paging.Of(request, pageSizes)
	if err != nil {
		return nil, err
	}
	if past, err := overTime(request); past || err != nil {
		if err != nil {
			return nil, err
		}
		return s.listTrends(ctx, request, page)
	}
	after, err := workloadAt(page.After)
	if err != nil {
		return nil, paging.TokenError(err)
	}
	of, table, release, err := s.begin(ctx, request, after.Namespace)
	if err != nil {
		return nil, err
	}
	defer release()
	response := &workloadresizerv1.ListSavingsResponse{Currency: currency(table)}
	savers := grouped(s.config.Demands.Savings(ctx, of), request.GetGroup())
	response.Savings, response.NextPageToken, err = paging.FillFrom(ctx, page, savers, func(saver *demand.Saver) (string, *workloadresizerv1.Savings) {
		if page.After != "" && demand.CompareSavers(saver.Workload, after) <= 0 {
			return "", nil
		}
		return tokenOf(saver.Workload), Savings(saver, table.Prices != nil)
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// grouped adds up savings that are ordered by namespace. The total exists even if there are none.
func grouped(all iter.Seq2[*demand.Saver, error], by workloadresizerv1.SavingsGroup) iter.Seq2[*demand.Saver, error] {
	total := by == workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL
	if !total && by != workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE {
		return all
	}
	return func(yield func(*demand.Saver, error) bool) {
		var sum *demand.Saver
		if total {
			sum = &demand.Saver{}
		}
		for saver, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if !total && (sum == nil || sum.Workload.Namespace != saver.Workload.Namespace) {
				if sum != nil && !yield(sum, nil) {
					return
				}
				sum = &demand.Saver{Workload: usagestore.Workload{Namespace: saver.Workload.Namespace}}
			}
			sum.Add(&saver.Savings)
		}
		if sum != nil {
			yield(sum, nil)
		}
	}
}

// Savings returns a message. priced means that it has costs.
func Savings(of *demand.Saver, priced bool) *workloadresizerv1.Savings {
	m := &workloadresizerv1.Savings{
		Namespace: of.Workload.Namespace, Pods: int64(of.Pods), UnknownPods: new(int64(of.Unknown)),
		Authored: Amounts(of.Authored), Requested: Amounts(of.Requested), Saved: Amounts(of.Saved), Measured: Amounts(of.Measured), Used: Amounts(of.Used),
		Reverts: new(int64(of.Reverts)), OomKills: new(int64(of.Kills)),
	}
	if of.Workload.Kind != "" {
		m.Workload = &workloadresizerv1.Workload{Kind: of.Workload.Kind, Name: of.Workload.Name}
	}
	if priced {
		m.AuthoredCost, m.RequestedCost, m.UsedCost = &of.AuthoredCost, &of.RequestedCost, &of.UsedCost
	}
	return m
}

// tokenOf returns what workloadAt reads.
func tokenOf(w usagestore.Workload) string {
	return strings.Join([]string{w.Namespace, w.Kind, w.Name}, separator)
}

// workloadAt reads what tokenOf returned; an empty string is before all workloads.
func workloadAt(text string) (usagestore.Workload, error) {
	if text == "" {
		return usagestore.Workload{}, nil
	}
	parts := strings.Split(text, separator)
	if len(parts) != 3 {
		return usagestore.Workload{}, errors.New("it is of another list")
	}
	return usagestore.Workload{Namespace: parts[0], Kind: parts[1], Name: parts[2]}, nil
}
