package settings

import (
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
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
// For empty text, it returns the Defaults. The error is a reader.Faults with everything
// that is wrong.
func Parse(text string) (Settings, error) {
	s := Defaults()
	var r reader.Reader
	content, ok := r.Read([]byte(text))
	if ok {
		readKeys(content, keys, &s)
		s.check(&r.Faults)
	}
	// Samples that still count must be kept.
	s.Limits.MaxAge = max(s.Limits.MaxAge, s.Estimate.MaxAgePublished, s.Estimate.MaxAgeMeasured)
	for i := range s.Feeds {
		s.Feeds[i].MaxAge = s.Estimate.MaxAgePublished
	}
	if len(r.Faults) > 0 {
		return Settings{}, r.Faults
	}
	return s, nil
}

// check adds faults between values.
func (s *Settings) check(f *reader.Faults) {
	confirming := s.Pace.Window * time.Duration(s.Pace.Windows)
	for _, of := range []struct {
		key string
		age time.Duration
	}{{"aggregation.maxAgePublished", s.Estimate.MaxAgePublished}, {"aggregation.maxAgeMeasured", s.Estimate.MaxAgeMeasured}} {
		if of.age < confirming {
			f.Add(of.key, "%s is shorter than the %s that changes.windows take, so no change could be confirmed",
				durationText(of.age), durationText(confirming))
		}
	}
	for i, feed := range s.Feeds {
		// Rows without their own time count as of when they were last read.
		if least := 2 * max(fetch.Freshness, feed.Interval); s.Estimate.MaxAgePublished < least {
			f.Add("aggregation.maxAgePublished", "%s is shorter than %s: samples of feeds[%d] could expire before they are read again",
				durationText(s.Estimate.MaxAgePublished), durationText(least), i)
		}
	}
	if _, all := s.Estimate.Weights["*"]; all && slices.Max(slices.Collect(maps.Values(s.Estimate.Weights))) == 0 {
		f.Add("weights", "none is above 0, so no benchmark would count")
	}
}
