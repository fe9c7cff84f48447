package cmdtest

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Amounts returns amounts of both resources.
func Amounts(cpu, memory string) *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: memory}
}

// Used returns what a server knows that collects usage and has prices.
func Used() *UsageScript {
	return &UsageScript{
		Recommendations: Recommendations(), Savings: Savings(), Currency: "USD", Explained: explained(), History: distributions(), Sources: UsageSources(),
	}
}

func recommendation(namespace, kind, workload, container string, sums *workloadresizerv1.UsageSums) *workloadresizerv1.Recommendation {
	return &workloadresizerv1.Recommendation{
		Namespace: namespace, Workload: &workloadresizerv1.Workload{Kind: kind, Name: workload}, Container: container, DemandFrom: "author", Sums: sums,
	}
}

// Recommendations returns one of each kind: a Deployment with two containers on two node types, a
// StatefulSet that needs more than it requests, one with a pod on a node whose performance is
// unknown, and one that was never measured.
func Recommendations() []*workloadresizerv1.Recommendation {
	web := recommendation("default", "Deployment", "web", "app", &workloadresizerv1.UsageSums{
		Pods: 3, Authored: Amounts("3", "6Gi"), Requested: Amounts("2800m", "6Gi"), Compared: Amounts("3", "6Gi"),
		Used: Amounts("412m", "943718401"), Recommended: Amounts("739m", "1207959552"), AuthoredCost: new(0.15), RecommendedCost: new(0.0375),
	})
	web.Baseline = &workloadresizerv1.RecommendedSize{
		Target: Amounts("264m", "384Mi"), Lower: Amounts("200m", "320Mi"), Upper: Amounts("330m", "512Mi"), UncappedTarget: Amounts("264m", "299Mi"),
		Used: Amounts("147m", "300Mi"), CpuConfidence: 0.958, MemoryConfidence: 2.5, MemoryMayDecrease: true, CpuDecreaseMessage: "23h of CPU is known, and 24h are needed (minHistory)",
	}
	web.NodeTypes = []*workloadresizerv1.SizeOnNodeType{
		{NodeType: "n2d", Pods: 2, Size: Amounts("264m", "384Mi")}, {NodeType: "n4", Pods: 1, Size: Amounts("211m", "384Mi")},
	}
	proxy := recommendation("default", "Deployment", "web", "proxy", &workloadresizerv1.UsageSums{
		Pods: 3, Authored: Amounts("300m", "192Mi"), Requested: Amounts("300m", "192Mi"), Compared: Amounts("300m", "192Mi"),
		Used: Amounts("30m", "60Mi"), Recommended: Amounts("75m", "96Mi"), AuthoredCost: new(0.0125), RecommendedCost: new(0.003125),
	})
	proxy.Baseline = &workloadresizerv1.RecommendedSize{
		Target: Amounts("25m", "32Mi"), Lower: Amounts("25m", "32Mi"), Upper: Amounts("40m", "64Mi"), UncappedTarget: Amounts("25m", "32Mi"),
		Used: Amounts("10m", "20Mi"), CpuConfidence: 0.958, MemoryConfidence: 0.958,
		CpuDecreaseMessage: "23h of CPU is known, and 24h are needed (minHistory)", MemoryDecreaseMessage: "no memory was measured",
	}
	proxy.NodeTypes = []*workloadresizerv1.SizeOnNodeType{{NodeType: "n2d", Pods: 3, Size: Amounts("25m", "32Mi")}}
	db := recommendation("shop", "StatefulSet", "db", "db", &workloadresizerv1.UsageSums{
		Pods: 3, UnknownPods: 1, Authored: Amounts("1500m", "24Gi"), Requested: Amounts("1500m", "24Gi"), Compared: Amounts("1", "16Gi"),
		Used: Amounts("1600m", "20Gi"), Recommended: Amounts("2", "25769803777"), AuthoredCost: new(0.25), RecommendedCost: new(0.5),
	})
	db.Rule, db.DemandFrom = "overrides[0] (databases)", "usage"
	db.Baseline = &workloadresizerv1.RecommendedSize{
		Target: Amounts("1", "12Gi"), Lower: Amounts("900m", "10Gi"), Upper: Amounts("1500m", "16Gi"), UncappedTarget: Amounts("1", "12Gi"),
		Used: Amounts("800m", "10Gi"), CpuConfidence: 8, MemoryConfidence: 8, CpuMayDecrease: true, MemoryMayDecrease: true,
		LeastRequests: Amounts("600m", ""), LeastLimits: Amounts("1200m", "14Gi"), PeakMemory: "12884901889",
	}
	db.NodeTypes = []*workloadresizerv1.SizeOnNodeType{{NodeType: "n2d", Pods: 2, Size: Amounts("1", "12884901889")}, {NodeType: "", Pods: 1}}
	cart := recommendation("shop", "StatefulSet", "cart", "cart", &workloadresizerv1.UsageSums{
		Pods: 2, UnknownPods: 2, Authored: Amounts("2", "2Gi"), Requested: Amounts("2", "2Gi"),
		Compared: Amounts("0", "0"), Used: Amounts("0", "0"), Recommended: Amounts("0", "0"), AuthoredCost: new(0.0), RecommendedCost: new(0.0),
	})
	cart.UnknownMessage = "when recommendations were last computed (every minute), no CPU had been measured\x1b[31m on a node whose type has a ratio"
	cart.NodeTypes = []*workloadresizerv1.SizeOnNodeType{{NodeType: "n4", Pods: 2}}
	return []*workloadresizerv1.Recommendation{web, proxy, cart, db}
}

