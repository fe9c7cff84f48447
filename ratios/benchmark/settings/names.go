package settings

import (
	"cmp"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// nodeTypeProblem returns what is wrong with the name of a node type, or of one CPU model of a
// node type; empty if it is valid.
func nodeTypeProblem(name string) string {
	if name == "" {
		return "the name of a node type must not be empty"
	}
	if problems := nodetype.NameProblems(name); len(problems) > 0 {
		return "not a valid node type: " + strings.Join(problems, ", ")
	}
	return ""
}

// benchmarkProblems returns what is wrong with the name of a benchmark.
func benchmarkProblems(name string) []string {
	return sampleProblems(sample.Sample{Benchmark: name}, "benchmark")
}

// instanceTypeProblems returns what is wrong with the name of an instance type, or with its node
// type.
func instanceTypeProblems(name string) []string {
	if problems := sampleProblems(sample.Sample{InstanceType: name}, "instanceType"); len(problems) > 0 {
		return problems
	}
	if err := sample.CheckNodeType(cmp.Or(nodetype.Family(name), name)); err != nil {
		return []string{"the node type " + err.Error()}
	}
	return nil
}

// sampleProblems returns what is wrong with a field of a sample: samples could not have the value.
func sampleProblems(s sample.Sample, field string) []string {
	var problems []string
	for _, fault := range s.Validate(time.Time{}) {
		if fault.Field == field {
			problems = append(problems, fault.Reason)
		}
	}
	return problems
}

// patternProblem returns what is wrong with the name of a benchmark that may end in *.
func patternProblem(pattern string) string {
	// A prefix can end in characters that a name cannot end in, such as a colon.
	name, isPrefix := strings.CutSuffix(pattern, "*")
	if isPrefix {
		name += "x"
	}
	return strings.Join(benchmarkProblems(name), ", ")
}
