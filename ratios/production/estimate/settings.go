package estimate

import "github.com/workload-resizer/workload-resizer/ratios/production/evidence"

// Settings define which estimates are trustworthy.
type Settings struct {
	// Confidence is the confidence level of the intervals.
	Confidence float64
	// Tolerance is the maximum half-width of the interval for this cluster, as a fraction of the ratio.
	Tolerance float64
	// MinNodes is the minimum number of nodes of the type and of the baseline that were compared, and MinWorkloads of workloads
	// that count and run on the type.
	MinNodes, MinWorkloads int
	// MinCPU is the minimum mean usage of the replicas of a workload in cores, and MinCores the minimum share of the cores that
	// are known on a type which workloads that count must hold.
	MinCPU, MinCores float64
	// MinHours is the minimum weight of the hours of a workload that count. A move to another type counts as half a day.
	MinHours float64
	// FirstHours is the same for ratios that are only shown, until enough workloads have MinHours and MinDays.
	FirstHours float64
	// MinDays is the minimum weight of days whose load varied. Days weigh less as they age: the last three weigh 2.93.
	MinDays float64
	// MaxThrottled is the maximum share of hours in which replicas of a workload are throttled.
	MaxThrottled float64
	// Between is how much workloads differ, and Nodes how much the nodes of a type differ, as fractions, where too few
	// were measured to tell. They count as much as BetweenWeight and NodesWeight degrees of freedom.
	Between, BetweenWeight, Nodes, NodesWeight float64
	// MaxModelSpread is the maximum factor between CPU models of a type in a zone, and between the ratios of zones, that is certain.
	MaxModelSpread float64
}

// Defaults returns settings that are suitable for clouds.
func Defaults() Settings {
	return Settings{
		Confidence: 0.95, Tolerance: 0.03, MinNodes: 3, MinWorkloads: 5, MinCPU: evidence.LeastCPU, MinCores: 0.5, MinHours: 24, FirstHours: 12, MinDays: 2.9, MaxThrottled: 0.1,
		Between: 0.08, BetweenWeight: 4, Nodes: 0.03, NodesWeight: 8, MaxModelSpread: 1.1,
	}
}
