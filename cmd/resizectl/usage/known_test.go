package usage

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// both returns amounts of both resources.
func both(cpu, memory string) *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: memory}
}

// known is what a server knows about usage.
type known struct {
	recommendations []*workloadresizerv1.Recommendation
	savings         []*workloadresizerv1.Savings
	currency        string
	// explained has the containers of workloads, by the names of the workloads.
	explained map[string][]*workloadresizerv1.ExplainedRecommendation
	history   []*workloadresizerv1.NodeTypeHistory
	sources   *workloadresizerv1.GetUsageStatusResponse
}

// collected returns what a server knows that collects usage and has prices.
func collected() *known {
	return &known{recommendations: recommendations(), savings: savingsOfAll(), currency: "USD", explained: explained(), history: distributions(), sources: usageSources()}
}

func recommendation(namespace, kind, workload, container string, sums *workloadresizerv1.UsageSums) *workloadresizerv1.Recommendation {
	return &workloadresizerv1.Recommendation{
		Namespace: namespace, Workload: &workloadresizerv1.Workload{Kind: kind, Name: workload}, Container: container, DemandFrom: "author", Sums: sums,
	}
}

// recommendations returns one of each kind: a Deployment with two containers on two node types, a
// StatefulSet that needs more than it requests, one with a pod on a node whose performance is
// unknown, and one that was never measured.
func recommendations() []*workloadresizerv1.Recommendation {
	web := recommendation("default", "Deployment", "web", "app", &workloadresizerv1.UsageSums{
		Pods: 3, Authored: both("3", "6Gi"), Requested: both("2800m", "6Gi"), Compared: both("3", "6Gi"),
		Used: both("412m", "943718401"), Recommended: both("739m", "1207959552"), AuthoredCost: new(0.15), RecommendedCost: new(0.0375),
	})
	web.Baseline = &workloadresizerv1.RecommendedSize{
		Target: both("264m", "384Mi"), Lower: both("200m", "320Mi"), Upper: both("330m", "512Mi"), UncappedTarget: both("264m", "299Mi"),
		Used: both("147m", "300Mi"), CpuConfidence: 0.958, MemoryConfidence: 2.5, MemoryMayDecrease: true, CpuDecreaseMessage: "23h of CPU is known, and 24h are needed (minHistory)",
	}
	web.NodeTypes = []*workloadresizerv1.SizeOnNodeType{
		{NodeType: "n2d", Pods: 2, Size: both("264m", "384Mi")}, {NodeType: "n4", Pods: 1, Size: both("211m", "384Mi")},
	}
	proxy := recommendation("default", "Deployment", "web", "proxy", &workloadresizerv1.UsageSums{
		Pods: 3, Authored: both("300m", "192Mi"), Requested: both("300m", "192Mi"), Compared: both("300m", "192Mi"),
		Used: both("30m", "60Mi"), Recommended: both("75m", "96Mi"), AuthoredCost: new(0.0125), RecommendedCost: new(0.003125),
	})
	proxy.Baseline = &workloadresizerv1.RecommendedSize{
		Target: both("25m", "32Mi"), Lower: both("25m", "32Mi"), Upper: both("40m", "64Mi"), UncappedTarget: both("25m", "32Mi"),
		Used: both("10m", "20Mi"), CpuConfidence: 0.958, MemoryConfidence: 0.958,
		CpuDecreaseMessage: "23h of CPU is known, and 24h are needed (minHistory)", MemoryDecreaseMessage: "no memory was measured",
	}
	proxy.NodeTypes = []*workloadresizerv1.SizeOnNodeType{{NodeType: "n2d", Pods: 3, Size: both("25m", "32Mi")}}
	db := recommendation("shop", "StatefulSet", "db", "db", &workloadresizerv1.UsageSums{
		Pods: 3, UnknownPods: 1, Authored: both("1500m", "24Gi"), Requested: both("1500m", "24Gi"), Compared: both("1", "16Gi"),
		Used: both("1600m", "20Gi"), Recommended: both("2", "25769803777"), AuthoredCost: new(0.25), RecommendedCost: new(0.5),
	})
	db.Rule, db.DemandFrom = "overrides[0] (databases)", "usage"
	db.Baseline = &workloadresizerv1.RecommendedSize{
		Target: both("1", "12Gi"), Lower: both("900m", "10Gi"), Upper: both("1500m", "16Gi"), UncappedTarget: both("1", "12Gi"),
		Used: both("800m", "10Gi"), CpuConfidence: 8, MemoryConfidence: 8, CpuMayDecrease: true, MemoryMayDecrease: true,
		LeastRequests: both("600m", ""), LeastLimits: both("1200m", "14Gi"), PeakMemory: "12884901889",
	}
	db.NodeTypes = []*workloadresizerv1.SizeOnNodeType{{NodeType: "n2d", Pods: 2, Size: both("1", "12884901889")}, {NodeType: "", Pods: 1}}
	cart := recommendation("shop", "StatefulSet", "cart", "cart", &workloadresizerv1.UsageSums{
		Pods: 2, UnknownPods: 2, Authored: both("2", "2Gi"), Requested: both("2", "2Gi"),
		Compared: both("0", "0"), Used: both("0", "0"), Recommended: both("0", "0"), AuthoredCost: new(0.0), RecommendedCost: new(0.0),
	})
	cart.UnknownMessage = "when recommendations were last computed (every minute), no CPU had been measured\x1b[31m on a node whose type has a ratio"
	cart.NodeTypes = []*workloadresizerv1.SizeOnNodeType{{NodeType: "n4", Pods: 2}}
	return []*workloadresizerv1.Recommendation{web, proxy, cart, db}
}

