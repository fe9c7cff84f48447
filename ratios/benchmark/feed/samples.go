package feed

import (
	"bufio"

	strictjson "sigs.k8s.io/json"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// readSamples reads samples: one JSON object per line, without unknown keys.
func readSamples(in *bufio.Reader, c *collector) error {
	return lines(in, func(row rawRow) error {
		s, fault := c.sample(row)
		c.add(row.line, s, fault, nil)
		return nil
	})
}

func (c *collector) sample(row rawRow) (*sample.Sample, *Fault) {
	if row.fault != nil {
		return nil, row.fault
	}
	var s sample.Sample
	doubts, err := strictjson.UnmarshalStrict(row.text, &s)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(doubts) > 0:
		return nil, doubtful(doubts[0])
	case !c.wants(s.Benchmark):
		return nil, skip(NotSelected)
	}
	s.Time = s.Time.UTC()
	return &s, nil
}
