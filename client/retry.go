package client

import (
	"encoding/json"
	"fmt"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// retriedMethods are the methods that are retried if the server is unavailable: methods that only
// read, and writes whose requests have a request_id, which fillIn sets. Another write that
// is UNAVAILABLE may have succeeded with only its answer lost, and would act twice. gRPC itself
// resends calls of any method that are known not to have reached the server.
var retriedMethods = []string{
	workloadresizerv1.RatioService_ListRatios_FullMethodName,
	workloadresizerv1.RatioService_GetRatio_FullMethodName,
	workloadresizerv1.RatioService_ListRatioRules_FullMethodName,
	workloadresizerv1.RatioService_WatchRatios_FullMethodName,
	workloadresizerv1.OverrideService_ListOverrides_FullMethodName,
	workloadresizerv1.OverrideService_GetOverride_FullMethodName,
	workloadresizerv1.OverrideService_UpdateOverride_FullMethodName,
	workloadresizerv1.OverrideService_BatchUpdateOverrides_FullMethodName,
	workloadresizerv1.OverrideService_DeleteOverride_FullMethodName,
	workloadresizerv1.OverrideService_ListOverrideChanges_FullMethodName,
	workloadresizerv1.OverrideService_RollbackOverrides_FullMethodName,
	workloadresizerv1.PlanService_PreviewPod_FullMethodName,
	workloadresizerv1.PlanService_PreviewPlans_FullMethodName,
	workloadresizerv1.PlanService_PreviewManifest_FullMethodName,
	workloadresizerv1.ExplainService_ExplainPod_FullMethodName,
	workloadresizerv1.ClusterService_ListWorkloads_FullMethodName,
	workloadresizerv1.ClusterService_ListNodes_FullMethodName,
	workloadresizerv1.ResizeService_ListResizes_FullMethodName,
	workloadresizerv1.ResizeService_GetResize_FullMethodName,
	workloadresizerv1.ResizeService_WatchResizes_FullMethodName,
	workloadresizerv1.JournalService_ListEntries_FullMethodName,
	workloadresizerv1.JournalService_WatchEntries_FullMethodName,
	workloadresizerv1.StatusService_GetStatus_FullMethodName,
	workloadresizerv1.HoldService_Pause_FullMethodName,
	workloadresizerv1.HoldService_Restore_FullMethodName,
	workloadresizerv1.HoldService_ListHolds_FullMethodName,
	workloadresizerv1.HoldService_GetHold_FullMethodName,
	workloadresizerv1.HoldService_GetFreeze_FullMethodName,
	workloadresizerv1.BenchmarkService_ListBenchmarks_FullMethodName,
	workloadresizerv1.BenchmarkService_ListFeeds_FullMethodName,
	workloadresizerv1.BenchmarkService_GetSuggestion_FullMethodName,
	workloadresizerv1.BenchmarkService_ListSuggestions_FullMethodName,
	workloadresizerv1.UsageService_ListRecommendations_FullMethodName,
	workloadresizerv1.UsageService_GetRecommendation_FullMethodName,
	workloadresizerv1.UsageService_WatchRecommendations_FullMethodName,
	workloadresizerv1.UsageService_ListSavings_FullMethodName,
	workloadresizerv1.UsageService_GetUsageHistory_FullMethodName,
	workloadresizerv1.UsageService_GetUsageStatus_FullMethodName,
}

// retries is the service config for four attempts in total. The pauses are 0.1, 0.2 and
// 0.4 s, plus or minus a fifth. That is long enough for a server that restarts behind a
// port-forward. It is short enough to return within a second why a server is not ready.
var retries = func() string {
	type name struct {
		Service string `json:"service"`
		Method  string `json:"method"`
	}
	names := make([]name, len(retriedMethods))
	for i, full := range retriedMethods {
		service, method, _ := strings.Cut(strings.TrimPrefix(full, "/"), "/")
		names[i] = name{service, method}
	}
	config, err := json.Marshal(map[string]any{
		"methodConfig": []any{map[string]any{
			"name": names,
			"retryPolicy": map[string]any{
				"maxAttempts":          4,
				"initialBackoff":       "0.1s",
				"maxBackoff":           "1s",
				"backoffMultiplier":    2,
				"retryableStatusCodes": []string{"UNAVAILABLE"},
			},
		}},
	})
	if err != nil {
		panic(fmt.Sprintf("marshal the service config: %v", err))
	}
	return string(config)
}()
