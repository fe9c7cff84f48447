package estimate

// Reason is why a workload does not count.
type Reason string

const (
	// Pulls means that it is known to pull work. Faster replicas then do more of it, and use as much CPU.
	Pulls Reason = "Pulls"
	// TooLittleCPU means that its replicas use so little CPU that usage, which is counted in whole millicores, is not exact, and
	// anybody could afford many of them.
	TooLittleCPU Reason = "TooLittleCPU"
	// TooFewHours means that its types were compared for too few hours. After about a day, it counts for a preliminary ratio, as long as too few
	// workloads count in full.
	TooFewHours Reason = "TooFewHours"
	// ReplicasUnlike means that its replicas differ by more than those of other workloads: leaders, shards
	// or long-lived connections.
	ReplicasUnlike Reason = "ReplicasUnlike"
	// NotConnected means that no workload that counts compares its types with the baseline, even through others.
	NotConnected Reason = "NotConnected"
	// SizesUnlike means that the replicas on the types had the same size for too few hours, and those with larger ones do
	// more of the work, or neither this workload nor others show whether they do. Then it counts for a ratio that is only shown.
	SizesUnlike Reason = "SizesUnlike"
	// Throttled means that limits throttled replicas in many hours: in those that remain, slow replicas happened to have
	// little work.
	Throttled Reason = "Throttled"
	// LoadSteady means that its load varied on too few days, so that nothing shows whether slower replicas get less of it. In the first days, it
	// counts for a preliminary ratio, as long as too few workloads count in full.
	LoadSteady Reason = "LoadSteady"
	// SameUsage means that its replicas use the same CPU on types that differ for other workloads: they
	// pull work, or their load balancer gives faster ones more.
	SameUsage Reason = "SameUsage"
	// SlopeFalls means that its types differ less under more load: its load balancer then gives faster replicas more.
	SlopeFalls Reason = "SlopeFalls"
	// SlopeRises means that its types differ more under more load: some of its CPU usage is not for work.
	SlopeRises Reason = "SlopeRises"
	// Odd means that it differs from the other workloads by more than they do from each other.
	Odd Reason = "Odd"
)
