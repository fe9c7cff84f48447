package why

// Words are what people read of a reason: the end of a sentence about one workload and about many, and what they can do.
type Words struct{ One, Many, Do string }

// NotCounted are the words for each reason of package estimate. A test compares them.
var NotCounted = map[string]Words{
	"Pulls": {
		"takes its work from a queue, so that faster replicas do more of it", "take their work from a queue, so that faster replicas do more of it",
		"say with the key `work` in the configuration how much work each replica does",
	},
	"TooLittleCPU": {
		"uses too little cpu to compare", "use too little cpu to compare",
		"nothing: such workloads hardly depend on the ratio",
	},
	"TooFewHours": {
		"was compared for too few hours so far", "were compared for too few hours so far",
		"wait for about 3 days, and keep two replicas on each node type in one zone",
	},
	"ReplicasUnlike": {
		"has replicas that differ from each other on the same node type", "have replicas that differ from each other on the same node type",
		"nothing, if replicas have roles, such as a leader or shards; otherwise, balance requests instead of connections",
	},
	"NotConnected": {
		"runs on node types that nothing compares with the baseline", "run on node types that nothing compares with the baseline",
		"let it, or another workload on the same node types, also run on the baseline",
	},
	"SizesUnlike": {
		"has replicas of different sizes on the two node types", "have replicas of different sizes on the two node types",
		"let it, or about 8 other workloads, have the same size on both for about 3 days, or say with the key `work` in the configuration how much work each replica does",
	},
	"Throttled": {
		"is throttled by its cpu limits too often", "are throttled by their cpu limits too often",
		"raise or remove its cpu limits",
	},
	"LoadSteady": {
		"has a load that hardly changes, so that it does not show whether slower replicas get less of it",
		"have a load that hardly changes, so that they do not show whether slower replicas get less of it",
		"wait for about 3 days; if its load never changes, say with the key `work` in the configuration how much work each replica does",
	},
	"SameUsage": {
		"uses the same cpu on slow and on fast nodes, so that faster replicas probably do more work",
		"use the same cpu on slow and on fast nodes, so that faster replicas probably do more work",
		"say with the key `work` in the configuration how much work each replica does",
	},
	"SlopeFalls": {
		"gives faster replicas more work under load", "give faster replicas more work under load",
		"say with the key `work` in the configuration how much work each replica does, or give all replicas the same share, such as by round robin",
	},
	"SlopeRises": {
		"uses cpu for something other than its load, such as spinning", "use cpu for something other than their load, such as spinning",
		"nothing: such usage does not depend on the speed of the node",
	},
	"Odd": {
		"differs more from the others than those differ from each other", "differ more from the others than those differ from each other",
		"look at what it does there; if it is right, a rule can give it a ratio of its own",
	},
}
