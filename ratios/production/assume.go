package production

import (
	"errors"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Assume returns the ratios of this source in the end, if ratios followed what is suggested now, or did not. It returns an error while
// suggestions have not been read.
func (j *Judge) Assume(applies bool) (ratios.Assumed, error) {
	now, read := j.config.Provider.current()
	if !read {
		return ratios.Assumed{}, errors.New("the stored ratios of source production have not been read: see the ratio sources in the status")
	}
	if now.Baseline != "" {
		at := j.config.Clock.Now()
		now.Published = j.judgment(&now, applies && j.config.Evidence != nil, at).Settled(now.Published, at)
	}
	return ratios.Assumed{Source: Source, Layer: now.layer()}, nil
}
