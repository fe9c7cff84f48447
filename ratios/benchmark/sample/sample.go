package sample

import "time"

// SourceAgent is the source of samples that a node sent of itself; only the server
// says so.
const SourceAgent = "agent"

// AgentPrefix is what the names of the node agent's benchmarks begin with.
const AgentPrefix = "bench-node:"

// Sample is one measurement of one machine by one benchmark. Its JSON is the
// format "samples" of feeds, and how samples are kept.
type Sample struct {
	// ID identifies the measurement among those of the node type: one that is
	// known is not counted again. 1 to MaxIDBytes.
	ID string `json:"id"`
	// NodeType is what the machine is called by in ratios, e.g. "n4", without
	// its CPU model. Empty until it is known from InstanceType or the node.
	NodeType string `json:"nodeType,omitempty"`
	// InstanceType is what its cloud calls the machine, e.g. "n4-standard-8";
	// empty if that is not known.
	InstanceType string `json:"instanceType,omitempty"`
	// CPUModel is what the value of a label can be, e.g. "Intel-6-143" as of Node
	// Feature Discovery and the node agent, or what nodetype.ModelName makes of a
	// published name, e.g. "Platinum-8168"; empty if it is not known.
	CPUModel string `json:"cpuModel,omitempty"`
	// Benchmark is what was run, e.g. "coremark" or "bench-node:sha256".
	Benchmark string `json:"benchmark"`
	// Version is that of the benchmark, as far as it changes scores: those of
	// different versions are not compared. Empty if it is not known.
	Version string `json:"version,omitempty"`
	// Score is the throughput of all vCPUs together, or of one in a spot check;
	// finite and above 0, more is faster.
	Score float64 `json:"score"`
	// Unit is that of Score, for people, e.g. "MB/s".
	Unit string `json:"unit,omitempty"`
	// VCPUs is how many the machine has; at least 1.
	VCPUs int `json:"vcpus"`
	// Threads is how many ran; VCPUs, or 1 in a spot check.
	Threads int `json:"threads"`
	// SingleThread is the throughput of one thread alone; 0 if that was not
	// measured.
	SingleThread float64 `json:"singleThread,omitempty"`
	// Runs is how many runs Score sums up: those of a published result, or the
	// repetitions that the score of the node agent is made of; 0 and 1 are one.
	Runs int `json:"runs,omitempty"`
	// Machine tells machines apart: the name of a node, or which published
	// result it is.
	Machine string `json:"machine"`
	// Source is who says so: "agent", "import" or the name of a feed.
	Source string `json:"source,omitempty"`
	// Time is when it was measured.
	Time time.Time `json:"time"`
	// Spot tells a short check of one vCPU, which never decides.
	Spot bool `json:"spot,omitempty"`
}

// PerVCPU is the throughput per thread that ran.
func (s *Sample) PerVCPU() float64 { return s.Score / float64(s.Threads) }
