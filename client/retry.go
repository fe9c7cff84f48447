package client

import (
	"encoding/json"
	"fmt"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// retriedMethods are the methods that are tried again when the server is
// unavailable. All of them only read: a method that writes must not be listed
// unless the server can tell a repeated call from a second one.
var retriedMethods = []string{
	workloadresizerv1.RatioService_ListRatios_FullMethodName,
	workloadresizerv1.RatioService_GetRatio_FullMethodName,
	workloadresizerv1.PlanService_PreviewPod_FullMethodName,
	workloadresizerv1.PlanService_PreviewPlans_FullMethodName,
	workloadresizerv1.HoldService_ListHolds_FullMethodName,
}

// retryReads is the service config that has them tried four times in all. The
// pauses are 0.1, 0.2 and 0.4 s, give or take a fifth: enough for a server that
// restarts behind a port-forward, and short enough that a server that says why
// it is not ready is heard within a second.
var retryReads = func() string {
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
