package server

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// needsCluster lists the methods that a standalone server refuses. It is maintained
// separately from the table of the server.
var needsCluster = map[string]bool{
	"/workloadresizer.v1.OverrideService/ListOverrides":        true,
	"/workloadresizer.v1.OverrideService/GetOverride":          true,
	"/workloadresizer.v1.OverrideService/UpdateOverride":       true,
	"/workloadresizer.v1.OverrideService/BatchUpdateOverrides": true,
	"/workloadresizer.v1.OverrideService/DeleteOverride":       true,
	"/workloadresizer.v1.OverrideService/RollbackOverrides":    true,
	"/workloadresizer.v1.OverrideService/ListOverrideChanges":  true,
	"/workloadresizer.v1.PlanService/PreviewPod":               true,
	"/workloadresizer.v1.PlanService/PreviewPlans":             true,
	"/workloadresizer.v1.ResizeService/ListResizes":            true,
	"/workloadresizer.v1.ResizeService/GetResize":              true,
	"/workloadresizer.v1.ExplainService/ExplainPod":            true,
	"/workloadresizer.v1.ClusterService/ListWorkloads":         true,
	"/workloadresizer.v1.ClusterService/ListNodes":             true,
	"/workloadresizer.v1.ResizeService/WatchResizes":           true,
	"/workloadresizer.v1.JournalService/ListEntries":           true,
	"/workloadresizer.v1.JournalService/WatchEntries":          true,
	"/workloadresizer.v1.StatusService/GetStatus":              true,
	"/workloadresizer.v1.HoldService/Pause":                    true,
	"/workloadresizer.v1.HoldService/Restore":                  true,
	"/workloadresizer.v1.HoldService/Resume":                   true,
	"/workloadresizer.v1.HoldService/ListHolds":                true,
	"/workloadresizer.v1.HoldService/GetHold":                  true,
	"/workloadresizer.v1.HoldService/Freeze":                   true,
	"/workloadresizer.v1.HoldService/Unfreeze":                 true,
	"/workloadresizer.v1.HoldService/GetFreeze":                true,
	"/workloadresizer.v1.BenchmarkService/IngestSamples":       true,
	"/workloadresizer.v1.BenchmarkService/ClaimMeasurement":    true,
	"/workloadresizer.v1.BenchmarkService/ListBenchmarks":      true,
	"/workloadresizer.v1.BenchmarkService/ListFeeds":           true,
	"/workloadresizer.v1.BenchmarkService/GetSuggestion":       true,
	"/workloadresizer.v1.BenchmarkService/ListSuggestions":     true,
	"/workloadresizer.v1.UsageService/ListRecommendations":     true,
	"/workloadresizer.v1.UsageService/GetRecommendation":       true,
	"/workloadresizer.v1.UsageService/WatchRecommendations":    true,
	"/workloadresizer.v1.UsageService/ListSavings":             true,
	"/workloadresizer.v1.UsageService/GetUsageHistory":         true,
	"/workloadresizer.v1.UsageService/GetUsageStatus":          true,
	"/workloadresizer.v1.UsageService/ReportUsage":             true,
	"/grpc.channelz.v1.Channelz/GetTopChannels":                true,
	"/grpc.channelz.v1.Channelz/GetServers":                    true,
	"/grpc.channelz.v1.Channelz/GetServer":                     true,
	"/grpc.channelz.v1.Channelz/GetServerSockets":              true,
	"/grpc.channelz.v1.Channelz/GetChannel":                    true,
	"/grpc.channelz.v1.Channelz/GetSubchannel":                 true,
	"/grpc.channelz.v1.Channelz/GetSocket":                     true,
}

func TestStandalone(t *testing.T) {
	t.Run("a standalone server refuses only methods that need a cluster", aStandaloneServerRefusesOnlyMethodsThatNeedACluster)
	t.Run("a server with a cluster refuses no method for lack of one", aServerWithAClusterRefusesNoMethodForLackOfOne)
}

func aStandaloneServerRefusesOnlyMethodsThatNeedACluster(t *testing.T) {
	store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
	listener := servertest.Listen(t)
	s := New(Config{
		Ratios: store, Planner: &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, Limits: limits.Default,
		Reflection: true, Channelz: true, Metrics: prometheus.NewRegistry(), GRPC: listener,
	})
	conn := servertest.Dial(t, listener)
	known := store.Watch()
	servertest.Run(t, store.Run, s.Run)
	<-known
	for method, info := range serverMethods(s) {
		switch err := call(t.Context(), conn, method, info.IsServerStream); {
		case needsCluster[method]:
			servertest.CheckError(t, err, codes.Unimplemented, "STANDALONE", method)
		case reasonOf(err) == "STANDALONE" || servertest.ReasonOf(err) == "INTERNAL":
			t.Errorf("%s: %v", method, err)
		}
	}
}

func aServerWithAClusterRefusesNoMethodForLackOfOne(t *testing.T) {
	r := start(t, setup{})
	for method := range serverMethods(r.server) {
		if err := r.server.config.needsCluster(method); err != nil {
			t.Error(err)
		}
	}
}
