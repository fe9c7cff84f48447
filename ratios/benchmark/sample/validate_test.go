package sample

import (
	"math"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// good returns a valid sample.
func good() Sample {
	return Sample{
		ID: "a", NodeType: "n4", InstanceType: "n4-standard-8", CPUModel: "Intel-6-207", Benchmark: "bench-node:memory-latency", Version: "1-go1.26.7",
		Score: 177656, Unit: "M/s", VCPUs: 8, Threads: 8, SingleThread: 40000, Runs: 140, Machine: "node-1", Source: "agent", Time: now,
	}
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(*Sample)
		// want is a fault; empty if there is none.
		want string
	}{
		{"all fields are valid", func(*Sample) {}, ""},
		{"optional fields are missing", func(s *Sample) {
			*s = Sample{ID: "a", InstanceType: "x", Benchmark: "b", Score: 1, VCPUs: 1, Threads: 1, Machine: "m", Time: now}
		}, ""},
		{"a spot check has one thread", func(s *Sample) { s.Spot, s.Threads = true, 1 }, ""},
		{"a clock may be slightly ahead", func(s *Sample) { s.Time = now.Add(5 * time.Minute) }, ""},
		{"names of benchmarks may contain spaces", func(s *Sample) { s.Benchmark = "openssl algo:AES-256-CBC block_size:16384" }, ""},
		{"an ID is required", func(s *Sample) { s.ID = "" }, "id must be set"},
		{"an ID is short", func(s *Sample) { s.ID = strings.Repeat("a", 129) }, "id must have at most 128 bytes, not 129"},
		{"texts are printable", func(s *Sample) { s.Unit = "MB\n/s" }, "unit must be printable text"},
		{"texts are UTF-8", func(s *Sample) { s.Machine = "a\xff" }, "machine must be printable text"},
		{"a machine is required", func(s *Sample) { s.Machine = "" }, "machine must be set"},
		{"a node type or an instance type is required", func(s *Sample) { s.NodeType, s.InstanceType = "", "" }, "nodeType or instanceType must be set"},
		{"a node type has no CPU model in its name", func(s *Sample) { s.NodeType = "n4@Intel-6-207" }, `nodeType must be up to 63 letters, digits, -, _ and ., beginning and ending with a letter or digit, not "n4@Intel-6-207"`},
		{"a node type is at most as long as a label value", func(s *Sample) { s.NodeType = strings.Repeat("n", 64) }, "nodeType must be up to 63 letters"},
		{"a CPU model is a label value", func(s *Sample) { s.CPUModel = "AMD EPYC 7B13" }, "cpuModel must be up to 63 letters"},
		{"a benchmark is required", func(s *Sample) { s.Benchmark = "" }, "benchmark must be set"},
		{"the name of a benchmark does not end in a space", func(s *Sample) { s.Benchmark = "coremark " }, "benchmark must be up to 128 letters"},
		{"a score is above 0", func(s *Sample) { s.Score = 0 }, "score must be a number above 0, not 0"},
		{"a score is not NaN", func(s *Sample) { s.Score = math.NaN() }, "score must be a number above 0, not NaN"},
		{"a score is finite", func(s *Sample) { s.Score = math.Inf(1) }, "score must be a number above 0, not +Inf"},
		{"a single-thread score is above 0", func(s *Sample) { s.SingleThread = -1 }, "singleThread must be a number above 0, or absent, not -1"},
		{"a machine has vCPUs", func(s *Sample) { s.VCPUs, s.Threads = 0, 0 }, "vcpus must be 1 to 4096, not 0"},
		{"a machine has a plausible number of vCPUs", func(s *Sample) { s.VCPUs, s.Threads = 4097, 4097 }, "vcpus must be 1 to 4096, not 4097"},
		{"all vCPUs have run", func(s *Sample) { s.Threads = 4 }, "threads must be vcpus (8), not 4: only runs on all vCPUs are compared"},
		{"a spot check ran on one vCPU", func(s *Sample) { s.Spot = true }, "threads must be 1 in a spot check, not 8"},
		{"runs are not negative", func(s *Sample) { s.Runs = -1 }, "runs must be 0 to 1000000, not -1"},
		{"others' load is at most 1", func(s *Sample) { s.OtherLoad = 1.01 }, "otherLoad must be 0 to 1, not 1.01"},
		{"others' load is not NaN", func(s *Sample) { s.OtherLoad = math.NaN() }, "otherLoad must be 0 to 1, not NaN"},
		{"a time is required", func(s *Sample) { s.Time = time.Time{} }, "time must be set"},
		{"a measurement is not in the future", func(s *Sample) { s.Time = now.Add(6 * time.Minute) }, "time must not be in the future, but is 2026-11-21T01:08:03Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := good()
			tc.damage(&s)
			faults := s.Validate(now)
			switch {
			case tc.want == "" && len(faults) > 0:
				t.Errorf("got %v", faults)
			case tc.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), tc.want)):
				t.Errorf("got %v, want %s", faults, tc.want)
			}
		})
	}
}

func TestValidateRules(t *testing.T) {
	t.Run("returns all faults", returnsAllFaults)
	t.Run("PerVCPU divides by the number of threads", perVCPUDividesByTheNumberOfThreads)
}

func returnsAllFaults(t *testing.T) {
	var got []string
	for _, f := range (&Sample{}).Validate(now) {
		got = append(got, f.Field)
	}
	if want := "id machine nodeType benchmark score vcpus time"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func perVCPUDividesByTheNumberOfThreads(t *testing.T) {
	s := good()
	if got := s.PerVCPU(); got != 22207 {
		t.Errorf("got %v", got)
	}
	s.Spot, s.Threads = true, 1
	if got := s.PerVCPU(); got != 177656 {
		t.Errorf("spot check: got %v", got)
	}
}