// savingsOfAll returns one of each kind: a Deployment that requests less than its author wrote, a StatefulSet of unknown usage,
// one that requests more, and a pod that counts for no workload. The third has a pod of unknown usage, and resizes that hurt.
func savingsOfAll() []*workloadresizerv1.Savings {
	of := func(kind, name string) *workloadresizerv1.Workload {
		return &workloadresizerv1.Workload{Kind: kind, Name: name}
	}
	all := []*workloadresizerv1.Savings{
		{Namespace: "default", Workload: of("Deployment", "web"), Pods: 3, Authored: both("3300m", "6336Mi"), Requested: both("2125m", "3Gi"), Saved: both("1175m", "3264Mi"),
			Measured: both("2125m", "3Gi"), Used: both("442m", "1006632961"), AuthoredCost: new(0.1625), RequestedCost: new(0.09375), UsedCost: new(0.03125)},
		{Namespace: "shop", Workload: of("StatefulSet", "cart"), Pods: 2, UnknownPods: new(int64(2)), Authored: both("2", "2Gi"), Requested: both("2", "2Gi"), Saved: both("0", "0"),
			Measured: both("0", "0"), Used: both("0", "0"), AuthoredCost: new(0.125), RequestedCost: new(0.125), UsedCost: new(0.0)},
		{Namespace: "shop", Workload: of("StatefulSet", "db"), Pods: 3, UnknownPods: new(int64(1)), Authored: both("1500m", "24Gi"), Requested: both("2500m", "34359738369"), Saved: both("-1", "-8589934593"),
			Measured: both("2", "24Gi"), Used: both("1600m", "20Gi"), AuthoredCost: new(0.25), RequestedCost: new(0.5), UsedCost: new(0.375), Reverts: new(int64(2)), OomKills: new(int64(1))},
		{Namespace: "shop", Pods: 1, UnknownPods: new(int64(1)), Authored: both("100m", "128Mi"), Requested: both("100m", "128Mi"), Saved: both("0", "0"),
			Measured: both("0", "0"), Used: both("0", "0"), AuthoredCost: new(0.0078125), RequestedCost: new(0.0078125), UsedCost: new(0.0)},
	}
	for _, s := range all { // Now, they are always counted.
		s.UnknownPods, s.Reverts, s.OomKills = new(s.GetUnknownPods()), new(s.GetReverts()), new(s.GetOomKills())
	}
	return all
}

func explained() map[string][]*workloadresizerv1.ExplainedRecommendation {
	all := recommendations()
	begin, last := timestamppb.New(cmdtest.Since.Add(-23*time.Hour)), timestamppb.New(cmdtest.Since)
	web := &workloadresizerv1.ExplainedRecommendation{
		Recommendation: all[0],
		Measured: []*workloadresizerv1.MeasuredNodeType{
			{NodeType: "n2d", CpuSpeed: new(1.0), MemorySpeed: new(1.0), FirstTime: begin, LastTime: last, Samples: 1380, Throttled: 0.034, Percentile: both("230m", "270Mi")},
			{NodeType: "n4", CpuSpeed: new(1.25), MemorySpeed: new(1.0), FirstTime: begin, LastTime: last, Samples: 0, Percentile: both("0", "272629777")},
			{NodeType: "t2d", FirstTime: begin, LastTime: last, Samples: 40, Percentile: both("300m", "280Mi")},
		},
		Steps: []*workloadresizerv1.RecommendationStep{
			{Name: "estimate", Amounts: both("230m", "260Mi"), Message: "percentile 0.9 of CPU and 0.9 of the peaks of memory"},
			{Name: "margin", Amounts: both("264m", "299Mi"), Message: "15% is added"},
			{Name: "floor", Amounts: both("264m", "299Mi"), Message: "at least 12m and 32Mi, the share of one of 2 containers in the floor of the pod"},
			{Name: "bounds", Amounts: both("264m", "384Mi"), Message: "CPU: any amount; memory:\x1b[31m at least 384Mi"},
		},
	}
	proxy := &workloadresizerv1.ExplainedRecommendation{
		Recommendation: all[1],
		Measured:       []*workloadresizerv1.MeasuredNodeType{{NodeType: "n2d", CpuSpeed: new(1.0), MemorySpeed: new(1.0), Samples: 1380, FirstTime: begin, LastTime: last, Percentile: both("12m", "20Mi")}},
		Steps:          []*workloadresizerv1.RecommendationStep{{Name: "floor", Amounts: both("25m", "32Mi")}},
	}
	gone := recommendations()[3]
	gone.Sums, gone.NodeTypes, gone.Workload.Name = &workloadresizerv1.UsageSums{}, nil, "gone"
	return map[string][]*workloadresizerv1.ExplainedRecommendation{
		"web": {web, proxy}, "cart": {{Recommendation: all[2]}}, "db": {{Recommendation: all[3]}}, "gone": {{Recommendation: gone}}, "empty": nil,
	}
}