// Savings returns one of each kind: a Deployment that requests less than its author wrote, a StatefulSet of unknown usage,
// one that requests more, and a pod that counts for no workload. The third has a pod of unknown usage, and resizes that hurt.
func Savings() []*workloadresizerv1.Savings {
	of := func(kind, name string) *workloadresizerv1.Workload {
		return &workloadresizerv1.Workload{Kind: kind, Name: name}
	}
	return []*workloadresizerv1.Savings{
		{Namespace: "default", Workload: of("Deployment", "web"), Pods: 3, Authored: Amounts("3300m", "6336Mi"), Requested: Amounts("2125m", "3Gi"), Saved: Amounts("1175m", "3264Mi"),
			Measured: Amounts("2125m", "3Gi"), Used: Amounts("442m", "1006632961"), AuthoredCost: new(0.1625), RequestedCost: new(0.09375), UsedCost: new(0.03125)},
		{Namespace: "shop", Workload: of("StatefulSet", "cart"), Pods: 2, UnknownPods: 2, Authored: Amounts("2", "2Gi"), Requested: Amounts("2", "2Gi"), Saved: Amounts("0", "0"),
			Measured: Amounts("0", "0"), Used: Amounts("0", "0"), AuthoredCost: new(0.125), RequestedCost: new(0.125), UsedCost: new(0.0)},
		{Namespace: "shop", Workload: of("StatefulSet", "db"), Pods: 3, UnknownPods: 1, Authored: Amounts("1500m", "24Gi"), Requested: Amounts("2500m", "34359738369"), Saved: Amounts("-1", "-8589934593"),
			Measured: Amounts("2", "24Gi"), Used: Amounts("1600m", "20Gi"), AuthoredCost: new(0.25), RequestedCost: new(0.5), UsedCost: new(0.375), Reverts: 2, OomKills: 1},
		{Namespace: "shop", Pods: 1, UnknownPods: 1, Authored: Amounts("100m", "128Mi"), Requested: Amounts("100m", "128Mi"), Saved: Amounts("0", "0"),
			Measured: Amounts("0", "0"), Used: Amounts("0", "0"), AuthoredCost: new(0.0078125), RequestedCost: new(0.0078125), UsedCost: new(0.0)},
	}
}

