package feed

import (
	"cmp"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// collector counts rows and keeps what they say.
type collector struct {
	options Options
	result  Result
}

// wants tells whether a benchmark is to be read.
func (c *collector) wants(benchmark string) bool {
	return c.options.Benchmark == "" || c.options.Benchmark == benchmark
}

// add counts a row that is bad, or is a sample, or says nothing of a node's speed
// if it is neither. Names are what the fields of a sample are called in the format,
// where that is something else.
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
		// These may be parts of the row, which is not to be kept in memory.
		for _, part := range []*string{&s.InstanceType, &s.CPUModel, &s.Benchmark, &s.Version} {
			*part = strings.Clone(*part)
		}
		c.result.Samples, c.result.Lines = append(c.result.Samples, *s), append(c.result.Lines, line)
	}
}