// distributions returns what one container used on two node types, with more buckets of CPU
// than a terminal has lines.
func distributions() []*workloadresizerv1.NodeTypeHistory {
	n2d := &workloadresizerv1.NodeTypeHistory{
		NodeType: "n2d", FirstTime: timestamppb.New(cmdtest.Since.Add(-23 * time.Hour)), LastTime: timestamppb.New(cmdtest.Since), Samples: 1380,
		Memory: []*workloadresizerv1.UsageBucket{{From: 256 << 20, To: 300 << 20, Share: 0.75}, {From: 300 << 20, To: 316000000, Share: 0.25}},
	}
	for i, edge := 0, 0.0625; i < 32; i, edge = i+1, edge*1.125 {
		share := 1.0 / 64
		if i >= 8 && i < 24 {
			share = 3.0 / 64
		}
		n2d.Cpu = append(n2d.Cpu, &workloadresizerv1.UsageBucket{From: edge, To: edge * 1.125, Share: share})
	}
	return []*workloadresizerv1.NodeTypeHistory{n2d, {NodeType: "n4", Memory: []*workloadresizerv1.UsageBucket{{From: 0, To: 1 << 20, Share: 1}}}}
}

// usageSources returns sources of each kind: one without samples, one that fails, and one that is read
// for the first time; and storage with a ConfigMap that cannot be read.
func usageSources() *workloadresizerv1.GetUsageStatusResponse {
	at := func(ago time.Duration) *timestamppb.Timestamp {
		return timestamppb.New(cmdtest.Since.Add(5*time.Hour - ago))
	}
	return &workloadresizerv1.GetUsageStatusResponse{
		Sources: []*workloadresizerv1.UsageSource{
			{Name: "push", ReadIntervalDuration: durationpb.New(0)},
			{Name: "metrics.k8s.io", ReadIntervalDuration: durationpb.New(time.Minute), ReadTime: at(20 * time.Minute), SampleTime: at(21 * time.Minute), Counted: 15000, Rejected: 12, Waiting: 3,
				Message: "read usage from metrics.k8s.io: the server could not find\x1b[31m the requested resource (get pods.metrics.k8s.io)"},
			{Name: "prometheus", ReadIntervalDuration: durationpb.New(5 * time.Minute), ReadTime: at(3 * time.Hour), SampleTime: at(3 * time.Hour), Counted: 1234567,
				BackfillBeginTime: at(8 * 24 * time.Hour), BackfillProgress: new(0.375)},
		},
		Storage: &workloadresizerv1.UsageStorage{
			StoreTime: at(12 * time.Minute), Bytes: 7_800_000,
			Shards: []*workloadresizerv1.UsageShard{
				{Name: "workload-resizer-usage-0", StoreTime: at(4 * time.Minute), Bytes: 390_000, Containers: 5210},
				{Name: "workload-resizer-usage-1", Bytes: 7_410_000, Message: "it is damaged: its checksum is wrong"},
			},
			Message: "ConfigMap workload-resizer-system/workload-resizer-usage-1 cannot be read: it is damaged: replace it with a backup, or delete it",
		},
		Containers: 10420, Recommendations: 10400, Collecting: true,
	}
}

// recommendationEvents returns the events of a watch: two exist, then one changes in its confidence only, then
// in what it needs, and is deleted.
func recommendationEvents() []*workloadresizerv1.WatchRecommendationsResponse {
	confident, changed := recommendations()[0], recommendations()[0]
	confident.Baseline.CpuDecreaseMessage = "the same, a minute later"
	changed.Sums.Recommended = both("900m", "1207959552")
	const added, modified = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED
	const deleted, bookmark = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED, workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK
	return []*workloadresizerv1.WatchRecommendationsResponse{
		{Type: added, Recommendation: recommendations()[0]}, {Type: added, Recommendation: recommendations()[2]}, {Type: bookmark, ResumeToken: "3"},
		{Type: modified, Recommendation: confident, ResumeToken: "4"},
		{Type: modified, Recommendation: changed, ResumeToken: "5"}, {Type: deleted, Recommendation: changed, ResumeToken: "6"},
	}
}
