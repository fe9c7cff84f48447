package benchmark

import (
	"errors"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// told is the last report to the store of ratios.
type told struct {
	layer *ratios.Layer
	// problem is the text of the error; empty if there was none.
	problem string
}

func (p *Provider) reportTo(report func(ratios.Update)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report, p.told = report, told{}
}

// tell reports what has changed: first the layer, then the error, which leaves the layer in
// effect. The published ratios are the layer even if settings or samples cannot be read.
func (p *Provider) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.report == nil {
		return
	}
	now := told{layer: p.layer}
	problem := p.problem()
	if problem != nil {
		now.problem = problem.Error()
	}
	if now == p.told {
		return
	}
	if now.layer != nil && (now.layer != p.told.layer || problem == nil) {
		p.report(ratios.Update{Layer: now.layer})
	}
	if problem != nil {
		p.report(ratios.Update{Err: problem})
	}
	p.told = now
}

// problem returns the errors of the published ratios, the settings and the samples. Samples
// that have not been read yet are not an error.
func (p *Provider) problem() error {
	sampled := p.samples.Err()
	if errors.Is(sampled, document.ErrUnread) {
		sampled = nil
	}
	return errors.Join(p.publishedErr, p.settingsErr, sampled)
}
