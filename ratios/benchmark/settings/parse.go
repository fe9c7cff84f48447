package settings

import (
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
)

// Parse reads YAML such as
//
//	mode: observe
//	nodeTypes:
//	  n4: { mode: apply }
//	changes: { deadBand: 0.03 }
//	feeds:
//	- { name: coremark, format: cloud-csv, url: "https://example.com/coremark.csv", benchmark: coremark }
//
// Of an empty text it makes the Defaults. The error is a document.Faults with
// everything that is wrong, each with its path, or says why it is no YAML.
func Parse(text string) (Settings, error) {
	var content any
	if err := document.Decode(text, &content); err != nil {
		return Settings{}, err
	}
	s := Defaults()
	var r reader
	readKeys(&r, "", content, keys, &s)
	s.check(&r)
	// What still counts is kept.
	s.Limits.MaxAge = max(s.Limits.MaxAge, s.Estimate.MaxAge)
	if len(r.faults) > 0 {
		return Settings{}, r.faults
	}
	return s, nil
}

// check adds what does not fit together.
func (s *Settings) check(r *reader) {
	confirming := s.Pace.Window * time.Duration(s.Pace.Windows)
	if s.Estimate.MaxAge < confirming {
		r.add("aggregation.maxAge", "%s is less than the %s that changes.windows take: no change could be confirmed",
			durationText(s.Estimate.MaxAge), durationText(confirming))
	}
	for i, f := range s.Feeds {
		// Rows without a time of their own are as of when they were read last.
		if least := 2 * max(fetch.Freshness, f.Interval); s.Estimate.MaxAge < least {
			r.add("aggregation.maxAge", "%s is less than %s: what feeds[%d] says could stop to count before it is read anew",
				durationText(s.Estimate.MaxAge), durationText(least), i)
		}
	}
	if _, all := s.Estimate.Weights["*"]; all && slices.Max(slices.Collect(maps.Values(s.Estimate.Weights))) == 0 {
		r.add("weights", "none is above 0: no benchmark would count")
	}
}
