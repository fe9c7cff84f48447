package benchmark

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// Published returns the published state in effect; it is empty until it is read.
func (p *Provider) Published() measured.Published {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.published
}

// JudgedBefore returns the end of the last window in which a node type was judged that is no
// longer published; zero if this replica knows of none.
func (p *Provider) JudgedBefore(nodeType string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended[nodeType]
}

// Publish changes the published state. The function gets the current state, and returns the new
// state and whether it differs. It may be called more than once. The error is the error of
// document.Update; with ReadOnly, nothing is written and the error is nil.
func (p *Provider) Publish(ctx context.Context, change func(measured.Published) (measured.Published, bool)) error {
	if p.config.ReadOnly {
		if next, changed := change(p.Published()); changed {
			p.accept(ctx, next)
		}
		return nil
	}
	return p.document.Update(ctx, document.Turn{}, func(now measured.Published, _ map[string]string) (map[string]string, error) {
		next, changed := change(now)
		if !changed {
			return nil, nil
		}
		return measured.Format(next)
	})
}

// accept puts the content of the ConfigMap into effect.
func (p *Provider) accept(_ context.Context, now measured.Published) document.InForce {
	p.mu.Lock()
	p.ended.Note(p.published, now)
	p.published, p.publishedErr, p.layer = now, nil, now.Layer(Source, "benchmarks")
	p.mu.Unlock()
	p.tell()
	return document.InForce{Count: len(now.NodeTypes)}
}

// reject records an error; the published state stays in effect.
func (p *Provider) reject(_ context.Context, err error) {
	p.mu.Lock()
	p.publishedErr = err
	p.mu.Unlock()
	p.tell()
}

// parsePublished reads the data of the ConfigMap.
func parsePublished(data map[string]string) (measured.Published, error) {
	var p measured.Published
	if err := measured.Parse(data, &p); err != nil {
		return measured.Published{}, err
	}
	return p, p.Check().Err()
}
