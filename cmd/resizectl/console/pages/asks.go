package pages

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Methods are the methods that the pages call, and may call. All of them only read.
var Methods = []string{
	workloadresizerv1.BenchmarkService_ListFeeds_FullMethodName,
	workloadresizerv1.BenchmarkService_ListSuggestions_FullMethodName,
	workloadresizerv1.ClusterService_ListNodes_FullMethodName,
	workloadresizerv1.ClusterService_ListWorkloads_FullMethodName,
	workloadresizerv1.ExplainService_ExplainPod_FullMethodName,
	workloadresizerv1.HoldService_ListHolds_FullMethodName,
	workloadresizerv1.JournalService_ListEntries_FullMethodName,
	workloadresizerv1.PlanService_PreviewPlans_FullMethodName,
	workloadresizerv1.RatioService_ListRatioRules_FullMethodName,
	workloadresizerv1.RatioService_ListRatios_FullMethodName,
	workloadresizerv1.StatusService_GetStatus_FullMethodName,
	workloadresizerv1.UsageService_GetRecommendation_FullMethodName,
	workloadresizerv1.UsageService_GetUsageHistory_FullMethodName,
	workloadresizerv1.UsageService_GetUsageStatus_FullMethodName,
	workloadresizerv1.UsageService_ListSavings_FullMethodName,
}

// partOf returns what the server answered for a part of a page, or why it did not. An error that all parts would have is one of the page.
func partOf[T any](value T, err error) (part[T], error) {
	switch status.Code(err) {
	case codes.OK:
		return part[T]{Value: value}, nil
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unauthenticated:
		return part[T]{}, err
	}
	if client.IsUnreachable(err) {
		return part[T]{}, err
	}
	return part[T]{Problem: print.OneLine(connect.RefusedBecause(err)), Denied: client.Reason(err) == "NOT_AUTHORIZED"}, nil
}

// turn is how long a call that plans many pods waits before it is tried again. One caller may have few of them at the same time, and all
// open pages are one caller, together with the user's own commands.
const turn = 500 * time.Millisecond

// inTurn returns what ask returns, which it repeats while the caller has too many such calls.
func inTurn[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for {
		value, err := ask()
		if client.Reason(err) != "TOO_MANY_PREVIEWS" {
			return value, err
		}
		select {
		case <-time.After(turn):
		case <-ctx.Done():
			return value, err
		}
	}
}