func explained() map[string][]*workloadresizerv1.ExplainedRecommendation {
	all := Recommendations()
	begin, last := timestamppb.New(Since.Add(-23*time.Hour)), timestamppb.New(Since)
	web := &workloadresizerv1.ExplainedRecommendation{
		Recommendation: all[0],
		Measured: []*workloadresizerv1.MeasuredNodeType{
			{NodeType: "n2d", CpuSpeed: new(1.0), MemorySpeed: new(1.0), FirstTime: begin, LastTime: last, Samples: 1380, Throttled: 0.034, Percentile: Amounts("230m", "270Mi")},
			{NodeType: "n4", CpuSpeed: new(1.25), MemorySpeed: new(1.0), FirstTime: begin, LastTime: last, Samples: 0, Percentile: Amounts("0", "272629777")},
			{NodeType: "t2d", FirstTime: begin, LastTime: last, Samples: 40, Percentile: Amounts("300m", "280Mi")},
		},
		Steps: []*workloadresizerv1.RecommendationStep{
			{Name: "estimate", Amounts: Amounts("230m", "260Mi"), Message: "percentile 0.9 of CPU and 0.9 of the peaks of memory"},
			{Name: "margin", Amounts: Amounts("264m", "299Mi"), Message: "15% is added"},
			{Name: "floor", Amounts: Amounts("264m", "299Mi"), Message: "at least 12m and 32Mi, the share of one of 2 containers in the floor of the pod"},
			{Name: "bounds", Amounts: Amounts("264m", "384Mi"), Message: "CPU: any amount; memory:\x1b[31m at least 384Mi"},
		},
	}
	proxy := &workloadresizerv1.ExplainedRecommendation{
		Recommendation: all[1],
		Measured:       []*workloadresizerv1.MeasuredNodeType{{NodeType: "n2d", CpuSpeed: new(1.0), MemorySpeed: new(1.0), Samples: 1380, FirstTime: begin, LastTime: last, Percentile: Amounts("12m", "20Mi")}},
		Steps:          []*workloadresizerv1.RecommendationStep{{Name: "floor", Amounts: Amounts("25m", "32Mi")}},
	}
	gone := Recommendations()[3]
	gone.Sums, gone.NodeTypes, gone.Workload.Name = &workloadresizerv1.UsageSums{}, nil, "gone"
	return map[string][]*workloadresizerv1.ExplainedRecommendation{
		"web": {web, proxy}, "cart": {{Recommendation: all[2]}}, "db": {{Recommendation: all[3]}}, "gone": {{Recommendation: gone}}, "empty": nil,
	}
}

// distributions returns what one container used on two node types, with more buckets of CPU
// than a terminal has lines.
func distributions() []*workloadresizerv1.NodeTypeHistory {
	n2d := &workloadresizerv1.NodeTypeHistory{
		NodeType: "n2d", FirstTime: timestamppb.New(Since.Add(-23 * time.Hour)), LastTime: timestamppb.New(Since), Samples: 1380,
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

// UsageSources returns sources of each kind: one without samples, one that fails, and one that is read
// for the first time; and storage with a ConfigMap that cannot be read.
func UsageSources() *workloadresizerv1.GetUsageStatusResponse {
	at := func(ago time.Duration) *timestamppb.Timestamp { return timestamppb.New(now().Add(-ago)) }
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

// RecommendationEvents returns the events of a watch: two exist, then one changes in its confidence only, then
// in what it needs, and is deleted.
func RecommendationEvents() []*workloadresizerv1.WatchRecommendationsResponse {
	confident, changed := Recommendations()[0], Recommendations()[0]
	confident.Baseline.CpuDecreaseMessage = "the same, a minute later"
	changed.Sums.Recommended = Amounts("900m", "1207959552")
	return []*workloadresizerv1.WatchRecommendationsResponse{
		{Type: addedEvent, Recommendation: Recommendations()[0]}, {Type: addedEvent, Recommendation: Recommendations()[2]}, {Type: bookmarkEvent, ResumeToken: "3"},
		{Type: modifiedEvent, Recommendation: confident, ResumeToken: "4"},
		{Type: modifiedEvent, Recommendation: changed, ResumeToken: "5"}, {Type: deletedEvent, Recommendation: changed, ResumeToken: "6"},
	}
}
