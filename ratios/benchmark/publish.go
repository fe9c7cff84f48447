package benchmark

import (
	"context"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// Published is what is in force; nothing until it was read.
func (p *Provider) Published() Published {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.published
}

// JudgedBefore is the end of the window by which a node type was judged last that is
// not published any more; zero if this replica knows of none.
func (p *Provider) JudgedBefore(nodeType string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended[nodeType]
}

// Publish has what is published changed: change is told what that is, and tells what
// it becomes and whether that is another. It may be called more than once. The error
// is that of document.Update; with ReadOnly there is none, and nothing is written.
func (p *Provider) Publish(ctx context.Context, change func(Published) (Published, bool)) error {
	if p.config.ReadOnly {
		if next, changed := change(p.Published()); changed {
			p.accept(ctx, next)
		}
		return nil
	}
	return p.document.Update(ctx, false, func(now Published, _ map[string]string) (map[string]string, error) {
		next, changed := change(now)
		if !changed {
			return nil, nil
		}
		return next.format()
	})
}

// accept puts in force what the ConfigMap says.
func (p *Provider) accept(_ context.Context, now Published) document.InForce {
	p.mu.Lock()
	for name, e := range p.published.NodeTypes {
		if _, still := now.NodeTypes[name]; !still {
			p.ended[name] = e.Judged
		}
	}
	p.published, p.publishedErr, p.layer = now, nil, now.layer()
	p.mu.Unlock()
	p.tell()
	return document.InForce{Count: len(now.NodeTypes)}
}

// reject leaves what was published in force.
func (p *Provider) reject(_ context.Context, err error) {
	p.mu.Lock()
	p.publishedErr = err
	p.mu.Unlock()
	p.tell()
}
