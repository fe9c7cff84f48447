package benchmark

import (
	"errors"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// told is what the store of ratios was told last.
type told struct {
	layer *ratios.Layer
	// problem is the text of the error, empty if there was none.
	problem string
}

func (p *Provider) reportTo(report func(ratios.Update)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report, p.told = report, told{}
}

// tell reports what has changed: the layer, and then what is wrong, which leaves
// the layer in force. What was published is the layer also where settings and
// samples cannot be read.
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

// problem is what is wrong with what the source consists of; what is only not
// read yet is no problem.
func (p *Provider) problem() error {
	sampled := p.samples.Err()
	if errors.Is(sampled, document.ErrUnread) {
		sampled = nil
	}
	return errors.Join(p.publishedErr, p.settingsErr, sampled)
}
