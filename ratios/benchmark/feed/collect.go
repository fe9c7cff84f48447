package feed

import (
	"cmp"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// collector counts rows and collects their samples.
type collector struct {
	options Options
	result  Result
}

// wants reports whether a benchmark must be read.
func (c *collector) wants(benchmark string) bool {
	return c.options.Benchmark == "" || c.options.Benchmark == benchmark
}

// add counts a row. The row is invalid, or is a sample, or else does not describe a node's
// speed. names maps the fields of a sample to their names in the format, where these differ.
func (c *collector) add(line int, s *sample.Sample, fault *Fault, names map[string]string) {
	if s != nil && fault == nil {
		s.Source = cmp.Or(s.Source, c.options.Source)
		if faults := s.Validate(c.options.Now); len(faults) > 0 {
			f := faults[0]
			fault = &Fault{Field: cmp.Or(names[f.Field], f.Field), Reason: f.Reason}
		}
	}
	c.result.Rows++
	switch {
	case fault != nil:
		c.result.Bad++
		if len(c.result.Faults) < MaxFaults {
			c.result.Faults = append(c.result.Faults, Fault{Line: line, Field: fault.Field, Reason: fault.Reason})
		}
	case s == nil:
		c.result.Skipped++
	default:
		// These may be substrings of the row, which must not stay in memory.
		for _, part := range []*string{&s.InstanceType, &s.CPUModel, &s.Benchmark, &s.Version} {
			*part = strings.Clone(*part)
		}
		c.result.Samples, c.result.Lines = append(c.result.Samples, *s), append(c.result.Lines, line)
	}
}
