package access

import (
	"maps"
	"slices"

	channelzv1 "google.golang.org/grpc/channelz/grpc_channelz_v1"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	pb "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Method lists the rights that a caller needs for a method.
type Method struct {
	// Exempt means that every caller may call it, even without credentials.
	Exempt bool
	// Rights are the rights that are needed, all of them.
	Rights []Right
	// Namespaced means that requests can name a namespace, and that rights in that namespace
	// are then sufficient. Other requests need the rights in all namespaces.
	Namespaced bool
	// Clusterless means that a standalone server also has it.
	Clusterless bool

	// only returns the subset of Rights that a request needs; nil means all of them.
	only func(request any) []Right
}

// Rights to end holds, by their kind. Breakers need the right to end pauses.
var (
	EndPauses   = Right{"delete", "pauses"}
	EndRestores = Right{"delete", "restores"}
)

var (
	debug      = cluster("get", "debug")
	reflection = clusterless(cluster("get", "reflection"))
)

func cluster(verb, resource string) Method {
	return Method{Rights: []Right{{verb, resource}}}
}

func namespaced(verb, resource string) Method {
	return Method{Rights: []Right{{verb, resource}}, Namespaced: true}
}

// clusterless returns m as a method that needs no cluster.
func clusterless(m Method) Method {
	m.Clusterless = true
	return m
}

// methods lists every method of the server by its full name. A method that is not listed is
// denied. A request with validate_only needs the same rights as the write.
var methods = map[string]Method{
	pb.RatioService_ListRatios_FullMethodName:     clusterless(cluster("list", "ratios")),
	pb.RatioService_GetRatio_FullMethodName:       clusterless(cluster("get", "ratios")),
	pb.RatioService_ListRatioRules_FullMethodName: clusterless(cluster("list", "ratios")),
	pb.RatioService_WatchRatios_FullMethodName:    clusterless(cluster("watch", "ratios")),

	pb.OverrideService_ListOverrides_FullMethodName:        cluster("list", "overrides"),
	pb.OverrideService_GetOverride_FullMethodName:          cluster("get", "overrides"),
	pb.OverrideService_UpdateOverride_FullMethodName:       cluster("update", "overrides"),
	pb.OverrideService_BatchUpdateOverrides_FullMethodName: cluster("update", "overrides"),
	pb.OverrideService_RollbackOverrides_FullMethodName:    cluster("update", "overrides"),
	pb.OverrideService_DeleteOverride_FullMethodName:       cluster("delete", "overrides"),
	pb.OverrideService_ListOverrideChanges_FullMethodName:  cluster("list", "overrides/history"),

	pb.PlanService_PreviewPod_FullMethodName:      namespaced("get", "plans"),
	pb.PlanService_PreviewPlans_FullMethodName:    namespaced("list", "plans"),
	pb.PlanService_PreviewManifest_FullMethodName: clusterless(cluster("create", "plans")),

	pb.ExplainService_ExplainPod_FullMethodName: namespaced("get", "plans"),

	pb.ClusterService_ListWorkloads_FullMethodName: {Rights: []Right{{"list", "plans"}, {"list", "recommendations"}}, Namespaced: true},
	pb.ClusterService_ListNodes_FullMethodName:     cluster("get", "status"),

	pb.ResizeService_ListResizes_FullMethodName:  namespaced("list", "resizes"),
	pb.ResizeService_GetResize_FullMethodName:    namespaced("get", "resizes"),
	pb.ResizeService_WatchResizes_FullMethodName: namespaced("watch", "resizes"),

	pb.JournalService_ListEntries_FullMethodName:  namespaced("list", "resizes"),
	pb.JournalService_WatchEntries_FullMethodName: namespaced("watch", "resizes"),

	pb.StatusService_GetStatus_FullMethodName: cluster("get", "status"),

	pb.HoldService_Pause_FullMethodName:     namespaced("create", "pauses"),
	pb.HoldService_Restore_FullMethodName:   namespaced("create", "restores"),
	pb.HoldService_Resume_FullMethodName:    {Rights: []Right{EndPauses, EndRestores}, Namespaced: true, only: resumeRights},
	pb.HoldService_ListHolds_FullMethodName: namespaced("list", "holds"),
	pb.HoldService_GetHold_FullMethodName:   namespaced("get", "holds"),
	pb.HoldService_Freeze_FullMethodName:    cluster("create", "freezes"),
	pb.HoldService_Unfreeze_FullMethodName:  cluster("delete", "freezes"),
	pb.HoldService_GetFreeze_FullMethodName: cluster("get", "freezes"),

	pb.BenchmarkService_IngestSamples_FullMethodName:    cluster("create", "samples"),
	pb.BenchmarkService_ClaimMeasurement_FullMethodName: cluster("create", "samples"),
	pb.BenchmarkService_ListBenchmarks_FullMethodName:   cluster("list", "benchmarks"),
	pb.BenchmarkService_ListFeeds_FullMethodName:        cluster("list", "feeds"),
	pb.BenchmarkService_GetSuggestion_FullMethodName:    cluster("get", "suggestions"),
	pb.BenchmarkService_ListSuggestions_FullMethodName:  cluster("list", "suggestions"),

	pb.UsageService_ListRecommendations_FullMethodName:  namespaced("list", "recommendations"),
	pb.UsageService_GetRecommendation_FullMethodName:    namespaced("get", "recommendations"),
	pb.UsageService_WatchRecommendations_FullMethodName: namespaced("watch", "recommendations"),
	pb.UsageService_ListSavings_FullMethodName:          namespaced("list", "recommendations"),
	pb.UsageService_GetUsageHistory_FullMethodName:      namespaced("get", "recommendations/history"),
	pb.UsageService_GetUsageStatus_FullMethodName:       cluster("get", "usagesources"),
	pb.UsageService_ReportUsage_FullMethodName:          cluster("create", "usages"),

	healthv1.Health_Check_FullMethodName: {Exempt: true, Clusterless: true},
	healthv1.Health_List_FullMethodName:  {Exempt: true, Clusterless: true},
	healthv1.Health_Watch_FullMethodName: {Exempt: true, Clusterless: true},

	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      reflection,
	reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: reflection,

	channelzv1.Channelz_GetTopChannels_FullMethodName:   debug,
	channelzv1.Channelz_GetServers_FullMethodName:       debug,
	channelzv1.Channelz_GetServer_FullMethodName:        debug,
	channelzv1.Channelz_GetServerSockets_FullMethodName: debug,
	channelzv1.Channelz_GetChannel_FullMethodName:       debug,
	channelzv1.Channelz_GetSubchannel_FullMethodName:    debug,
	channelzv1.Channelz_GetSocket_FullMethodName:        debug,

	Pprof:   debug,
	Metrics: cluster("get", Metrics),
}

// Exempt reports whether every caller may call the method, even without credentials.
func Exempt(method string) bool { return methods[method].Exempt }

// Clusterless reports whether a standalone server also has the method.
func Clusterless(method string) bool { return methods[method].Clusterless }

// IsWatch reports whether a call of the method lasts until the caller ends it.
func IsWatch(method string) bool {
	return slices.ContainsFunc(methods[method].Rights, func(r Right) bool { return r.Verb == "watch" })
}

// Methods returns the rights that each method of the server needs, by its full name, e.g.
// "/workloadresizer.v1.PlanService/PreviewPod".
func Methods() map[string]Method { return maps.Clone(methods) }

// resumeRights returns the rights to end the requested kind of holds. Without a kind, it is
// the right to end pauses: only the service knows whether a restore would also end.
func resumeRights(request any) []Right {
	switch request.(*pb.ResumeRequest).GetKind() {
	case pb.HoldKind_HOLD_KIND_UNSPECIFIED, pb.HoldKind_HOLD_KIND_PAUSE, pb.HoldKind_HOLD_KIND_BREAKER:
		return []Right{EndPauses}
	case pb.HoldKind_HOLD_KIND_RESTORE:
		return []Right{EndRestores}
	}
	return []Right{EndPauses, EndRestores}
}

// namespaceOf returns the namespace that a request is limited to, "" if it is not limited to
// one.
func namespaceOf(request any) string {
	switch r := request.(type) {
	case interface{ GetNamespace() string }:
		return r.GetNamespace()
	case interface{ GetScope() *pb.HoldScope }:
		return ScopeNamespace(r.GetScope())
	}
	return ""
}

// ScopeNamespace returns the namespace that a scope is in; "" for the cluster, and for a scope
// that names nothing.
func ScopeNamespace(scope *pb.HoldScope) string {
	switch scope := scope.GetScope().(type) {
	case *pb.HoldScope_Namespace:
		return scope.Namespace
	case *pb.HoldScope_Workload:
		return scope.Workload.GetNamespace()
	case *pb.HoldScope_Pod:
		return scope.Pod.GetNamespace()
	}
	return ""
}
