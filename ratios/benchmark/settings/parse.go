package settings

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/internal/reader"
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
		s.check(&r)
	}
	for i := range s.Feeds {
		s.Feeds[i].MaxAge = s.Estimate.MaxAgePublished
	}
	if len(r.Faults) > 0 {
		return Settings{}, r.Faults
	}
	return s, nil
}

// check adds faults between values.
func (s *Settings) check(f *reader.Reader) {
	if _, all := s.Estimate.Weights["*"]; all && slices.Max(slices.Collect(maps.Values(s.Estimate.Weights))) == 0 {
		f.Fault("weights", "none is above 0, so no benchmark would count")
	}
}
