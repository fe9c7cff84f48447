package sample

import (
	"strings"
	"time"
)

// SourceAgent is the source of samples that a node agent sent about its own node. Only the
// server sets it. SourceImport is the source of other samples that are sent and name none. No feed
// may have these names.
const SourceAgent, SourceImport = "agent", "import"

// AgentPrefix is the prefix of the names of the node agent's benchmarks.
const AgentPrefix = "bench-node:"

// Sample is one measurement of one machine with one benchmark. Its JSON is the format "samples"
// of feeds, and a format in which samples are stored.
type Sample struct {
	// ID identifies the measurement within its node type: a known ID is not
	// counted again. It has 1 to MaxIDBytes bytes.
	ID string `json:"id"`
	// NodeType is the machine's node type in ratios, e.g. "n4", without its CPU
	// model. Empty until it is known from InstanceType or the node.
	NodeType string `json:"nodeType,omitempty"`
	// InstanceType is the cloud's name for the machine, e.g. "n4-standard-8";
	// empty if it is not known.
	InstanceType string `json:"instanceType,omitempty"`
	// CPUModel is a valid label value: a model from Node Feature Discovery or the
	// node agent, e.g. "Intel-6-143", or a published name after
	// nodetype.ModelName, e.g. "Platinum-8168". Empty if it is not known.
	CPUModel string `json:"cpuModel,omitempty"`
	// Benchmark is the name of the benchmark, e.g. "coremark" or
	// "bench-node:json".
	Benchmark string `json:"benchmark"`
	// Version is the version of the benchmark, if it affects scores: scores of
	// different versions are not compared. Empty if it is not known.
	Version string `json:"version,omitempty"`
	// Score is the throughput of all vCPUs together, or of one in a spot check.
	// It is finite and above 0; higher is faster.
	Score float64 `json:"score"`
	// Unit is the unit of Score, e.g. "MB/s". It is only shown.
	Unit string `json:"unit,omitempty"`
	// VCPUs is the number of vCPUs of the machine; at least 1.
	VCPUs int `json:"vcpus"`
	// ThreadsPerCore is the number of vCPUs that share a core; 0 if it is not known.
	ThreadsPerCore int `json:"threadsPerCore,omitempty"`
	// Threads is the number of threads that ran: VCPUs, or 1 in a spot check.
	Threads int `json:"threads"`
	// SingleThread is the throughput of a single thread; 0 if it was not
	// measured.
	SingleThread float64 `json:"singleThread,omitempty"`
	// Runs is the number of runs that Score summarizes: the runs of a published
	// result, or the repetitions of the node agent. 0 means one run.
	Runs int `json:"runs,omitempty"`
	// OtherLoad is the share of the vCPUs' time that other processes used during the
	// measurement; 0 if there was none, or if it is not known.
	OtherLoad float64 `json:"otherLoad,omitempty"`
	// Machine identifies the machine: the name of a node, or a published result.
	Machine string `json:"machine"`
	// Source is where the sample comes from: "agent", "import" or the name of a
	// feed.
	Source string `json:"source,omitempty"`
	// Time is when it was measured.
	Time time.Time `json:"time"`
	// Spot marks a short check of one vCPU, which never affects ratios.
	Spot bool `json:"spot,omitempty"`
}

// IsOwn reports whether a node agent measured it, rather than a publisher.
func (s *Sample) IsOwn() bool { return strings.HasPrefix(s.Benchmark, AgentPrefix) }

// PerVCPU returns the throughput per thread.
func (s *Sample) PerVCPU() float64 { return s.Score / float64(s.Threads) }
