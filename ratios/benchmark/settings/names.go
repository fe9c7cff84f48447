package settings

import (
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// nodeTypeProblem is what is wrong with the name of a node type, or of one CPU
// model of it; empty if it is fine.
func nodeTypeProblem(name string) string {
	if name == "" {
		return "a node type needs a name"
	}
	if problems := nodetype.NameProblems(name); len(problems) > 0 {
		return "no node can have it: " + strings.Join(problems, ", ")
	}
	return ""
}

// benchmarkProblems are what is wrong with the name of a benchmark.
func benchmarkProblems(name string) []string {
	var problems []string
	for _, fault := range (&sample.Sample{Benchmark: name}).Validate(time.Time{}) {
		if fault.Field == "benchmark" {
			problems = append(problems, fault.Reason)
		}
	}
	return problems
}

// patternProblem is the same of a name that may end in *.
func patternProblem(pattern string) string {
	// A prefix can end in what a name cannot, such as a colon.
	name, isPrefix := strings.CutSuffix(pattern, "*")
	if isPrefix {
		name += "x"
	}
	return strings.Join(benchmarkProblems(name), ", ")
}
