package production

import "github.com/workload-resizer/workload-resizer/ratios"

// Assume returns the ratios of this source in the end, if ratios followed what is suggested now, or did not.
func (j *Judge) Assume(applies bool) ratios.Assumed {
	now, _ := j.config.Provider.current()
	if now.Baseline != "" {
		at := j.config.Clock.Now()
		now.Published = j.judgment(&now, applies && j.config.Evidence != nil, at).Settled(now.Published, at)
	}
	return ratios.Assumed{Source: Source, Layer: now.layer()}
}
