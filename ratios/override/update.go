package override

import (
	"context"
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Request is what all changes have in common.
type Request struct {
	// Author and Reason are for the history.
	Author, Reason string
	// Check is asked whether the layer may become so, before anything is
	// written, and may be asked again about another; its error is that of the
	// change. Nil allows everything.
	Check func(*ratios.Layer) error
	// ValidateOnly does everything but the write.
	ValidateOnly bool
}

// Patch says what changes of the override of one node type.
type Patch struct {
	NodeType string
	// Etag must be that of the present state, unless it is empty.
	Etag string
	// CPUPerf and MemoryPerf leave what they are if they are nil; so does
	// ExpireTime, of which zero is no end.
	CPUPerf, MemoryPerf *float64
	ExpireTime          *time.Time
	// AllowMissing makes it no error that nobody knows the node type. Both
	// performances must be set then.
	AllowMissing bool
	// Default says what others know of a node type, which is what is left where
	// there is no override. It is asked as often as the change is tried, together
	// with what is stored then. Nil knows nothing.
	Default func(nodeType string) (ratios.Ratio, bool)
}

// Update changes the overrides of node types, all or none, and returns the change
// as the history has it, nil if there is nothing to change. It is in force here
// when Update returns. The error may be an *EtagError, *UnknownError,
// *FieldError, *FullError, *document.MissingError, *document.ContentError, *document.RefusedError,
// ErrReadOnly, or that of Check.
func (s *Store) Update(ctx context.Context, patches []Patch, r Request) (*Change, error) {
	return s.change(ctx, r, func(c content, from ratios.Provenance) (map[string]ratios.Ratio, error) {
		next := maps.Clone(c.overrides)
		for _, p := range patches {
			if err := checkEtag(c, p.NodeType, p.Etag); err != nil {
				return nil, err
			}
			patched, err := p.apply(next, from)
			if err != nil {
				return nil, err
			}
			next[p.NodeType] = patched
		}
		return next, nil
	})
}

// apply returns the override with the patch.
func (p *Patch) apply(overrides map[string]ratios.Ratio, from ratios.Provenance) (ratios.Ratio, error) {
	patched, err := p.start(overrides)
	if err != nil {
		return ratios.Ratio{}, err
	}
	patched.Provenance = from
	for _, set := range []struct {
		from *float64
		into *float64
	}{{p.CPUPerf, &patched.CPUPerf}, {p.MemoryPerf, &patched.MemoryPerf}} {
		if set.from != nil {
			*set.into = *set.from
		}
	}
	if p.ExpireTime != nil {
		patched.ExpireTime = p.ExpireTime.UTC().Truncate(time.Second)
	}
	if hasExpired(patched.ExpireTime, from.UpdateTime) {
		return ratios.Ratio{}, &FieldError{p.NodeType, "expireTime", "must be in the future"}
	}
	if wrong := faults(p.NodeType, patched); len(wrong) > 0 {
		return ratios.Ratio{}, wrong[0]
	}
	return patched, nil
}

// start is what the patch starts from: the override, or what others know. What it
// does not set has to be there.
func (p *Patch) start(overrides map[string]ratios.Ratio) (ratios.Ratio, error) {
	if override, ok := overrides[p.NodeType]; ok {
		return override, nil
	}
	if p.Default != nil {
		if known, ok := p.Default(p.NodeType); ok {
			return ratios.Ratio{CPUPerf: known.CPUPerf, MemoryPerf: known.MemoryPerf}, nil
		}
	}
	const lacking = "must be set: nothing is known of this node type"
	switch {
	case !p.AllowMissing:
		return ratios.Ratio{}, &UnknownError{p.NodeType}
	case p.CPUPerf == nil:
		return ratios.Ratio{}, &FieldError{p.NodeType, "cpuPerf", lacking}
	case p.MemoryPerf == nil:
		return ratios.Ratio{}, &FieldError{p.NodeType, "memPerf", lacking}
	}
	return ratios.Ratio{}, nil
}

// Deletion says which override to delete.
type Deletion struct {
	NodeType string
	// Etag must be that of the present state, unless it is empty.
	Etag string
	// AllowMissing makes it no error that there is no override.
	AllowMissing bool
}

// Delete deletes an override. The results are those of Update; the error may be a
// *NoOverrideError, too.
func (s *Store) Delete(ctx context.Context, d Deletion, r Request) (*Change, error) {
	return s.change(ctx, r, func(c content, _ ratios.Provenance) (map[string]ratios.Ratio, error) {
		if _, ok := c.overrides[d.NodeType]; !ok {
			if !d.AllowMissing {
				return nil, &NoOverrideError{d.NodeType}
			}
			return c.overrides, nil
		}
		if err := checkEtag(c, d.NodeType, d.Etag); err != nil {
			return nil, err
		}
		next := maps.Clone(c.overrides)
		delete(next, d.NodeType)
		return next, nil
	})
}

func checkEtag(c content, nodeType, etag string) error {
	var present *ratios.Ratio
	if r, ok := c.overrides[nodeType]; ok {
		present = &r
	}
	if now := Etag(nodeType, present); etag != "" && etag != now {
		return &EtagError{nodeType, now}
	}
	return nil
}
